"""Kubernetes' own autoscaler sizes a deployment through its scale subresource, by a metric from outside."""

from collections.abc import Iterator

import pytest

from tests.e2e import metrics, objects
from tests.e2e.kube import Object, says
from tests.e2e.metrics import Metrics
from tests.e2e.programs import Site
from tests.e2e.team import Team, identities
from tests.e2e.waiting import until

QUEUE = "requests_waiting"
EACH = 10  # requests that one replica may have waiting


@pytest.fixture
def queue(team: Team, site: Site) -> Iterator[Metrics]:
    with metrics.serving(team.api, site.pki) as served:
        yield served


def test_an_autoscaler_sizes_a_deployment(team: Team, queue: Metrics) -> None:
    """A longer queue brings replicas beside those that serve, a shorter one takes the surplus away."""
    queue.values[team.namespace, QUEUE] = EACH
    deployment = team.serving(replicas=1)
    first = identities(*team.replicas())
    scaler = autoscaler(deployment)
    team.api.apply(scaler)
    until(lambda: team.api.current(scaler), "the autoscaler to be active", holds=lambda it: says(it, "ScalingActive"))

    queue.values[team.namespace, QUEUE] = 3 * EACH
    await_size(team, deployment, 3)
    assert first < identities(*team.replicas())
    assert team.api.current(scaler)["status"]["currentReplicas"] in (1, 3)

    queue.values[team.namespace, QUEUE] = EACH
    await_size(team, deployment, 1)
    until(team.pods, "one pod to be left", holds=lambda seen: len(seen) == 1)
    assert len(team.endpoints()) == 1
    team.api.delete(scaler)


def await_size(team: Team, deployment: Object, replicas: int) -> None:
    """Wait until the autoscaler has set this size, and all of it serves."""
    until(
        lambda: team.api.current(deployment),
        f"spec.replicas to be {replicas}",
        holds=lambda seen: seen and seen["spec"]["replicas"] == replicas,
    )
    team.await_replicas(replicas)
    team.await_ready(objects.changed(deployment, "spec.replicas", replicas))


def autoscaler(deployment: Object) -> Object:
    """One that follows at once: by default it waits for five minutes before it takes away."""
    name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
    per_replica = {"type": "AverageValue", "averageValue": str(EACH)}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": objects.GROUP, "kind": "ModelDeployment", "name": name},
            "minReplicas": 1,
            "maxReplicas": 4,
            "metrics": [{"type": "External", "external": {"metric": {"name": QUEUE}, "target": per_replica}}],
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
        },
    }
