"""What a service reads, of specs that may be anything: requirements come from the XR alone, before it is parsed."""

from __future__ import annotations

from typing import Any

import pytest

from function.kinds.modelservice import inputs
from function.vocabulary import labels


def asked(endpoints: Any) -> list[str]:
    xr = {"metadata": {"name": "qwen", "namespace": "ml-team"}, "spec": {"endpoints": endpoints}}
    return [f"{r.name} {r.kind} {dict(r.match_labels)} {r.namespace}" for r in inputs.requirements(xr)[2:]]


def entry(**match: str) -> dict[str, Any]:
    return {"selector": {"matchLabels": match}}


def test_the_objects_of_a_deployment_are_asked_for_by_its_label() -> None:
    match = {labels.DEPLOYMENT: "qwen", "team": "search"}
    got = asked([entry(**match)])
    assert got == [
        f"endpoints-0 ModelEndpoint {match} ml-team",
        f"objects-0 Object {{'{labels.DEPLOYMENT}': 'qwen'}} ml-team",
    ]


def test_objects_are_asked_for_once() -> None:
    match = {labels.DEPLOYMENT: "qwen"}
    got = asked([entry(**match), entry(**match, team="a"), entry(**match, team="b")])
    assert [line for line in got if line.startswith("objects")] == [f"objects-0 Object {match} ml-team"]


def test_a_label_of_the_user_may_be_any_replicas() -> None:
    got = asked([entry(team="search"), entry(**{labels.DEPLOYMENT: "qwen"})])
    assert [line for line in got if line.startswith("objects")] == ["objects-0 Object {} ml-team"]


@pytest.mark.parametrize(
    "endpoints", [None, 7, "x", [7], [{}], [{"selector": 7}], [{"selector": {"matchLabels": {}}}], [entry(a=7)]]
)
def test_a_spec_that_selects_nothing_asks_for_no_endpoints(endpoints: Any) -> None:
    assert asked(endpoints) == []
