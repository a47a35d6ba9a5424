"""What a deployment's engine says reaches the replica: every field, also one that is added tomorrow."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import pytest
from pydantic import create_model

from function import schema
from function.api import modeldeployment, modelreplica
from function.api.engine import DeviceRequestShape, EngineShape, MemberShape
from function.kinds.modeldeployment import rendering
from function.kinds.modeldeployment.decide import spec_hash
from function.scheduling import Engine, Fit, Offer, PlacedEngine, PlacedMember
from function.scheduling.fit import Option, Waste

TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "vllm"}]}}
DEVICES = [{"name": "gpu", "count": 2, "selectors": [{"cel": "true"}]}]
LEADER = {"role": "Leader", "nodeSelector": {"devices": DEVICES}, "template": TEMPLATE}
WORKER = {"role": "Worker", "worker": {"nodes": 3, "serves": True}, "template": TEMPLATE}
SETTINGS = {
    "labels": {"kueue.x-k8s.io/queue-name": "serving"},
    "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"},
    "startupPolicy": "LeaderReady",
    "restartPolicy": "None",
    "subGroupPolicy": {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 3},
    "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
}
ENGINE = {
    "name": "e",
    "copies": 2,
    "phase": "Decode",
    "runtime": "vLLM",
    "leaderWorkerSet": SETTINGS,
    "members": [LEADER, WORKER],
}
SPEC: dict[str, Any] = {
    "modelCacheRef": {"name": "weights"},
    "serving": {"mode": "PrefillDecode"},
    "engines": [ENGINE, {**ENGINE, "name": "f", "phase": "Prefill"}],
}
"""Says something other than the default of every field that a replica takes over."""

PAIRS = [
    (modeldeployment.Engine, modelreplica.Engine, EngineShape, {"members"}),
    (modeldeployment.Member, modelreplica.Member, MemberShape, {"nodeSelector"}),
    (modeldeployment.DeviceRequest, modelreplica.DeviceRequest, DeviceRequestShape, {"selectors"}),
]
"""The deployment's, the replica's, what they share, and what the overlay replaces or both have with other bounds."""


def rendered(spec: modeldeployment.Spec, shared: Container[str] = ()) -> dict[str, Any]:
    offers = (Offer(classes=("gpu.example.com",), memory=0, spare=0), Offer(classes=(), memory=0, spare=0))
    members = (PlacedMember("Leader", 1, "p", claims=True), PlacedMember("Worker", 3, "p", claims=False))
    placed = [PlacedEngine(engine.name, engine.copies, members) for engine in spec.engines]
    option = Option(pools=(0, 0), offers=offers, nodes=((0, 1),), waste=Waste())
    fit = Fit(tuple((Engine(engine.name, engine.copies, ()), option) for engine in spec.engines), Waste())
    return rendering.spec(spec, "berlin", placed, fit, shared=shared)


def test_a_replica_takes_over_all_but_what_its_placement_replaces() -> None:
    request = {**DEVICES[0], "deviceClassName": "gpu.example.com"}
    leader = {"role": "Leader", "nodePoolName": "p", "deviceRequests": [request], "template": TEMPLATE}
    engine = {**ENGINE, "members": [leader, {**WORKER, "nodePoolName": "p"}]}
    assert rendered(modeldeployment.Spec.model_validate(SPEC)) == {
        **SPEC,
        "clusterName": "berlin",
        "engines": [engine, {**engine, "name": "f", "phase": "Prefill"}],
    }


def test_members_on_shared_nodes_say_so() -> None:
    wanted = modeldeployment.Spec.model_validate(SPEC)
    members = [m for engine in rendered(wanted, {"p"})["engines"] for m in engine["members"]]
    assert [m.pop("nodeSharing") for m in members] == ["Devices"] * 4
    assert members == [m for engine in rendered(wanted, {"other"})["engines"] for m in engine["members"]]


def test_a_replica_has_its_spec_whether_nodes_are_shared_or_not() -> None:
    """Switching the sharing of a pool rolls nothing."""
    wanted = modeldeployment.Spec.model_validate(SPEC)
    shared, whole = rendered(wanted, {"p"}), rendered(wanted)
    assert rendering.has_spec({"spec": shared}, whole)
    assert rendering.has_spec({"spec": whole}, shared)
    assert not rendering.has_spec({"spec": {**whole, "clusterName": "paris"}}, shared)


@pytest.mark.parametrize(
    ("wanted", "placed", "shared", "replaced"), PAIRS, ids=lambda value: getattr(value, "__name__", "")
)
def test_every_field_is_shared_or_replaced_by_the_placement(
    wanted: type[schema.Api], placed: type[schema.Api], shared: type[schema.Api], replaced: set[str]
) -> None:
    """A field of the deployment's engine alone would be refused by the replica's API, or dropped."""
    assert wanted.model_fields.keys() - shared.model_fields.keys() == replaced
    assert shared.model_fields.keys() <= placed.model_fields.keys()


@pytest.mark.parametrize(("base", "sample"), [(EngineShape, ENGINE), (MemberShape, LEADER | WORKER)])
def test_the_sample_has_every_field_that_is_shared(base: type[schema.Api], sample: dict[str, Any]) -> None:
    assert base.model_fields.keys() <= sample.keys(), "say something other than the default of the new field as well"


def test_the_fields_of_the_spec_that_replicas_have() -> None:
    assert rendering.MADE_OF == {"modelCacheRef", "serving", "engines"} == SPEC.keys()


def test_a_field_that_is_added_reaches_the_replica_and_its_hash() -> None:
    engine = create_model("Engine", __base__=modeldeployment.Engine, flavour=(str, "plain"))
    wider = create_model("Spec", __base__=modeldeployment.Spec, engines=(tuple[engine, ...], ...))
    flavoured = {**SPEC, "engines": [{**engine, "flavour": "vanilla"} for engine in SPEC["engines"]]}
    read = wider.model_validate(flavoured)
    assert [e["flavour"] for e in rendered(read)["engines"]] == ["vanilla", "vanilla"]
    assert (
        spec_hash(read) != spec_hash(wider.model_validate(SPEC)) == spec_hash(modeldeployment.Spec.model_validate(SPEC))
    )
