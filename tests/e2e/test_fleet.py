"""Classes and clusters, as a platform engineer brings them along."""

from tests.e2e import fleet, objects
from tests.e2e.control import Control
from tests.e2e.kube import condition, says


def test_an_existing_cluster_is_reached_and_published(published: Control) -> None:
    """Its kubeconfig is used, its Gateway is seen, and its pools are offered with the devices of their class.

    There is nothing here to install charts from, so its serving stack is switched off; the Gateway is what counts.
    """
    found = published.api.current(objects.cluster(fleet.WEST))

    assert condition(found, "ClusterReady")["message"] == "10 nodes, pools: west-l4, west-h100"
    assert says(found, "Ready")
    assert condition(found, "BackendReady")["reason"] == "BackendHealthy"
    assert found["status"]["gateway"] == {"address": "198.18.0.2"}
    assert [(pool["name"], pool["nodes"]) for pool in found["status"]["gpuPools"]] == [("west-l4", 6), ("west-h100", 4)]


def test_the_columns_of_a_cluster_are_filled(published: Control) -> None:
    """`kubectl get` shows where a cluster comes from, how many nodes it has, and its gateway."""
    header, *rows = published.kubectl("get", "inferenceclusters").splitlines()

    assert header.split()[:4] == ["NAME", "SOURCE", "NODES", "GATEWAY"]
    assert ["west", "Existing", "10", "198.18.0.2"] in [row.split()[:4] for row in rows]
