"""What kube-state-metrics reads is there: every kind, and every path in its definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function.publish import state_metrics, xrd
from function.publish.catalog import KINDS, Kind

RESOURCES = state_metrics.configuration()["spec"]["resources"]
OF_CRDS = {
    "metadata": {"properties": {"name": {"type": "string"}, "namespace": {"type": "string"}}},
    "conditions": {"items": {"properties": {key: {"type": "string"} for key in ("type", "status", "reason")}}},
}
"""What Crossplane adds to the schema of every kind."""
VALUES = {"integer", "number", "boolean"}


def schema(kind: Kind) -> dict[str, Any]:
    found = xrd.schema(kind)["properties"]
    status = {**found["status"], "properties": {**found["status"]["properties"], "conditions": OF_CRDS["conditions"]}}
    return {"properties": {**found, "metadata": OF_CRDS["metadata"], "status": status}}


def at(found: dict[str, Any], path: list[str]) -> dict[str, Any]:
    for step in path:
        found = found["properties"][step]
    return found


def read(kind: Kind) -> Iterator[tuple[str, dict[str, Any], set[str]]]:
    """What each metric of a kind reads: the path, its schema, and the types that are accepted."""
    (resource,) = [r for r in RESOURCES if r["groupVersionKind"]["kind"] == kind.kind]
    whole = schema(kind)
    for path in resource["labelsFromPath"].values():
        yield ".".join(path), at(whole, path), {"string"}
    for metric in resource["metrics"]:
        (shape,) = (value for key, value in metric["each"].items() if key != "type")
        found = at(whole, shape["path"])
        item = found.get("items", found)
        for path in shape.get("labelsFromPath", {}).values():
            yield f"{metric['name']} {path}", at(item, path), {"string"}
        states = {"string"} if metric["name"] == "condition" or "list" in shape else VALUES
        if metric["each"]["type"] != "Info":
            yield f"{metric['name']}", at(item, shape.get("valueFrom", [])), states


def test_every_kind_is_read_once() -> None:
    got = [
        (f"{r['groupVersionKind']['group']}/{r['groupVersionKind']['version']}", r["resourcePlural"]) for r in RESOURCES
    ]

    assert got == [(kind.api_version, kind.plural) for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_path_is_in_the_definition(kind: Kind) -> None:
    wrong = [(path, found.get("type")) for path, found, types in read(kind) if found.get("type") not in types]

    assert wrong == []


def test_metrics_of_a_kind_belong_to_a_kind() -> None:
    assert state_metrics._OF_A_KIND.keys() <= {kind.kind for kind in KINDS}


def test_states_are_those_of_the_definition() -> None:
    for resource in RESOURCES:
        for metric in resource["metrics"]:
            if (states := metric["each"].get("stateSet")) is not None:
                (kind,) = [k for k in KINDS if k.kind == resource["groupVersionKind"]["kind"]]
                field = at(at(schema(kind), states["path"])["items"], states["valueFrom"])
                assert states["list"] == field["enum"]


def test_the_role_reads_every_kind_and_definitions_and_writes_nothing() -> None:
    rules = state_metrics.cluster_role()["rules"]
    read = {(group, plural) for rule in rules for group in rule["apiGroups"] for plural in rule["resources"]}

    assert read == {
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        *((kind.group, kind.plural) for kind in KINDS),
    }
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list", "watch"}
    assert state_metrics.helm_values()["rbac"]["extraRules"] == rules
