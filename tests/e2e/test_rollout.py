"""How an edit reaches the replicas of a deployment: one after the other, and no further than the first that fails."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e import objects
from tests.e2e.kube import Object, Refused, says
from tests.e2e.objects import changed
from tests.e2e.team import Team, identities
from tests.e2e.waiting import always, until

IMAGE = "spec.engines.0.members.0.template.spec.containers.0.image"
OLD = "vllm/vllm-openai:v0.23.0"
NEW = "vllm/vllm-openai:v0.24.0"
BAD = "vllm/vllm-openai:unsigned"
STUCK = ([BAD, OLD], [OLD])
MENDED = ([NEW], [NEW])
UNSIGNED = "the image is not signed"
POLICY = "admissionregistration.k8s.io/v1"
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]


@pytest.fixture
def strict(team: Team) -> Iterator[Team]:
    """A tenant on whose inference cluster no pod of the bad image may run."""
    policy = image_policy(team.namespace)
    team.cluster.apply(objects.namespace(team.namespace), *policy)
    until(lambda: admits(team, BAD), "the policy to be enforced", holds=lambda admitted: not admitted)
    yield team
    for one in policy:
        team.cluster.delete(one)


def test_a_new_image_reaches_one_replica_after_the_other(team: Team) -> None:
    """While the first changes the second serves on as it was, and both keep their places.

    An endpoint follows serving: a replica of one copy has none between its old pod and its new one.
    """
    deployment = team.serving(replicas=2)
    before = identities(*team.replicas(), *team.workloads())

    edited = changed(deployment, IMAGE, NEW)
    team.api.apply(edited)
    seen: list[tuple[list[str], int]] = []
    until(lambda: look(team, seen), "both replicas to run the new image", holds=lambda now: now == ([NEW, NEW], 2))
    team.await_ready(edited)
    steps = [[OLD, OLD], [OLD, NEW], [NEW, NEW]]
    found = deduplicated(images for images, _ in seen)
    assert found == [step for step in steps if step in found]  # on a slow machine one may pass between two looks
    assert min(available for _, available in seen) >= 1
    assert identities(*team.replicas(), *team.workloads()) == before
    await_endpoints(team)


def test_a_bad_image_stops_at_the_first_replica(strict: Team) -> None:
    """The other serves on under its endpoint, the deployment says whom it waits for, and a good image completes it."""
    team = strict
    deployment = team.serving(replicas=2)

    team.api.apply(changed(deployment, IMAGE, BAD))
    until(lambda: images(team), "one replica to get the image", holds=lambda seen: seen == [BAD, OLD])
    said = team.await_condition(deployment, "ReplicasReady", "RollingOut")
    [stuck] = [one for one in team.replicas() if image(one) == BAD]
    assert stuck["metadata"]["name"] in said["message"]
    until(lambda: running(team), "the pod of the old image to go", holds=lambda seen: seen == [OLD])
    always(
        lambda: (images(team), running(team)),
        "a bad image went on",
        holds=lambda seen: seen == ([BAD, OLD], [OLD]),
        seconds=8,
    )
    [sound] = [one for one in team.replicas() if image(one) == OLD]
    assert says(sound, "Ready")
    assert says(sound, "ModelReady")
    until(lambda: served(team), "the endpoint of the other to go", holds=lambda seen: seen == names([sound]))

    fixed = changed(deployment, IMAGE, NEW)
    team.api.apply(fixed)
    until(lambda: images(team), "both replicas to get the good image", holds=lambda seen: seen == [NEW, NEW])
    team.await_ready(fixed)
    until(lambda: running(team), "only pods of the good image to be left", holds=lambda seen: seen == [NEW, NEW])
    await_endpoints(team)


def test_scaling_a_stuck_rollout_costs_none_that_serves(strict: Team) -> None:
    """One replica tries the bad image, the same or another one, and the sound one keeps its pod until a good image
    serves in its place."""
    team = strict
    deployment = team.serving(replicas=2)
    bad = changed(deployment, IMAGE, BAD)
    team.api.apply(bad)
    until(lambda: (images(team), running(team)), "the rollout to be stuck", holds=lambda seen: seen == STUCK)
    [sound] = [one for one in team.replicas() if image(one) == OLD]
    pods = identities(*team.pods())

    for replicas in (1, 2, 1):
        team.api.apply(changed(bad, "spec.replicas", replicas))
        team.await_reconciled(bad)
        until(lambda: images(team), "those that try it", holds=lambda seen, n=replicas: seen == [BAD] * n + [OLD])
        until(lambda: served(team), "the sound one to serve alone", holds=lambda seen: seen == names([sound]))
        assert identities(*team.pods()) == pods

    fixed = changed(changed(deployment, IMAGE, NEW), "spec.replicas", 1)
    team.api.apply(fixed)
    until(lambda: (images(team), running(team)), "the good image to serve alone", holds=lambda seen: seen == MENDED)
    team.await_ready(fixed)
    assert served(team) == names(team.replicas())


def look(team: Team, history: list[tuple[list[str], int]]) -> tuple[list[str], int]:
    """The replicas' images, the old one first, and how many of their pods are Ready; all that was seen is kept."""
    ready = [one for one in team.pods() if says(one, "Ready") and "deletionTimestamp" not in one["metadata"]]
    history.append((images(team), len(ready)))
    return history[-1]


def images(team: Team) -> list[str]:
    return sorted(image(one) for one in team.replicas())


def image(replica: Object) -> str:
    return str(replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"])


def running(team: Team) -> list[str]:
    return sorted(one["spec"]["containers"][0]["image"] for one in team.pods())


def served(team: Team) -> list[str]:
    """The replicas that have an endpoint."""
    return names(team.endpoints())


def await_endpoints(team: Team) -> None:
    """An endpoint follows its replica's serving, a pass of the deployment later."""
    until(lambda: served(team) == names(team.replicas()), "every replica to have its endpoint")


def names(manifests: list[Object]) -> list[str]:
    return [one["metadata"]["name"] for one in manifests]


def deduplicated(values: Iterator[Any]) -> list[Any]:
    """Without what only repeats the value before."""
    kept: list[Any] = []
    for one in values:
        if kept[-1:] != [one]:
            kept.append(one)
    return kept


def image_policy(namespace: str) -> tuple[Object, Object]:
    """What an owner of a cluster sets up who wants signed images only, for one namespace."""
    name = f"signed-images-{namespace}"
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    validation = {
        "expression": f"object.spec.containers.all(c, c.image != '{BAD}')",
        "message": UNSIGNED,
    }
    return (
        {
            "apiVersion": POLICY,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {"matchConstraints": {"resourceRules": RULES}, "validations": [validation]},
        },
        {
            "apiVersion": POLICY,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": here},
        },
    )


def admits(team: Team, image: str) -> bool:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": team.namespace},
        "spec": {"containers": [{"name": "engine", "image": image}]},
    }
    try:
        team.cluster.create(pod, dryRun="All")
    except Refused as refused:
        return UNSIGNED not in str(refused)  # at first the namespace is not known everywhere
    return True
