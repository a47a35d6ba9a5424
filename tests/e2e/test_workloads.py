"""What a replica becomes on its inference cluster: real CRDs, real admission, a real scheduler with real claims."""

from collections import Counter
from typing import Any

from tests.e2e import objects
from tests.e2e.kube import Object, condition, says
from tests.e2e.objects import changed
from tests.e2e.team import Team, identities
from tests.e2e.test_conformance import pods, refusals
from tests.e2e.waiting import until

ADA = 'device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace"'
COPIES = "spec.engines.0.copies"
DEVICES = "spec.engines.0.members.0.nodeSelector.devices.0.count"
PAIR = {"mode": "PrefillDecode"}
CLAIM = ("resource.k8s.io/v1", "ResourceClaim")
CLAIM_TEMPLATE = ("resource.k8s.io/v1", "ResourceClaimTemplate")
LWS = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
POOL = ("inference.networking.k8s.io/v1", "InferencePool")
ROUTE = ("gateway.networking.k8s.io/v1", "HTTPRoute")
ROLE = "llm-d.ai/role"


def test_a_prefill_decode_pair_arrives_and_passes_the_clusters_validation(team: Team) -> None:
    """Each phase runs on the pool chosen for it, a picker chooses among their pods, a sidecar stands before decode."""
    prefill = objects.engine("prefill", objects.member(objects.HOPPER, count=8), phase="Prefill")
    decode = objects.engine("decode", objects.member(ADA), phase="Decode")
    team.deploy(replicas=1, serving=PAIR, engines=[prefill, decode])

    await_acceptance(team)
    await_pods(team, count=3)  # one of each phase, and the picker
    assert nodes_by_role(team) == {"prefill": ["west-h100"], "decode": ["west-l4"], None: ["system"]}
    assert devices(team) == [1, 8]
    assert containers(team, "decode") - containers(team, "prefill") == {"routing-sidecar"}
    [pool], [route] = team.cluster.list(*POOL, team.namespace), team.cluster.list(*ROUTE, team.namespace)
    served = [one for one in team.pods() if selects(pool, one)]
    assert sorted(one["metadata"]["labels"][ROLE] for one in served) == ["decode", "prefill"]
    [backend] = route["spec"]["rules"][0]["backendRefs"]
    assert (backend["kind"], backend["name"]) == ("InferencePool", pool["metadata"]["name"])
    [picker] = [one for one in team.cluster.list("v1", "Service", team.namespace) if refers(pool, one)]
    assert [selects_labels(picker["spec"]["selector"], one) for one in team.pods()].count(True) == 1


def test_gangs_arrive_as_a_prefill_decode_pair(team: Team) -> None:
    """Both phases are gangs on whole nodes of one pool; the pool selects their leaders and no worker."""
    engines = [gang(phase.lower(), phase=phase) for phase in ("Prefill", "Decode")]
    team.deploy(replicas=1, serving=PAIR, engines=engines)

    await_acceptance(team)
    await_pods(team, count=5)  # two of each phase, and the picker
    assert devices(team) == [8, 8, 8, 8]
    assert len({one["spec"]["nodeName"] for one in team.pods()}) == 5
    [pool] = team.cluster.list(*POOL, team.namespace)
    ranks = Counter(
        one["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"]
        for one in team.pods()
        if selects(pool, one)
    )
    assert ranks == {"0": 2}


def test_every_member_of_a_gang_passes_validation_as_a_pod(team: Team) -> None:
    """LeaderWorkerSet's CRD takes any pod template; the API server reads each as it would read the pod."""
    team.deploy(replicas=1, serving=PAIR, engines=[gang(one.lower(), phase=one) for one in ("Prefill", "Decode")])

    await_acceptance(team)
    gangs = team.cluster.list(*LWS, team.namespace)
    templates = [pod for one in gangs for pod in pods(one)]
    assert len(templates) == 4
    assert [refusal for one in templates for refusal in refusals(team.cluster, one)] == []


def test_more_copies_change_nothing_but_their_number(team: Team) -> None:
    """Pods, claims and templates that are there stay, and the workload's spec differs by its replicas alone."""
    deployment = team.serving(replicas=1, engines=[objects.engine("vllm", objects.member(objects.HOPPER), copies=1)])
    [before] = team.workloads()
    templates, running = team.cluster.list(*CLAIM_TEMPLATE, team.namespace), identities(*team.pods())

    more = changed(deployment, COPIES, 3)
    team.api.apply(more)
    await_pods(team, count=3)
    team.await_ready(more)
    [after] = team.workloads()
    assert after["spec"] == before["spec"] | {"replicas": 3}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert identities(*team.cluster.list(*CLAIM_TEMPLATE, team.namespace)) == identities(*templates)
    assert running < identities(*team.pods())


def test_a_changed_device_count_rolls_the_pods_of_a_full_pool(team: Team) -> None:
    """A claim template cannot be changed: another takes its place, pods roll without a free node, the old one goes."""
    whole = objects.engine("big", objects.member(objects.HOPPER, count=8), copies=4)
    deployment = team.serving(replicas=1, engines=[whole])
    [workload] = team.workloads()
    [template] = team.cluster.list(*CLAIM_TEMPLATE, team.namespace)
    assert devices(team) == [8, 8, 8, 8]

    half = changed(deployment, DEVICES, 4)
    team.api.apply(half)
    until(lambda: devices(team), "claims of half a node each", holds=lambda seen: seen == [4, 4, 4, 4])
    team.await_ready(half)
    assert identities(*team.workloads()) == {workload["metadata"]["uid"]}
    until(
        lambda: team.cluster.list(*CLAIM_TEMPLATE, team.namespace),
        "the old claim template to go",
        holds=lambda seen: len(seen) == 1 and identities(*seen) != identities(template),
    )


def gang(name: str, **more: Any) -> Object:
    """Two whole nodes."""
    leader = objects.member(objects.HOPPER, count=8, role="Leader")
    worker = objects.member(objects.HOPPER, count=8, role="Worker", worker={"nodes": 1})
    return objects.engine(name, leader, worker, **more)


def await_acceptance(team: Team) -> None:
    """Wait until all that the one replica became is on the cluster as it was written."""
    until(
        lambda: [condition(one, "ModelAccepted") for one in team.replicas()],
        "the replica to be accepted",
        holds=lambda seen: [one.get("status") for one in seen] == ["True"],
    )
    assert all(says(one, "Synced") for one in team.objects())


def await_pods(team: Team, count: int) -> None:
    """Wait until this many pods are there, all bound to nodes, and Ready."""
    until(team.pods, f"{count} Ready pods", holds=lambda seen: [says(one, "Ready") for one in seen] == [True] * count)


def nodes_by_role(team: Team) -> dict[str | None, list[str]]:
    """The pools of each phase's pods; the picker has no phase."""
    found: dict[str | None, list[str]] = {}
    for one in team.pods():
        role = one["metadata"]["labels"].get(ROLE)
        found.setdefault(role, []).append(one["spec"]["nodeName"].rpartition("-")[0])
    return found


def devices(team: Team) -> list[int]:
    """How many devices each claim was given; none for one that waits."""
    claims = team.cluster.list(*CLAIM, team.namespace)
    given = [dict(one.get("status", {})).get("allocation", {}).get("devices", {}) for one in claims]
    return sorted(len(one.get("results", [])) for one in given)


def containers(team: Team, role: str) -> set[str]:
    """Of a phase's pods, sidecars included."""
    specs = [one["spec"] for one in team.pods() if one["metadata"]["labels"].get(ROLE) == role]
    return {each["name"] for spec in specs for each in (*spec["containers"], *spec.get("initContainers", []))}


def selects(pool: Object, pod: Object) -> bool:
    return selects_labels(pool["spec"]["selector"]["matchLabels"], pod)


def selects_labels(selector: dict[str, str], pod: Object) -> bool:
    return selector.items() <= pod["metadata"]["labels"].items()


def refers(pool: Object, service: Object) -> bool:
    return bool(pool["spec"]["endpointPickerRef"]["name"] == service["metadata"]["name"])
