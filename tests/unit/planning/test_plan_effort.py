"""A plan's work grows with the fleet, not with its square: counted, not timed."""

from __future__ import annotations

from function.fleet import clusters as published
from function.planning import stub_secrets
from function.planning.control_plane import ControlPlane
from function.sandbox.sealed import Sealed
from function.vocabulary import versions

GPU = {"name": "gpu", "claim": "DRA", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com"}
CLASS = {
    "apiVersion": versions.MODELPLANE,
    "kind": "InferenceClass",
    "metadata": {"name": "l4"},
    "spec": {"devices": [GPU]},
}


def cluster(i: int) -> dict[str, object]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": f"c{i}"},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": f"kubeconfig-{i}"}}},
            "nodePools": [{"name": "pool", "className": "l4", "nodeCount": 4}],
        },
    }


def deployment(i: int) -> dict[str, object]:
    asked = {"name": "gpu", "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}
    member = {
        "role": "Standalone",
        "nodeSelector": {"devices": [asked]},
        "template": {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}},
    }
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": f"d{i}", "namespace": "ml-team"},
        "spec": {"replicas": 1, "engines": [{"name": "e", "members": [member]}]},
    }


def clusters_read(size: int) -> int:
    """How often a cluster's status was read while as many deployments as clusters came to rest."""
    published.STATUSES.clear()
    before = published.STATUSES.made
    control = ControlPlane()
    fleet = [CLASS, *map(cluster, range(size)), *map(deployment, range(size))]
    control.loop.load([*fleet, *stub_secrets.objects(fleet)])
    control.loop.settle()
    return published.STATUSES.made - before


def test_no_deployment_reads_what_another_has_read() -> None:
    small, large = clusters_read(6), clusters_read(12)
    assert small > 0
    assert large <= 2 * small


def test_a_stored_object_tells_its_content() -> None:
    first, second = Sealed({"a": {"x": 1, "y": [True]}, "b": 1}), Sealed({"b": 2, "a": {"y": [True], "x": 1}})
    assert first.digest("a") == second.digest("a")
    assert first.digest("b") != second.digest("b")
    assert first.digest("a", "b") != second.digest("a", "b")
    assert Sealed({"a": True}).digest("a") != Sealed({"a": 1}).digest("a")
