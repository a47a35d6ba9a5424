"""Device requests: whether their selectors compile, and whether one claim can hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function import cel
from function.api import inferenceclass, modeldeployment, modelreplica
from function.core import Manifest, dig, dig_list, plain
from function.kinds.modeldeployment import selectors
from function.scheduling import LARGEST_CLAIM
from function.schema import Path
from function.validation.finding import Finding

_REQUESTS = {modeldeployment.KIND: ("nodeSelector", "devices"), modelreplica.KIND: ("deviceRequests",)}
"""Path to the device requests of a member, by kind."""

_WORD = re.compile(r"""\w+|"[^"\n]*"|'[^'\n]*'|[=!<>&|]+|\S""")

Written = tuple[Path, str]
"""The path and the text of a selector."""


def findings(index: int, manifest: Manifest) -> Iterator[Finding]:
    """Report problems of an object's device requests, if it has any. The rest of the object need not be valid."""
    for path, requests in _requests(manifest):
        yield from _too_many(index, path, requests)
    texts = list(written(manifest))
    for at, text in texts:
        yield from _judged(index, at, text)
    if manifest["kind"] == modeldeployment.KIND:
        yield from _costly(index, texts)


def written(manifest: Manifest) -> Iterator[Written]:
    """Yield the selectors of an object. The rest of the object need not be valid."""
    for path, requests in _requests(manifest):
        yield from _selectors(path, requests)


def class_findings(index: int, manifest: Manifest) -> Iterator[Finding]:
    """Report devices of a valid InferenceClass that Kubernetes would not accept."""
    if manifest["kind"] != inferenceclass.KIND:
        return
    for i, device in enumerate(inferenceclass.Spec.model_validate(plain(manifest["spec"])).devices):
        fault = inferenceclass.device_fault(device)
        if fault:
            yield Finding(index, ("spec", "devices", i), fault, "value")


def _too_many(index: int, path: Path, requests: Sequence[Any]) -> Iterator[Finding]:
    counts = [request.get("count", 1) for request in requests if isinstance(request, Mapping)]
    total = sum(count for count in counts if isinstance(count, int))
    if total > LARGEST_CLAIM:
        problem = f"ask for {total} devices, but a ResourceClaim holds at most {LARGEST_CLAIM}"
        yield Finding(index, path, problem, "many-devices")


def _selectors(path: Path, requests: Sequence[Any]) -> Iterator[Written]:
    for i, request in enumerate(requests):
        for j, selector in enumerate(dig_list(request, "selectors")):
            text = dig(selector, "cel")
            if isinstance(text, str):
                yield (*path, i, "selectors", j, "cel"), text


def _costly(index: int, texts: list[Written]) -> Iterator[Finding]:
    """Report the first selector with which those of a deployment exceed the limit, as its composer counts them."""
    together = selectors.Together()
    for path, text in texts:
        try:
            problem = together.known(text, cel.facts(text))
        except cel.InvalidSelector:
            problem = together.added(text)
        if problem:
            yield Finding(index, path, f"is one too many: {problem}", "selectors")
            return


def _judged(index: int, path: Path, text: str) -> Iterator[Finding]:
    try:
        selector = cel.admitted(text)
    except cel.InvalidSelector as invalid:
        yield _at(index, (path, text), "would be refused by Kubernetes: {}", invalid)
        return
    for warning in selector.warnings:
        yield _at(index, (path, text), "is accepted by Kubernetes, but {}", warning)


def _at(index: int, written: Written, told: str, problem: cel.InvalidSelector | cel.CelWarning) -> Finding:
    """Return the finding about a place in a selector."""
    path, text = written
    code = "selector" if isinstance(problem, cel.InvalidSelector) else "selector-fails"
    brief = told.format(str(problem).removeprefix(f"{problem.place}: "))
    span = word(text, problem.place.position)
    return Finding(index, path, told.format(problem), code, span=span, brief=brief)


def word(text: str, position: int) -> tuple[int, int]:
    """Return the word, the text in quotes, or the signs that begin at a position."""
    found = _WORD.match(text, position)
    return position, found.end() if found else position + 1


def _requests(manifest: Manifest) -> Iterator[tuple[Path, Sequence[Any]]]:
    """Yield the device requests of each member, with their path."""
    below = _REQUESTS.get(manifest["kind"])
    for path, member in _members(manifest) if below else ():
        yield (*path, *(below or ())), dig_list(member, *(below or ()))


def _members(manifest: Manifest) -> Iterator[tuple[Path, Any]]:
    for i, engine in enumerate(dig_list(manifest, "spec", "engines")):
        for j, member in enumerate(dig_list(engine, "members")):
            yield ("spec", "engines", i, "members", j), member
