"""What the function declares, the observer reads; and what the observer writes of it, the function believes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from function.api import inferencecluster, servingstack
from function.core import Request, Result, dig, plain
from function.kinds.inferencecluster import capacity, compose
from function.kinds.inferencecluster.composer import COMPOSER
from function.kinds.inferencecluster.pools import PublishedPools
from function.observe import declaration, texts
from function.observe.inventory import Snapshot
from function.observe.stored import Stored
from function.sandbox.settle import settle
from function.vocabulary import labels, names
from function.vocabulary.observation import DECLARED_KEY, OBSERVED_KEY
from tests.support.cases import ROOT, load
from tests.support.observations import nodes, observation, pool

CASE = ROOT / "inferencecluster" / "observed-nodes-are-counted-in-the-status"


def composed(pool: dict[str, Any] | None = None, told: str | None = None) -> Result:
    """The answer for a cluster, whose pool can have more fields, and of which the observer can have told something."""
    request, objects = load(CASE)
    xr, observed = plain(request.xr), {key: plain(m) for key, m in request.observed.items()}
    xr["spec"]["nodePools"][0] |= pool or {}
    if told is not None:
        observed[capacity.OBSERVATION]["status"]["atProvider"]["manifest"]["data"] = {OBSERVED_KEY: told}
    return settle(COMPOSER, Request(xr=xr, observed=observed), objects)


def declared(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.resources[capacity.DECLARATION].manifest["spec"]["forProvider"]["manifest"]
    return found


POOLS: list[dict[str, Any]] = [
    {},
    {"nodeCount": 1, "maxNodeCount": 4},
    {"taints": [{"key": "team", "value": "ml", "effect": "NoSchedule"}]},
]


@pytest.mark.parametrize("pool", POOLS)
def test_what_is_declared_is_read_and_what_is_told_of_it_counts(pool: dict[str, Any]) -> None:
    manifest = declared(composed(pool))
    read = declaration.read(manifest)
    assert (read.cluster, set(read.pools)) == ("edge", {"l4"})
    assert len(read.pools["l4"].taints) == len(pool.get("taints", ()))

    there = Stored(manifest["metadata"]["name"], "u", labels.DECLARATION, "", read)
    (written,) = texts.wanted(Snapshot(), [there], (), names.SYSTEM_NAMESPACE)
    assert written["metadata"]["name"] == names.observed("edge")

    got = composed(pool, written["data"][OBSERVED_KEY])
    assert [c.reason for c in got.conditions][-2:] == ["Observed", "NothingObserved"]
    assert dig(got.status, "capacity", "pools") == [{"pool": "l4", "ready": 0}]


def test_an_observer_that_may_not_read_devices_is_not_believed() -> None:
    manifest = declared(composed())
    there = Stored(manifest["metadata"]["name"], "u", labels.DECLARATION, "", declaration.read(manifest))
    (written,) = texts.wanted(Snapshot(), [there], ("resourceslices",), names.SYSTEM_NAMESPACE)

    told = composed(told=written["data"][OBSERVED_KEY]).conditions[2]
    assert told.reason == "ObserverUnavailable"
    assert told.message == ("observed.json: the observer cannot read resourceslices; the declared capacity counts")


def test_termination_messages_are_declared_only_if_they_are_asked_for() -> None:
    request, objects = load(CASE)
    for asked in (None, False, True):
        xr = plain(request.xr)
        xr["spec"]["capacity"] = {"source": "Observed", **({} if asked is None else {"terminationMessages": asked})}
        got = settle(COMPOSER, replace(request, xr=xr), objects)
        assert json.loads(declared(got)["data"][DECLARED_KEY])["terminationMessages"] is bool(asked)


@pytest.mark.parametrize(("source", "deletes"), [("Existing", True), ("GKE", False)])
def test_a_declaration_is_deleted_by_itself_only_where_the_cluster_stays(source: str, *, deletes: bool) -> None:
    request, _ = load(CASE)
    spec = inferencecluster.parse(request.xr)
    spec = spec.model_copy(update={"cluster": spec.cluster.model_copy(update={"source": source})})
    found = capacity.resources(request, spec, PublishedPools(({"name": "l4", "devices": []},), (), ()))
    assert ("managementPolicies" not in found[capacity.DECLARATION].manifest["spec"]) is deletes

    declared_again = spec.model_copy(update={"capacity": None})
    observed = {capacity.DECLARATION: {**plain(request.observed[capacity.DECLARATION])}}
    observed[capacity.DECLARATION]["spec"] = found[capacity.DECLARATION].manifest["spec"]
    left = capacity.resources(replace(request, observed=observed), declared_again, PublishedPools((), (), ()))
    assert left.keys() == (set() if deletes else {capacity.DECLARATION})
    for one in left.values():
        assert "managementPolicies" not in one.manifest["spec"]
        observed[capacity.DECLARATION]["spec"] = one.manifest["spec"]
    assert capacity.resources(replace(request, observed=observed), declared_again, PublishedPools((), (), ())) == {}


def test_who_holds_what_changes_nothing_that_wakes_deployments() -> None:
    hashed = names.content_hash(json.loads(declared(composed())["data"][DECLARED_KEY])["pools"])
    records = [
        nodes("n1", devices={"d0": 1}),
        nodes("n1", devices={"d0": 1}, ours={"ml/a": {"d0": 1}}, pods={"ml/a": 1}),
        nodes("n2", devices={"d0": 1}, requested={"cpu": "3", "memory": "1Gi", "ephemeral-storage": "1Gi"}),
    ]
    told = [json.dumps(observation("edge", hashed, pools={"l4": pool(one)})) for one in records]

    got = [composed(told=text) for text in told]
    assert [c.reason for c in got[0].conditions][-2:] == ["Observed", "Matches"]
    assert got[1:] == got[:-1]


def test_a_stack_of_the_observer_alone_is_installed_and_nothing_waits_for_it() -> None:
    """The cluster brings all other components itself, and serves before the observer comes."""
    request, objects = load(CASE)
    xr, observed = plain(request.xr), {key: plain(m) for key, m in request.observed.items()}
    charts = [name for name in servingstack.Components.model_fields if name != "observer"]
    xr["spec"]["servingStack"] = {"components": {name: {"enabled": False} for name in charts}}
    del observed[compose.STACK]
    for told in ({"conditions": [], **xr.get("status", {})}, xr.get("status", {})):
        result = settle(COMPOSER, Request(xr={**xr, "status": told}, observed=observed), objects)
        assert dig(result.resources[compose.STACK].manifest, "spec", "observer", "enabled") is True
        assert result.ready
        assert result.status["serving"] is True
