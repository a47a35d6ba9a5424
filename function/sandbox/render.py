"""One XR, one reconcile, as `crossplane render` plays it (crossplane v2.4, internal/render; crossplane/cli v2.5).

Unlike the world it has no API server: nothing is merged, defaulted or validated, and what the real renderer leaves out
of the XR is left out here.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, Request, Result, dig, plain
from function.sandbox import settle
from function.sandbox.composed import COMPOSITE, controller_uid, decorated, reference_to
from function.sandbox.conditions import NOW, conditions_after
from function.sandbox.reconcile import STEP, Fatal
from function.sandbox.settle import Compose
from function.vocabulary import labels

_RENDER = "render.crossplane.io/v1beta1"
_NAMES = ("name", "namespace", "generateName")


class CannotRender(Exception):
    """Why there is no output: a fatal answer, or input that the real renderer refuses too."""


@dataclass(frozen=True, slots=True)
class Rendered:
    xr: dict[str, Any]
    """What the reconcile leaves: who it is, references, status."""
    composed: tuple[dict[str, Any], ...]
    """By key."""
    results: tuple[dict[str, Any], ...]
    """What `--include-function-results` shows."""


def render(
    compose: Compose,
    xr: Manifest,
    *,
    composition: str,
    observed: Sequence[Manifest] = (),
    required: Sequence[Manifest] = (),
) -> Rendered:
    """Raises CannotRender."""
    before = _prepared(xr, composition, observed)
    _check_observed(before, observed)
    by_key = {_key(m): m for m in observed if controller_uid(m) in ("", before["metadata"]["uid"])}
    try:
        result = settle.settle(compose, Request(xr=before, observed=by_key), [before, *observed, *required])
    except (Fatal, settle.Unsettled) as failure:
        raise CannotRender(_failure(failure)) from failure
    composed = {key: _applied(before, key, r.manifest, by_key) for key, r in sorted(result.resources.items())}
    selected = _selected(xr, composition)
    return Rendered(_after(before, result, composed), tuple(composed.values()), (*selected, *_results(result)))


def full(xr: Any, rendered: Any) -> Any:
    """The XR as it was given, with what the reconcile changed over it: maps merge, anything else is replaced."""
    if not (isinstance(xr, Mapping) and isinstance(rendered, Mapping)):
        return plain(rendered)
    return {**plain(xr), **{k: full(xr[k], v) if k in xr else plain(v) for k, v in rendered.items()}}


def _failure(failure: Exception) -> str:
    if isinstance(failure, Fatal):
        return f'cannot compose resources: pipeline step "{STEP}" returned a fatal result: {failure}'
    return f"cannot compose resources: {failure}"


def _prepared(xr: Manifest, composition: str, observed: Sequence[Manifest]) -> dict[str, Any]:
    """The XR as the function sees it."""
    prepared = plain(xr)
    metadata = prepared["metadata"]
    metadata.setdefault("uid", _uid(xr))
    metadata["resourceVersion"] = "999"
    metadata["labels"] = {COMPOSITE: metadata["name"], **(metadata.get("labels") or {})}
    crossplane = prepared.setdefault("spec", {}).setdefault("crossplane", {})
    crossplane["compositionRef"] = {"name": composition}
    if observed:
        crossplane["resourceRefs"] = [reference_to(prepared, m) for m in observed]
    return prepared  # type: ignore[no-any-return]  # plain keeps the shape of what it is given


def _uid(xr: Manifest) -> str:
    group, _, version = xr["apiVersion"].rpartition("/")
    kind = f"{group}/{version}, Kind={xr['kind']}"
    text = "\x00".join((kind, xr["metadata"].get("namespace") or "", xr["metadata"]["name"]))
    return str(uuid.uuid5(uuid.UUID(int=0), text))


def _check_observed(xr: Manifest, observed: Sequence[Manifest]) -> None:
    namespace = xr["metadata"].get("namespace") or ""
    for manifest in observed:
        name = manifest["metadata"]["name"]
        if controller_uid(manifest) not in ("", xr["metadata"]["uid"]):
            raise CannotRender(f"observed resource {name} has a controller ref but is not controlled by the XR")
        if namespace and manifest["metadata"].get("namespace") != namespace:
            raise CannotRender(f"observed resource {name} is not in the same namespace as the XR")
        _key(manifest)


def _key(manifest: Manifest) -> str:
    key = dig(manifest, "metadata", "annotations", labels.COMPOSITION_KEY)
    if not key:
        raise CannotRender(
            f"observed resource {manifest['metadata']['name']} has no annotation {labels.COMPOSITION_KEY}, "
            "which tells which composed resource it is"
        )
    return str(key)


def _applied(xr: Manifest, key: str, manifest: Manifest, observed: Mapping[str, Manifest]) -> dict[str, Any]:
    desired = plain(manifest)
    metadata = desired.setdefault("metadata", {})
    if key in observed:
        kept = {k: v for k, v in observed[key]["metadata"].items() if k in _NAMES}
        desired["metadata"] = {**{k: v for k, v in metadata.items() if k not in _NAMES}, **kept}
    namespace = xr["metadata"].get("namespace")
    if namespace:
        desired["metadata"]["namespace"] = namespace
    return decorated(xr, key, desired)


def _after(xr: Manifest, result: Result, composed: Mapping[str, Manifest]) -> dict[str, Any]:
    metadata = {k: v for k, v in xr["metadata"].items() if k in ("name", "namespace")}
    refs = sorted((reference_to(xr, m) for m in composed.values()), key=lambda r: "".join(r.values()))
    before = dig(xr, "status", "conditions") or []
    # The real renderer has forgotten the generation once it has stored the references.
    conditions = conditions_after(before, result, (), xr["metadata"].get("generation"), later=None)
    return {
        "apiVersion": xr["apiVersion"],
        "kind": xr["kind"],
        "metadata": metadata,
        "spec": {"crossplane": {"resourceRefs": refs}},
        "status": {**plain(result.status), "conditions": [{**c, "lastTransitionTime": NOW} for c in conditions]},
    }


def _selected(xr: Manifest, composition: str) -> tuple[dict[str, Any], ...]:
    if dig(xr, "spec", "crossplane", "compositionRef", "name") == composition:
        return ()
    return (_result("Normal", "SelectComposition", f"Successfully selected composition: {composition}"),)


def _results(result: Result) -> list[dict[str, Any]]:
    told = [
        _result("Warning" if e.warning else "Normal", e.reason, f'Pipeline step "{STEP}": {e.message}')
        for e in result.events
    ]
    unready = [key for key, r in sorted(result.resources.items()) if not r.ready]
    return told + [
        _result("Normal", "ComposeResources", f'Composed resource "{key}" is not yet ready') for key in unready
    ]


def _result(severity: str, reason: str, message: str) -> dict[str, Any]:
    return {"apiVersion": _RENDER, "kind": "Result", "severity": severity, "reason": reason, "message": message}


def context(given: Mapping[str, Any]) -> dict[str, Any]:
    """What `--include-context` shows: our function leaves the pipeline's context as it was given."""
    return {"apiVersion": _RENDER, "kind": "Context", "fields": dict(given)}
