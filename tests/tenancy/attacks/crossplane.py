"""What Crossplane reads of a composite resource: its choices, what it composed, and how it is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest
from function.vocabulary import names, versions
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import SECRET, VICTIM, cache, caller, deployment, endpoint, service, with_metadata

_SPECS: dict[str, dict[str, Any]] = {
    "another's Secret as composed": {
        "resourceRefs": [{"apiVersion": "v1", "kind": "Secret", "name": SECRET, "namespace": VICTIM}]
    },
    "objects of the platform as composed": {
        "resourceRefs": [
            {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "name": "west"},
            {"apiVersion": versions.PROVIDER_KUBERNETES, "kind": "Object", "name": names.probe("west")}
            | {"namespace": names.SYSTEM_NAMESPACE},
            {"apiVersion": versions.MODELPLANE, "kind": "ModelReplica", "name": "chat", "namespace": VICTIM},
        ]
    },
    "a reference without a name": {"resourceRefs": [{"apiVersion": "v1", "kind": "Secret", "name": ""}]},
    "another composition": {"compositionRef": {"name": "inferenceclusters.modelplane.ai"}},
    "any composition": {"compositionSelector": {"matchLabels": {"a": "b"}}},
    "an old revision for ever": {"compositionUpdatePolicy": "Manual", "compositionRevisionRef": {"name": "x"}},
}
_FIELDS: dict[str, dict[str, Any]] = {
    "a connection Secret": {"writeConnectionSecretToRef": {"name": SECRET, "namespace": VICTIM}},
    "a composition, as in Crossplane 1": {"compositionRef": {"name": "x"}, "resourceRefs": [{"name": SECRET}]},
    "another claim": {"claimRef": {"name": "chat", "namespace": VICTIM}},
    "deletion policies": {"deletionPolicy": "Orphan", "compositeDeletePolicy": "Background"},
}
_METADATA: dict[str, dict[str, Any]] = {
    "finalizers of Crossplane": {"finalizers": ["composite.apiextensions.crossplane.io", "foregroundDeletion"]},
    "a finalizer of its own": {"finalizers": ["mallory.example.org/never"]},
    "paused": {"annotations": {"crossplane.io/paused": "true"}},
}


def _each(name: str, replicas: int = 0) -> list[dict[str, Any]]:
    made = endpoint(name), service(name), caller(name), cache(name), deployment(name, replicas=replicas)
    return [dict(one) for one in made]


def _made() -> Iterator[tuple[str, tuple[list[Manifest], str]]]:
    for number, (what, crossplane) in enumerate(_SPECS.items()):
        made = _each(f"crossplane-{number}", replicas=int("resourceRefs" in crossplane))
        for one in made:
            one["spec"] = {**one["spec"], "crossplane": crossplane}
        yield f"spec.crossplane: {what}", ([*made], HARMLESS)
    for number, (what, fields) in enumerate(_FIELDS.items()):
        made = _each(f"fields-{number}")
        for one in made:
            one["spec"] = {**one["spec"], **fields}
        yield f"spec: {what}", ([*made], HARMLESS)
    for number, (what, metadata) in enumerate(_METADATA.items()):
        made = [with_metadata(one, **metadata) for one in _each(f"metadata-{number}")]
        yield f"metadata: {what}", ([*made], HARMLESS)


ATTACKS = attacks("crossplane", dict(_made()))
