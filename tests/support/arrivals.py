"""A cluster's answer to Objects: what the provider would have written into their status.

`python -m tests.support.arrivals` writes the observed.yaml of golden cases anew whose first line says so: what the
case's before.yaml (the XR before an edit; where there is none, its xr.yaml) became, once all of it is on the cluster
and its workloads are in the state that the line names. Needed after a change of what is composed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from function import registry
from function.core import Manifest, Request, Result, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import crossplane, names

Status = Callable[[dict[str, Any]], dict[str, Any]]


def observed(result: Result, status: Status, *, generation: int = 1) -> dict[str, dict[str, Any]]:
    """Every composed Object as it is once it arrived, with the status that its manifest is given."""
    return {key: _arrived(key, plain(r.manifest), status, generation) for key, r in result.resources.items()}


def again(request: Request, result: Result, status: Status, *, generation: int = 1) -> Request:
    """The next pass: all that was composed is there, and what was said is the XR's status."""
    said = [{"type": c.type, "status": c.status, "reason": c.reason, "message": c.message} for c in result.conditions]
    ready = {"type": "Ready", "status": "True" if result.ready else "False"}
    xr = {**request.xr, "status": {**plain(result.status), "conditions": [*said, ready]}}
    return replace(request, xr=xr, observed=observed(result, status, generation=generation))


def edited(request: Request, xr: Manifest) -> Request:
    """After an edit of the XR, which keeps its status."""
    return replace(request, xr={**xr, "status": request.xr.get("status", {})})


def running(manifest: dict[str, Any]) -> dict[str, Any]:
    """All copies run the spec that stands, and the gateway took every route."""
    wanted = dig(manifest, "spec", "replicas") or 0
    return copies(manifest, available=wanted, updated=wanted)


def starting(manifest: dict[str, Any]) -> dict[str, Any]:
    """No copy is available yet."""
    return copies(manifest, available=0, updated=dig(manifest, "spec", "replicas") or 0)


def copies(manifest: dict[str, Any], *, available: int, updated: int) -> dict[str, Any]:
    wanted, generation = dig(manifest, "spec", "replicas") or 0, manifest["metadata"]["generation"]
    counts = {"replicas": wanted, "updatedReplicas": updated, "observedGeneration": generation}
    if manifest["kind"] == "Deployment":
        return {**counts, "availableReplicas": available, "readyReplicas": available}
    if manifest["kind"] == "LeaderWorkerSet":
        is_available = "True" if available == updated == wanted else "False"
        return {**counts, "readyReplicas": available, "conditions": [{"type": "Available", "status": is_available}]}
    return accepted(manifest) if manifest["kind"] in ("HTTPRoute", "InferencePool") else {}


def accepted(manifest: dict[str, Any], status: str = "True") -> dict[str, Any]:
    said = [
        {"type": type_, "status": status, "observedGeneration": manifest["metadata"]["generation"], "reason": type_}
        for type_ in ("Accepted", "ResolvedRefs")
    ]
    parent = {"name": names.CLUSTER_GATEWAY, "namespace": names.SYSTEM_NAMESPACE}
    return {"parents": [{"parentRef": parent, "conditions": said}]}


def conditions(**said: str) -> list[dict[str, str]]:
    return [{"type": type_, "status": status} for type_, status in said.items()]


def _arrived(key: str, composed: dict[str, Any], status: Status, generation: int) -> dict[str, Any]:
    there = plain(dig(composed, "spec", "forProvider", "manifest"))
    there["metadata"]["generation"] = generation
    given: Mapping[str, Any] = status(there)
    there |= {"status": dict(given)} if given else {}
    metadata = composed["metadata"]
    metadata["annotations"] = {**metadata.get("annotations", {}), crossplane.COMPOSITION_KEY: key}
    return {
        **composed,
        "status": {"atProvider": {"manifest": there}, "conditions": conditions(Synced="True", Ready="True")},
    }


def refused(manifest: dict[str, Any]) -> dict[str, Any]:
    """All copies run, and the gateway takes no route."""
    if manifest["kind"] != "HTTPRoute":
        return running(manifest)
    said = accepted(manifest, "False")
    for one in said["parents"][0]["conditions"]:
        one |= {"reason": "NotAllowedByListeners", "message": "No listener takes routes of this namespace"}
    return said


def one_lost(manifest: dict[str, Any]) -> dict[str, Any]:
    """All copies run the spec that stands but one, which is not available."""
    wanted = dig(manifest, "spec", "replicas") or 0
    return copies(manifest, available=wanted - 1, updated=wanted)


def unseen(manifest: dict[str, Any]) -> dict[str, Any]:
    """All copies run, and nobody says of which generation."""
    return {field: value for field, value in running(manifest).items() if field != "observedGeneration"}


_STATES: Mapping[str, Status] = {
    "running": running,
    "starting": starting,
    "refused": refused,
    "one copy lost": one_lost,
    "running, no generation seen": unseen,
}
_MARK = "# Written by tests/support/arrivals.py: "


def _write_anew(observed_yaml: Path) -> None:
    case, first = observed_yaml.parent, observed_yaml.read_text().partition("\n")[0]
    xr = next(path for path in (case / "before.yaml", case / "xr.yaml") if path.exists())
    required = next(path for path in (case / "required-before.yaml", case / "required.yaml") if path.exists())
    request = Request(xr=yaml.safe_load(xr.read_text()))
    result = settle(registry.compose, request, list(yaml.safe_load_all(required.read_text())))
    documents = list(observed(result, _STATES[first.removeprefix(_MARK)]).values())
    observed_yaml.write_text(f"{first}\n{yaml.safe_dump_all(documents, sort_keys=False, width=120)}")


if __name__ == "__main__":
    for path in sorted((Path(__file__).parents[1] / "golden").glob("*/*/observed.yaml")):
        if path.read_text().startswith(_MARK):
            _write_anew(path)
