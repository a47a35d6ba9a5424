"""A cluster that a cloud makes goes after the load balancer of its gateway, on the embedded control plane."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from function.clouds.vultr.facts import KUBERNETES, NODE_POOL
from function.core import condition, dig
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Change, Ref
from function.vocabulary import names, versions

CLASSES = Path(__file__).parents[2] / "examples/classes/vultr.yaml"
CLUSTER = Ref(versions.MODELPLANE, "InferenceCluster", "", "miami")
CONFIG = {
    "apiVersion": "vultr.m.upbound.io/v1beta1",
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"credentials": {"source": "InjectedIdentity"}},
}
SERVICE = Ref(versions.PROVIDER_KUBERNETES, "Object", names.SYSTEM_NAMESPACE, names.gateway_service("miami"))
GATEWAY = SERVICE._replace(name=names.remote_object("miami", "Gateway", names.SYSTEM_NAMESPACE, names.CLUSTER_GATEWAY))
LATEST = 24
"""Rounds. A cluster is ready before."""


def miami(**stack: Any) -> dict[str, Any]:
    spec = {
        "cluster": {"source": "Vultr", "vultr": {"region": "mia"}},
        "nodePools": [{"name": "h100", "className": "vultr-h100-8x"}],
        **({"servingStack": stack} if stack else {}),
    }
    return {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "metadata": {"name": "miami"}, "spec": spec}


def made(rounds: int = 0, seed: int | None = None) -> ControlPlane:
    """Some rounds after the cluster was asked for; at rest for 0."""
    control = ControlPlane(seed=seed)
    control.loop.load(
        [*(document for document in yaml.safe_load_all(CLASSES.read_text()) if document), CONFIG, miami()]
    )
    for _ in range(rounds):
        control.loop.round()
    if not rounds:
        control.loop.settle()
    return control


@cache
def at_rest() -> ControlPlane:
    return made()


@pytest.fixture
def control() -> ControlPlane:
    return at_rest().copied()


def clouds(control: ControlPlane) -> list[Any]:
    """What is there of the cloud."""
    return [m for kind in (KUBERNETES, NODE_POOL) for m in control.store.of_kind(kind.api_version, kind.kind)]


def holding(control: ControlPlane) -> list[str]:
    """The kinds of what the composite waits for."""
    usages = control.store.of_kind(versions.PROTECTION, "Usage")
    return sorted(m["spec"]["by"]["kind"] for m in usages if m["spec"]["of"]["kind"] == "VultrCluster")


def touched_first(changes: list[Change]) -> Ref | None:
    """What went first of the load balancer and of the cloud's resources, whose deletion begins with a timestamp."""
    for change in changes:
        is_clouds = change.ref.api_version == KUBERNETES.api_version and change.ref.kind != "ClusterProviderConfig"
        is_going = change.after is None or (is_clouds and "deletionTimestamp" in change.after["metadata"])
        if is_going and change.before is not None and (is_clouds or change.ref == SERVICE):
            return change.ref
    return None


def says(control: ControlPlane, type_: str = "ClusterReady") -> str:
    return str(dig(condition(control.store.get(CLUSTER) or {}, type_), "message"))


def test_the_cluster_waits_for_the_load_balancer(control: ControlPlane) -> None:
    changes = control.store.feed()
    control.store.delete(CLUSTER)
    control.loop.settle()

    assert touched_first(changes) == SERVICE
    assert (clouds(control), control.store.get(SERVICE), control.store.get(GATEWAY)) == ([], None, None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("rounds", range(1, LATEST))
def test_a_delete_at_any_time_leaves_nothing(rounds: int, seed: int | None) -> None:
    control = made(rounds, seed)
    had = control.store.get(SERVICE) is not None
    changes = control.store.feed()

    control.store.delete(CLUSTER)
    control.loop.settle()

    assert (clouds(control), control.store.get(SERVICE)) == ([], None)
    assert list(control.store.of_kind(versions.PROTECTION, "Usage")) == []
    assert not had or touched_first(changes) == SERVICE


def test_some_of_these_deletes_come_before_the_gateway_and_some_after() -> None:
    assert made(1).store.get(SERVICE) is None
    assert made(LATEST - 1).store.get(SERVICE) is not None


def test_the_usage_is_there_before_the_gateway() -> None:
    control = made(1)
    while control.store.get(SERVICE) is None:
        before = holding(control)
        control.loop.round()

    assert before == ["Object", "ServingStack"]


def test_a_gateway_that_is_switched_off_goes_and_holds_nothing_any_more(control: ControlPlane) -> None:
    assert holding(control) == ["Object", "ServingStack"]
    changes = control.store.feed()

    control.loop.replace(miami(components={"envoyGateway": {"enabled": False}, "aiGateway": {"enabled": False}}))
    control.loop.settle()

    gone = [change.ref for change in changes if change.after is None]
    usage = next(ref for ref in gone if ref.kind == "Usage" and is_of(changes, ref, "VultrCluster"))
    assert gone.index(GATEWAY) < gone.index(SERVICE) < gone.index(usage)
    assert holding(control) == ["ServingStack"]


def is_of(changes: list[Change], ref: Ref, kind: str) -> bool:
    return any(c.ref == ref and c.before is not None and c.before["spec"]["of"]["kind"] == kind for c in changes)


def test_while_the_cluster_does_not_answer_it_stays_until_its_objects_are_released(control: ControlPlane) -> None:
    control.faults.unreachable.add("miami")
    control.store.delete(CLUSTER)
    control.loop.settle()
    assert len(clouds(control)) == len(clouds(at_rest()))

    for ref in (GATEWAY, SERVICE):  # docs/clusters.md, "Delete a cluster that no longer answers"
        control.store.update(ref, release)
    control.loop.settle()

    assert clouds(control) == []


def release(manifest: dict[str, Any]) -> None:
    manifest["spec"]["managementPolicies"] = ["Observe", "Create", "Update", "LateInitialize"]


def test_a_cluster_that_others_lead_to_is_deleted_after_them() -> None:
    control = made(seed=0)
    edge = copy.deepcopy(miami())
    edge["metadata"]["name"] = "edge"
    edge["spec"]["cluster"] = {"source": "Existing", "existing": {"secretRef": {"name": "edge"}}}
    edge["spec"]["nodePools"][0]["name"] = "more"
    secret = {
        "apiVersion": versions.CORE,
        "kind": "Secret",
        "metadata": {"name": "edge", "namespace": names.SYSTEM_NAMESPACE},
        "data": {"kubeconfig": "c2VjcmV0"},
    }
    control.loop.load([edge, secret])
    control.loop.settle()
    control.clusters.redirect(names.provider_config("edge"), names.provider_config("miami"))
    control.loop.settle()

    control.store.delete(CLUSTER)
    control.loop.settle()
    assert clouds(control) != []
    assert says(control).endswith("to be deleted once InferenceCluster edge, which leads to it too, is deleted")

    changes = control.store.feed()
    control.store.delete(CLUSTER._replace(name="edge"))
    control.loop.settle()
    assert (clouds(control), control.store.get(CLUSTER), touched_first(changes)) == ([], None, SERVICE)
