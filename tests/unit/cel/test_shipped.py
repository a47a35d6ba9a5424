"""Every rule of our definitions and every readiness query that we compose compiles here, and can be evaluated."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from function import cel
from function.manifests import definitions, gateway, routing, workloads
from function.vocabulary import names

ROOT = Path(__file__).parents[3]
READ_STATUS = {
    "has an address": (gateway.HAS_ADDRESS, {"addresses": [{"value": "10.0.0.1"}]}, {"addresses": []}),
    "is accepted": (gateway.IS_ACCEPTED, {"conditions": [{"type": "Accepted", "status": "True"}]}, {"conditions": []}),
    "is established": (
        definitions.IS_ESTABLISHED,
        {"conditions": [{"type": "Established", "status": "True"}]},
        {"conditions": [{"type": "Established", "status": "False"}]},
    ),
    "a Deployment is done": (
        workloads.DEPLOYMENT_DONE,
        {"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 2, "replicas": 2},
        {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 2, "replicas": 2},
    ),
    "a LeaderWorkerSet is done": (
        workloads.LEADERWORKERSET_DONE,
        {"conditions": [{"type": "Available", "status": "True"}], "updatedReplicas": 2, "readyReplicas": 2},
        {"conditions": [{"type": "Available", "status": "True"}], "updatedReplicas": 2, "readyReplicas": 1},
    ),
    "a route is accepted": (
        routing.accepted_by(gateway=names.CLUSTER_GATEWAY),
        {"parents": [{"parentRef": {"name": names.CLUSTER_GATEWAY}, "conditions": [
            {"type": type_, "status": "True", "observedGeneration": 2} for type_ in ("Accepted", "ResolvedRefs")
        ]}]},
        {"parents": [{"parentRef": {"name": "other"}, "conditions": []}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("query", "done", "undone"), READ_STATUS.values(), ids=list(READ_STATUS))
def test_a_query_tells_an_object_that_is_ready_from_one_that_is_not(query, done, undone):
    bare = {"metadata": {"generation": 2}, "spec": {"replicas": 2}}
    got = [cel.query(query).evaluate(object=bare | more) for more in ({"status": done}, {"status": undone}, {})]
    assert got == [True, False, False]


@pytest.mark.slow
def test_every_query_that_is_composed_is_false_of_an_object_that_no_controller_has_seen():
    composed = [o for path in sorted((ROOT / "tests" / "golden").rglob("*.yaml")) for o in _objects(path)]
    judged = {text: cel.query(text).evaluate(object=manifest) for o in composed for text, manifest in _query(o)}
    assert judged
    assert judged == dict.fromkeys(judged, False)


def _rules() -> Iterator[tuple[str, dict[str, Any], str]]:
    for path in sorted((ROOT / "xrds").glob("*.yaml")):
        for schema in _ruled(yaml.safe_load(path.read_text())):
            for rule in schema["x-kubernetes-validations"]:
                yield path.stem, schema, rule["rule"]


@pytest.mark.slow
def test_every_rule_of_the_definitions_can_be_evaluated_on_the_smallest_and_the_largest_object():
    rules = list(_rules())
    got = {
        (kind, text): tuple(type(cel.rule(text).evaluate(self=sample, oldSelf=sample)) for sample in _samples(schema))
        for kind, schema, text in rules
    }
    assert rules
    assert set(got.values()) == {(bool, bool)}


@pytest.mark.slow
def test_a_rule_about_a_change_allows_an_object_that_does_not_change():
    got = {
        text: cel.rule(text).evaluate(self=sample, oldSelf=sample)
        for _, schema, text in _rules()
        if "oldSelf" in text
        for sample in _samples(schema)
    }
    assert got
    assert set(got.values()) == {True}


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_text()
    for document in yaml.safe_load_all(text) if "celQuery" in text else ():
        if isinstance(document, dict):
            yield document


def _query(composed: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    spec = composed.get("spec") or {}
    text = (spec.get("readiness") or {}).get("celQuery") if isinstance(spec, dict) else None
    if text:
        manifest = spec["forProvider"]["manifest"]
        yield text, {**manifest, "metadata": {**manifest.get("metadata", {}), "generation": 1}}


def _ruled(node: Any) -> Iterator[dict[str, Any]]:
    """Schemas with rules."""
    if isinstance(node, dict):
        if isinstance(node.get("x-kubernetes-validations"), list):
            yield node
        for child in node.values():
            yield from _ruled(child)
    elif isinstance(node, list):
        for child in node:
            yield from _ruled(child)


def _samples(schema: dict[str, Any]) -> list[Any]:
    return [_sample(schema, full=False), _sample(schema, full=True)]


def _sample(schema: dict[str, Any], *, full: bool) -> Any:
    if "default" in schema:
        return schema["default"]
    match schema.get("type"):
        case "object":
            return _object(schema, full=full)
        case "array":
            return [_sample(schema["items"], full=full)] if full else []
        case "string":
            return schema.get("enum", ["a"])[0]
        case "boolean":
            return True
    return schema.get("minimum", 1)


def _object(schema: dict[str, Any], *, full: bool) -> dict[str, Any]:
    fields = schema.get("properties") or {}
    kept = {name for name in fields if full or name in schema.get("required", ()) or "default" in fields[name]}
    more = schema.get("additionalProperties")
    extra = {"key": _sample(more, full=full)} if full and isinstance(more, dict) else {}
    named = {"metadata": {"name": "default"}} if "spec" in fields else {}
    return named | {name: _sample(fields[name], full=full) for name in sorted(kept)} | extra
