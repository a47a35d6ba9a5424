"""The laws that the answer to any request obeys, whatever users and other programs wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import wire
from function.core import Manifest, Request, Result, dig_fields, plain, restate, visible
from function.publish import xrd
from function.publish.catalog import BY_KIND, Kind
from function.sandbox import remote as protocol
from function.sandbox.errors import Fatal
from function.sandbox.settle import settle
from function.schema import Problem, problems
from function.server.runner import Runner
from tests.fuzz.attempts import Attempt, applied
from tests.support import foreign
from tests.support.admission import is_admitted
from tests.support.cases import answer
from tests.support.rendered import remote

_RUNNER = Runner(workers=1)
_GUARDS = frozenset({"Usage", "ClusterUsage"})
"""They come and go as if nothing were wrong with the spec (tests/test_laws.py)."""
_PATH = "(" + "|".join(re.escape(start) for start in ("observed.", "required_resources[", "desired:", "context:")) + ")"
_NAMED = re.compile(rf"{_PATH}|not a RunFunctionRequest")
_LONGEST_MESSAGE = 32_768
"""Characters of a condition's message (Kubernetes v1.34, meta/v1 Condition)."""
_LONGEST_EVENT = 1024
"""Characters of an event's note (Kubernetes v1.34, events/v1 Event)."""
_ACTING = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that control a terminal, or the direction of a text."""
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_KEY = re.compile(rf"({_SUBDOMAIN.pattern}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?")
_NAME, _LABEL = 253, 63
_ANNOTATIONS = 256 * 1024
"""Bytes of all annotations of an object (Kubernetes v1.34, apimachinery, api/validation)."""


def faults(attempt: Attempt) -> list[str]:
    """What is wrong with the answer to an attempt: nothing, if the function is as it should be."""
    request, objects = applied(attempt)
    try:
        result = settle(_through_the_door, request, objects)
    except wire.MalformedRequest as refused:
        return [] if is_placed(refused) else [f"refused without naming a place: {refused}"]
    except Fatal as fatal:
        return [f"fatal: {fatal}"]
    return [
        *spoken(result),
        *asked(result),
        *_lost(attempt, request, result),
        *_named(attempt, request, result),
        *_status(attempt, request, result),
        *_refused_by_servers(attempt, request, result),
    ]


def faults_of_bytes(data: bytes) -> list[str]:
    """What is wrong with the answer to any bytes: they are refused with a place, or answered lawfully."""
    wire.peek(data)
    try:
        response = fnv1.RunFunctionResponse.FromString(_RUNNER.answer(data))
    except wire.MalformedRequest as refused:
        return list(_refusal(refused))
    fatal = [r.message for r in response.results if r.severity == fnv1.SEVERITY_FATAL]
    if fatal:
        return [f"fatal: {message}" for message in fatal if not message.startswith("no composer for")]
    result = protocol.decode(response)
    return [*spoken(result), *asked(result)]


def _refusal(refused: wire.MalformedRequest) -> Iterator[str]:
    """A refusal goes out as the message of a gRPC status, and into the log."""
    text = str(refused)
    if not is_placed(refused):
        yield f"refused without naming a place: {text:.200}"
    if len(text) > _LONGEST_EVENT:
        yield f"refused in more than {_LONGEST_EVENT} characters"
    if found := _ACTING.search(text):
        yield f"refused with {found[0]!r}"


def is_placed(refused: wire.MalformedRequest) -> bool:
    """Whether the refusal of a request names the place of what is wrong."""
    return _NAMED.match(str(refused)) is not None


def _through_the_door(request: Request) -> Result:
    """As the server answers it, from the request's bytes to the response's."""
    answered = _RUNNER.answer(protocol.encode(request).SerializeToString())
    return protocol.decode(fnv1.RunFunctionResponse.FromString(answered))


# What is said, and asked


def spoken(result: Result) -> Iterator[str]:
    """Conditions and events are bounded, legible, and of the form that Kubernetes asks for."""
    for said in (*result.conditions, *result.events):
        what = f"{type(said).__name__.lower()} {getattr(said, 'type', said.reason)}"
        longest = _LONGEST_MESSAGE if hasattr(said, "type") else _LONGEST_EVENT
        if len(said.message) > longest:
            yield f"{what}: a message of more than {longest} characters"
        if found := _ACTING.search(said.message):
            yield f"{what}: a message with {found[0]!r}"
        if not _REASON.fullmatch(said.reason):
            yield f"{what}: the reason {said.reason!r}"


def asked(result: Result) -> Iterator[str]:
    """An API server takes every look-up. Crossplane gives up a reconcile whose look-ups fail."""
    for requirement in result.requirements:
        names = [n for n in (requirement.match_name, requirement.namespace) if n is not None]
        yield from (f"asks for a {requirement.kind} {name!r:.99}" for name in names if not _is_segment(name))
        labels = requirement.match_labels.items()
        yield from (f"asks for {requirement.kind} of {key}={v!r:.99}" for key, v in labels if not _is_label(key, v))


def _is_segment(name: str) -> bool:
    """Whether a client puts a name into a path: it refuses others, and the reconcile fails."""
    return 0 < len(name) <= _NAME and name not in (".", "..") and not re.search(r"[/%\x00-\x20\x7f-\U0010ffff]", name)


def _is_name(name: str) -> bool:
    return len(name) <= _NAME and _SUBDOMAIN.fullmatch(name) is not None


def _is_key(key: str) -> bool:
    return len(key.partition("/")[0]) <= _NAME and _KEY.fullmatch(key) is not None


def _is_label(key: str, value: Any) -> bool:
    return _is_key(key) and isinstance(value, str) and len(value) <= _LABEL and _VALUE.fullmatch(value) is not None


# An invalid spec


def _lost(attempt: Attempt, request: Request, result: Result) -> Iterator[str]:
    """A spec that its own definition refuses changes nothing that runs: only what would go anyway does."""
    stays = request.observed.keys() & answer(attempt.case).resources.keys()
    gone = {key: str(request.observed[key].get("kind")) for key in stays - result.resources.keys()}
    gone = {key: kind for key, kind in gone.items() if kind not in _GUARDS}
    if gone and _breaks_its_definition(attempt, request):
        yield f"an invalid spec loses {gone}"


def _named(attempt: Attempt, request: Request, result: Result) -> Iterator[str]:
    """A condition names a field of the spec that the definition refuses, and nothing says that all is well.

    A case that is refused for another reason, such as its namespace, may tell that one.
    """
    if not (attempt.changes_only("xr", "spec") and attempt.changes) or answer(attempt.case).is_refused:
        return
    kind, ours = BY_KIND[request.xr["apiVersion"], request.xr["kind"]], _breaks_its_definition(attempt, request)
    if not ours:
        if not is_admitted(plain(request.xr)):
            yield "the definition refuses what the model takes"
        return
    fields = [visible(problem.field) for problem in ours]
    told = [c for c in result.conditions if c.status != "True" and any(field in c.message for field in fields)]
    if not told:
        yield f"no condition of the {kind.kind} names {fields[0]:.200}"
    if result.ready:
        yield f"ready, although {fields[0]:.200} is refused"


def _breaks_its_definition(attempt: Attempt, request: Request) -> list[Problem]:
    kind = BY_KIND.get((str(request.xr.get("apiVersion")), str(request.xr.get("kind"))))
    in_spec = any(c.where == "xr" and c.path[0] == "spec" for c in attempt.changes)
    return _problems(kind, request.xr) if kind and in_spec else []


def _problems(kind: Kind, manifest: Manifest) -> list[Problem]:
    """Without unknown fields: an API server drops them, so composers ignore them."""
    return [p for p in problems(kind.spec, plain(manifest)) if p.code != "unknown-field"]


# What is desired


def _status(attempt: Attempt, request: Request, result: Result) -> Iterator[str]:
    """The status is one of the kind. A status that is hostile itself is repeated."""
    if any(change.where == "xr" and change.path[0] == "status" for change in attempt.changes):
        return
    validator = _status_validator(BY_KIND[request.xr["apiVersion"], request.xr["kind"]])
    for error in validator.iter_errors(plain(result.status)):
        yield f"status.{'.'.join(map(str, error.absolute_path))}: {error.message:.200}"


@cache
def _status_validator(kind: Kind) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(xrd.schema(kind)["properties"]["status"])


def _refused_by_servers(attempt: Attempt, request: Request, result: Result) -> Iterator[str]:
    """What is composed is accepted by its API server. What is observed with hostile values is repeated as it is."""
    if any(change.where == "observed" for change in attempt.changes):
        return
    new = {key: r for key, r in result.resources.items() if plain(r.manifest) != _kept(request, key)}
    composed: list[Mapping[str, Any]] = [r.manifest for r in new.values() if "spec" in r.manifest]
    carried = [plain(manifest) for manifest in remote(new)]
    yield from _misnamed([*(r.manifest for r in new.values()), *carried], dig_fields(request.xr, "metadata", "labels"))
    is_newer = _has_newer_fields(request)
    for manifest in [m for m in composed if (m["apiVersion"], m["kind"]) not in BY_KIND] + carried:
        for problem in foreign.problems(plain(manifest)):
            if is_newer and "Additional properties" in problem:
                continue
            yield f"composed {manifest['kind']} {manifest.get('metadata', {}).get('name')}: {problem:.300}"
    for manifest in composed:
        if kind := BY_KIND.get((manifest["apiVersion"], manifest["kind"])):
            yield from (f"composed {kind.kind}: {problem}" for problem in _problems(kind, manifest))
            if not is_admitted(plain(manifest)):
                yield f"composed {kind.kind}: its definition refuses it"


def _has_newer_fields(request: Request) -> bool:
    """Whether a pod template has fields that Kubernetes does not know. They are kept: a newer one may know them."""
    kind = BY_KIND.get((str(request.xr.get("apiVersion")), str(request.xr.get("kind"))))
    found = problems(kind.spec, plain(request.xr)) if kind else []
    return any(p.code == "unknown-field" and "template" in p.path for p in found)


def _kept(request: Request, key: str) -> Any:
    """What is observed. What its API server took once is not looked at again."""
    return plain(restate(request.observed[key])) if key in request.observed else None


def _misnamed(manifests: Iterable[Mapping[str, Any]], given: Mapping[str, object]) -> Iterator[str]:
    """Names, labels and annotations are valid. Labels that the XR has itself are as its API server took them."""
    for manifest in manifests:
        metadata, what = manifest.get("metadata") or {}, str(manifest.get("kind"))
        names = {field: metadata[field] for field in ("name", "namespace") if field in metadata}
        yield from (f"composed {what}: metadata.{f} {name!r:.99}" for f, name in names.items() if not _is_name(name))
        labels, annotations = (metadata.get(field) or {} for field in ("labels", "annotations"))
        own = {key: value for key, value in labels.items() if key not in given or given[key] != value}
        yield from (f"composed {what}: label {k!r:.99}={v!r:.99}" for k, v in own.items() if not _is_label(k, v))
        wrong = {k: v for k, v in annotations.items() if not _is_key(k.lower()) or not isinstance(v, str)}
        yield from (f"composed {what}: annotation {key!r:.99}={value!r:.99}" for key, value in wrong.items())
        if sum(len(str(text).encode()) for pair in annotations.items() for text in pair) > _ANNOTATIONS:
            yield f"composed {what}: annotations of more than {_ANNOTATIONS} bytes"
