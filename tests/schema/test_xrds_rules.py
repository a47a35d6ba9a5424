"""The CEL rules of the definitions, by our own engine: they break exactly where the models' predicates do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function import cel
from function.api.leader_worker_set import KEPT_POLICY
from function.publish import xrd
from function.publish.catalog import BY_KIND, KINDS
from function.schema import format_path, problems
from tests.support.admission import Broken, broken, without_nulls
from tests.support.api_cases import BAD, GOOD
from tests.support.samples import ALL, CLUSTER, DEPLOYMENT, GATEWAY, REPLICA, Object, edited


def _refused(xr: Object) -> set[str]:
    return {problem.code for problem in problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr)}


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_a_full_object_breaks_no_rule(xr: Object) -> None:
    assert broken(xr) == set()


def test_every_rule_compiles() -> None:
    texts = {rule for kind in KINDS for rule in _texts(xrd.schema(kind))}

    assert {text for text in texts if not isinstance(cel.rule(text), cel.Rule)} == set()


def _texts(schema: dict[str, Any]) -> Iterator[str]:
    yield from (rule["rule"] for rule in schema.get("x-kubernetes-validations", ()))
    below = (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties"))
    for child in below:
        yield from _texts(child) if child else ()


@pytest.mark.parametrize("xr", GOOD.values(), ids=GOOD)
def test_what_the_model_accepts_breaks_no_rule(xr: Object) -> None:
    assert broken(without_nulls(xr)) == set()


BREAKING = {name: xr for name, (xr, _) in BAD.items() if _refused(xr) == {"rule"}}


@pytest.mark.parametrize("xr", BREAKING.values(), ids=BREAKING)
def test_a_broken_rule_is_broken_for_the_model_and_for_the_api_server_in_the_same_words(xr: Object) -> None:
    kind = BY_KIND[xr["apiVersion"], xr["kind"]]

    ours = {(problem.field, problem.message) for problem in problems(kind.spec, xr)}
    assert broken(xr) == ours


KEYS = {name: xr for name, (xr, want) in BAD.items() if _refused(xr) == {"key"} and "item above" not in want}


@pytest.mark.parametrize("xr", KEYS.values(), ids=KEYS)
def test_a_key_that_the_model_refuses_breaks_a_rule(xr: Object) -> None:
    """A schema cannot say what the keys of a map look like."""
    kind = BY_KIND[xr["apiVersion"], xr["kind"]]
    [problem] = problems(kind.spec, xr)

    assert {field for field, _ in broken(xr)} == {format_path(problem.path[:-1])}


def test_there_is_one_gateway_to_the_api_server_as_well() -> None:
    assert broken(edited(GATEWAY, "metadata.name", "other")) == {
        ("metadata.name", "there is one InferenceGateway, named default")
    }


SETTINGS = "spec.engines.1.leaderWorkerSet"
SUBGROUPS = edited(DEPLOYMENT, SETTINGS, {"subGroupPolicy": {"subGroupSize": 2}})
KEPT = ("spec.engines[1].leaderWorkerSet", KEPT_POLICY.message)
CHANGES = {
    "a policy for subgroups that is added": (DEPLOYMENT, SUBGROUPS, KEPT),
    "a policy for subgroups that is removed": (SUBGROUPS, DEPLOYMENT, KEPT),
    "a policy for subgroups that is changed": (
        SUBGROUPS,
        edited(DEPLOYMENT, SETTINGS, {"subGroupPolicy": {"subGroupSize": 1}}),
        KEPT,
    ),
    "source": (
        CLUSTER,
        edited(CLUSTER, "spec.cluster", {"source": "Existing", "existing": {"secretRef": {"name": "a"}}}),
        ("spec.cluster.source", "a cluster keeps its source; make another InferenceCluster"),
    ),
    "region": (
        CLUSTER,
        edited(CLUSTER, "spec.cluster.eks.region", "eu-west-1"),
        ("spec.cluster.eks.region", "a cluster keeps its region; make another InferenceCluster"),
    ),
    "cluster": (
        REPLICA,
        edited(REPLICA, "spec.clusterName", "other"),
        ("spec.clusterName", "a replica stays on its cluster"),
    ),
}


@pytest.mark.parametrize(("old", "new", "want"), CHANGES.values(), ids=CHANGES)
def test_what_cannot_change_is_refused_when_it_changes(old: Object, new: Object, want: Broken) -> None:
    assert broken(new, old) == {want}


def test_other_settings_of_a_gang_can_change() -> None:
    assert broken(edited(SUBGROUPS, f"{SETTINGS}.restartPolicy", "None"), SUBGROUPS) == set()


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_no_change_breaks_no_rule_about_changes(xr: Object) -> None:
    assert broken(xr, xr) == set()
