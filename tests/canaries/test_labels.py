"""Labels and annotations of others are neither copied onto composed resources nor quoted.

Every object of every golden case gets some: the XR, what it composed, what is on clusters, and what is looked up. What
is composed has managed fields, as on an API server, which tell what of it is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from function import registry
from function.core import Request, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import labels
from tests.support import cases
from tests.support.canaries import Canary
from tests.support.canary_allowed import texts
from tests.support.canary_places import Object, fields

FOREIGN = (
    "example.org/owner",
    "team",
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "meta.helm.sh/release-name",
    "kubectl.kubernetes.io/last-applied-configuration",
    "crossplane.io/external-create-failed",
)
"""Keys that controllers and people write."""
OURS = sorted({value for value in vars(labels).values() if isinstance(value, str) and value.startswith(labels.PREFIX)})
"""Keys that the function knows. One without a name is the prefix."""
OF_USERS = {
    f"modeldeployment: XR labels {key}"
    for key in ("example.org/owner", "team", "argocd.argoproj.io/tracking-id", "meta.helm.sh/release-name")
}
"""Labels of a ModelDeployment are those of its replicas and endpoints, by which services select them: all but those of
Kubernetes and Crossplane (docs/routing.md)."""
CARRIED = {
    "inferencecluster: composed annotations modelplane.ai/dra-drivers",
    "inferencecluster: looked up annotations modelplane.ai/dra-drivers",
    "modeldeployment: composed annotations modelplane.ai/leaving",
    "modeldeployment: composed annotations modelplane.ai/rendering",
    "modelreplica: XR labels modelplane.ai/cluster",
    "modelreplica: XR labels modelplane.ai/deployment",
    "modelreplica: XR labels modelplane.ai/replica-index",
}
"""Our own keys that are read from other objects: drivers that clusters of the same Kubernetes cluster need, notes of
earlier passes on replicas and endpoints, and the labels by which objects of a replica are found."""
FEW = 10


def answered(case: Path, keys: Sequence[str]) -> list[str]:
    """Which labels and annotations are in an answer: whose each is, the field and the key."""
    given, objects = cases.load(case)
    xr, observed, there = plain(given.xr), plain(given.observed), plain(objects)
    for manifest in observed.values():
        manifest["metadata"]["managedFields"] = [_managed(manifest)]
    canaries: dict[str, Canary] = {}
    for whose, some in (("XR", [xr]), ("composed", observed.values()), ("looked up", there)):
        for manifest in some:
            _label(manifest["metadata"], keys, whose, canaries)
            for metadata in _remote(manifest):
                _label(metadata, keys, "reported", canaries)
    got = settle(registry.compose, Request(xr=xr, observed=observed), there)
    told = "\n".join(text for _, text in texts(got))
    return [place for place, canary in canaries.items() if canary.token in told]


def _managed(manifest: Object) -> Object:
    """What says that all of an object is ours."""
    metadata = {key: manifest["metadata"][key] for key in ("labels", "annotations") if key in manifest["metadata"]}
    body = {key: value for key, value in manifest.items() if key not in ("status", "metadata")}
    owned = {**_owned(body), "f:metadata": _owned(metadata)}
    return {"manager": "apiextensions.crossplane.io/composed/x", "operation": "Apply", "fieldsV1": owned}


def _owned(value: Any) -> Object:
    return {f"f:{key}": _owned(child) for key, child in value.items()} if isinstance(value, dict) else {}


def _label(metadata: Object, keys: Sequence[str], whose: str, canaries: dict[str, Canary]) -> None:
    for field in ("labels", "annotations"):
        added: dict[str, str] = {}
        for key in keys:
            place = f"{whose} {field} {key}"
            added[key] = canaries.setdefault(place, Canary(place, is_word=True)).token
        known = metadata.get(field)
        metadata[field] = {**added, **known} if isinstance(known, dict) else added


def _remote(manifest: Object) -> Iterator[Object]:
    for key, child in fields(dig(manifest, "status", "atProvider")):
        if key == "metadata" and isinstance(child, dict):
            yield child


def carried(some: Iterable[Path], keys: Sequence[str]) -> set[str]:
    """The kind that answers, whose label or annotation it is, and its key, for each that is in an answer."""
    return {f"{case.parent.name}: {place}" for case in some for place in answered(case, keys)}


def test_what_others_write_is_not_carried_over_in_some_cases() -> None:
    assert carried(cases.CASES[:: len(cases.CASES) // FEW], FOREIGN) <= OF_USERS


@pytest.mark.slow
def test_only_what_is_listed_is_carried_over() -> None:
    assert carried(cases.CASES, (*FOREIGN, *OURS)) == OF_USERS | CARRIED
