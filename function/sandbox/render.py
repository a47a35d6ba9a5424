"""One reconcile of one XR, as `crossplane render` does it (crossplane v2.4, internal/render; crossplane/cli v2.5).

Unlike the control loop it has no API server: nothing is merged, defaulted or validated. The output leaves out the parts
of the XR that the real renderer leaves out.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, Request, Result, dig, dig_list, plain
from function.sandbox import settle
from function.sandbox.composed import controller_uid, decorated, keep_name, reference_to
from function.sandbox.conditions import NOW, conditions_after
from function.sandbox.errors import CannotRender, Fatal, Unsettled
from function.sandbox.extensions import CompositionFunction
from function.vocabulary import crossplane as keys

_RENDER = "render.crossplane.io/v1beta1"


@dataclass(frozen=True, slots=True)
class Rendered:
    xr: dict[str, Any]
    """Identity, references and status of the XR after the reconcile."""
    composed: tuple[dict[str, Any], ...]
    """Composed resources by key."""
    results: tuple[dict[str, Any], ...]
    """The output of `--include-function-results`."""


def render(
    function: CompositionFunction,
    xr: Manifest,
    *,
    step: str,
    composition: str,
    observed: Sequence[Manifest] = (),
    required: Sequence[Manifest] = (),
) -> Rendered:
    """Reconcile one XR, without a store.

    Args:
        function: Called up to six times, until its requirements settle.
        xr: The XR as a user writes it.
        step: Name of the Composition's only step; messages mention it.
        composition: Name of the Composition.
        observed: Composed resources that exist, each with the annotation of its composition key.
        required: Objects that the function may require.

    Raises:
        CannotRender: There is no output.
        Unreachable: The function cannot be called.
    """
    before = _prepared(xr, composition, observed)
    _check_observed(before, observed)
    by_key = {_key(m): m for m in observed if controller_uid(m) in ("", before["metadata"]["uid"])}
    try:
        result = settle.settle(function, Request(xr=before, observed=by_key), [before, *observed, *required])
    except (Fatal, Unsettled) as failure:
        raise CannotRender(_failure(step, failure)) from failure
    composed = {key: _applied(before, key, r.manifest, by_key) for key, r in sorted(result.resources.items())}
    selected = _selected(xr, composition)
    return Rendered(_after(before, result, composed), tuple(composed.values()), (*selected, *_results(step, result)))


def full(xr: Any, rendered: Any) -> Any:
    """The input XR with the rendered fields over it: maps are merged, anything else is replaced."""
    if not (isinstance(xr, Mapping) and isinstance(rendered, Mapping)):
        return plain(rendered)
    return {**plain(xr), **{k: full(xr[k], v) if k in xr else plain(v) for k, v in rendered.items()}}


def _failure(step: str, failure: Exception) -> str:
    if isinstance(failure, Fatal):
        return f'cannot compose resources: pipeline step "{step}" returned a fatal result: {failure}'
    return f"cannot compose resources: {failure}"


def _prepared(xr: Manifest, composition: str, observed: Sequence[Manifest]) -> dict[str, Any]:
    """The XR as the function gets it."""
    prepared = plain(xr)
    if not isinstance(dig(prepared, "spec") or {}, dict):
        raise CannotRender(f"the spec of {xr['kind']} {xr['metadata']['name']} must be a map of fields")
    prepared["spec"] = prepared.get("spec") or {}
    metadata = prepared["metadata"]
    metadata.setdefault("uid", _uid(xr))
    metadata["resourceVersion"] = "999"
    metadata["labels"] = {keys.COMPOSITE: metadata["name"], **(metadata.get("labels") or {})}
    crossplane = prepared["spec"].setdefault("crossplane", {})
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
    key = dig(manifest, "metadata", "annotations", keys.COMPOSITION_KEY)
    if not key:
        raise CannotRender(
            f"observed resource {manifest['metadata']['name']} has no annotation {keys.COMPOSITION_KEY}, "
            "which tells which composed resource it is"
        )
    return str(key)


def _applied(xr: Manifest, key: str, manifest: Manifest, observed: Mapping[str, Manifest]) -> dict[str, Any]:
    desired = plain(manifest)
    keep_name(desired, observed.get(key))
    namespace = xr["metadata"].get("namespace")
    if namespace:
        desired["metadata"]["namespace"] = namespace
    return decorated(xr, key, desired)


def _after(xr: Manifest, result: Result, composed: Mapping[str, Manifest]) -> dict[str, Any]:
    metadata = {k: v for k, v in xr["metadata"].items() if k in ("name", "namespace")}
    refs = sorted((reference_to(xr, m) for m in composed.values()), key=lambda r: "".join(r.values()))
    before = list(dig_list(xr, "status", "conditions"))
    # The real renderer loses the generation when it stores the references.
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


def _results(step: str, result: Result) -> list[dict[str, Any]]:
    events = [
        _result("Warning" if e.warning else "Normal", e.reason, f'Pipeline step "{step}": {e.message}')
        for e in result.events
    ]
    unready = [key for key, r in sorted(result.resources.items()) if not (r.ready or result.quiet)]
    return events + [
        _result("Normal", "ComposeResources", f'Composed resource "{key}" is not yet ready') for key in unready
    ]


def _result(severity: str, reason: str, message: str) -> dict[str, Any]:
    return {"apiVersion": _RENDER, "kind": "Result", "severity": severity, "reason": reason, "message": message}


def context(given: Mapping[str, Any]) -> dict[str, Any]:
    """The output of `--include-context`: the function passes the pipeline's context on unchanged."""
    return {"apiVersion": _RENDER, "kind": "Context", "fields": dict(given)}
