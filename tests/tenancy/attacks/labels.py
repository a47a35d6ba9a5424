"""Labels, annotations and owners that claim what is another's, and selectors that reach for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest
from function.vocabulary import crossplane, labels, names, versions
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import VICTIM, cache, caller, deployment, endpoint, of, service, with_metadata

LABELS: dict[str, dict[str, str]] = {
    "of the victim's replica": {
        labels.DEPLOYMENT: "chat",
        labels.CLUSTER: "west",
        labels.REPLICA_INDEX: "0",
        labels.SERVING: "chat",
    },
    "of the victim's service": {labels.SERVICE: "chat", labels.ENDPOINT: "spare", labels.MODELCACHE: "weights"},
    "of the cluster's probe": {labels.PROBE: labels.PROBE_OF_GATEWAY, labels.CLUSTER_ID: "1", labels.HOLDS: "weights"},
    "of the observer": {labels.OBSERVATION: labels.OBSERVED, labels.MANAGED_BY: labels.OURS},
    "of the victim's composite": {crossplane.COMPOSITE: "chat"},
}
_ANNOTATIONS: dict[str, dict[str, str]] = {
    "of the rollout": {
        labels.SPEC_HASH: "0" * 8,
        labels.RENDERING: "999999",
        labels.ROLL_ANYWAY: "true",
        labels.PLACED_UNDER: "{}",
        labels.FORMER_SPEC: '{"engines": []}',
        labels.MOVING_FOR: "x",
        labels.LEAVING: "-",
    },
    "of the cluster's identity": {labels.POOLS: "l4", labels.STACK: "true", labels.OBSERVED_CAPACITY: "true"},
    "of the composition": {
        crossplane.COMPOSITION_KEY: "service",
        crossplane.EXTERNAL_NAME: "chat",
        "crossplane.io/external-create-pending": "2026-01-01T00:00:00Z",
        "crossplane.io/external-create-succeeded": "2026-01-01T00:00:00Z",
    },
    "with the names of a model": {labels.SERVED_NAMES: "Qwen/Qwen3-8B,chat"},
}
OWNERS: dict[str, dict[str, Any]] = {
    "the victim's deployment": {"apiVersion": versions.MODELPLANE, "kind": "ModelDeployment", "name": "chat"},
    "the cluster": {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "name": "west"},
    "the victim's route": {"apiVersion": versions.GATEWAY, "kind": "HTTPRoute", "name": "chat"},
}
_SELECTORS: dict[str, tuple[dict[str, Any], str]] = {
    "the victim's endpoints": ({"matchLabels": {labels.DEPLOYMENT: "chat"}}, HARMLESS),
    "every endpoint": ({"matchLabels": {}}, "spec.endpoints[0].selector.matchLabels"),
    "every endpoint, by no word": ({}, "spec.endpoints[0].selector.matchLabels"),
    "every endpoint but one": (
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]},
        "spec.endpoints[0].selector.matchLabels",
    ),
    "every labelled endpoint": (
        {"matchLabels": {"app": "none"}, "matchExpressions": [{"key": labels.CLUSTER, "operator": "Exists"}]},
        HARMLESS,  # the API server drops the field
    ),
    "a namespace": ({"matchLabels": {"app": "none"}, "namespace": VICTIM}, HARMLESS),
    "a label of another form": ({"matchLabels": {"app": f"{VICTIM}/chat"}}, "spec.endpoints[0].selector.matchLabels"),
}


def _each(name: str, replicas: int = 0) -> list[Manifest]:
    """An object of each kind."""
    return [endpoint(name), service(name), caller(name), cache(name), deployment(name, replicas=replicas)]


def _made() -> Iterator[tuple[str, tuple[Manifest | list[Manifest], str]]]:
    for number, (what, claimed) in enumerate(LABELS.items()):
        made = [
            with_metadata(one, labels={"app": f"labels-{number}", **claimed})
            for one in _each(f"labels-{number}", replicas=int(number < 2))
        ]
        yield f"labels {what}", (made, HARMLESS)
    for number, (what, claimed) in enumerate(_ANNOTATIONS.items()):
        made = [with_metadata(one, annotations=claimed) for one in _each(f"annotations-{number}")]
        yield f"annotations {what}", (made, HARMLESS)
    for number, (what, owner) in enumerate(OWNERS.items()):
        claimed = {**owner, "uid": f"uid-of-{owner['name']}", "controller": True, "blockOwnerDeletion": True}
        made = [with_metadata(one, ownerReferences=[claimed]) for one in _each(f"owners-{number}")]
        yield f"an owner: {what}", (made, HARMLESS)
    for number, (what, (selector, refused)) in enumerate(_SELECTORS.items()):
        yield (
            f"a service that selects {what}",
            (
                of("ModelService", f"selects-{number}", endpoints=[{"selector": selector}]),
                refused,
            ),
        )
        callers = {"selector": selector} if selector else {}
        chosen = of("ModelService", f"calls-{number}", endpoints=[{"selector": {"matchLabels": {"app": "x"}}}])
        chosen["spec"]["callers"] = callers
        where = refused.replace("endpoints[0]", "callers") if callers else HARMLESS
        yield f"a service whose callers are {what}", (chosen, where)
    placed = of("ModelEndpoint", names.replica_key("west", 0), url="https://api.example.org/v1")
    yield (
        "an endpoint that would be a candidate on a cluster",
        (
            [
                with_metadata(placed, labels=LABELS["of the victim's replica"]),
                service("led", labels={labels.CLUSTER: "west"}),
            ],
            HARMLESS,
        ),
    )


ATTACKS = attacks("labels", dict(_made()))
