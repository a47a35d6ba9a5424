"""Replicas over their life, on the embedded control plane: what is on the cluster in the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from function.core import condition, is_ready
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import names, versions
from tests.support import replicas

FLEET = Path(__file__).parents[4] / "examples" / "tour"
CLUSTER, POOL = "starter", "l4"


def fleet() -> ControlPlane:
    control = ControlPlane()
    given = [d for file in ("classes.yaml", "clusters.yaml") for d in yaml.safe_load_all((FLEET / file).read_text())]
    control.loop.load([*given, *stubs.objects(given)])
    control.loop.settle()
    return control


def replica(*engines: Any, name: str = "qwen-1a2b3c4d", **spec: Any) -> Any:
    given = replicas.replica(*engines, name=name, clusterName=CLUSTER, **spec)
    for engine in given["spec"]["engines"]:
        for member in engine["members"]:
            member["nodePoolName"] = POOL
    return given


def on_cluster(control: ControlPlane) -> Counter[str]:
    there = control.clusters.things[names.provider_config(CLUSTER)]
    return Counter(ref.kind for ref, remote in there.items() if remote.owner and "ml" in (ref.namespace, ref.name))


def live(control: ControlPlane, name: str = "qwen-1a2b3c4d") -> Any:
    return control.store.get(Ref(versions.MODELPLANE, "ModelReplica", "ml", name))


def settled(control: ControlPlane, *manifests: Any) -> ControlPlane:
    for manifest in manifests:
        control.loop.replace(manifest)
    control.loop.settle()
    return control


ALONE = {"Namespace": 1, "Deployment": 1, "ResourceClaimTemplate": 1, "Service": 1, "HTTPRoute": 1}


def test_a_replica_comes_up() -> None:
    control = settled(fleet(), replica())
    assert on_cluster(control) == ALONE
    assert is_ready(live(control))
    assert live(control)["status"]["served"] is True


def test_a_changed_claim_leaves_nothing_behind() -> None:
    control = settled(fleet(), replica())
    more = {**replicas.GPU, "selectors": [{"cel": "true"}]}
    settled(control, replica(replicas.engine("qwen", replicas.member("Qwen/Qwen3-8B", claims=(more,)))))
    assert on_cluster(control) == ALONE
    assert is_ready(live(control))


def test_two_replicas_of_a_namespace_share_it_and_nothing_else() -> None:
    control = settled(fleet(), replica(), replica(name="mistral-5e6f7a8b"))
    assert control.clusters.shared == set()
    assert on_cluster(control) == {**dict.fromkeys(ALONE, 2), "Namespace": 1}


def test_the_end_of_a_replica_leaves_the_namespace() -> None:
    control = settled(fleet(), replica())
    control.store.delete(Ref(versions.MODELPLANE, "ModelReplica", "ml", "qwen-1a2b3c4d"))
    control.loop.settle()
    there = control.clusters.things[names.provider_config(CLUSTER)]
    assert [ref.name for ref in there if ref.namespace == "ml" or ref.name == "ml"] == ["ml"]


def test_prefill_and_decode_come_up_and_turn_back() -> None:
    control = settled(
        fleet(), replica(**replicas.split(prefill=replicas.member("m", claims=()), decode=replicas.member("m")))
    )
    assert is_ready(live(control)), live(control)["status"]
    assert on_cluster(control)["InferencePool"] == 1

    settled(control, replica())
    assert on_cluster(control) == ALONE
    assert is_ready(live(control))


def test_a_bad_image_stops_and_the_next_edit_goes_on() -> None:
    control = settled(fleet(), replica())
    control.faults.broken_images.add("broken:1")
    settled(control, replica(replicas.engine("qwen", replicas.member("m", image="broken:1"))))
    assert not is_ready(live(control))
    settled(control, replica())
    assert is_ready(live(control))
    assert on_cluster(control) == ALONE


@pytest.mark.parametrize("optional", [True, False])
def test_a_secret_that_comes_late_is_taken_up(optional: bool) -> None:
    reference = {"secretKeyRef": {"name": "hub", "key": "token", "optional": optional}}
    engine = replicas.engine("qwen", replicas.member("m", env=[{"name": "T", "valueFrom": reference}]))
    control = settled(fleet(), replica(engine))
    assert is_ready(live(control)) is optional
    settled(control, replicas.secret("hub", token="eA=="))
    assert is_ready(live(control)), condition(live(control), "ModelAccepted")
    assert on_cluster(control) == {**ALONE, "Secret": 1}
