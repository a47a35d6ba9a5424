"""ModelDeployments and ModelReplicas that the API accepts or refuses, outside their templates."""

from __future__ import annotations

from typing import Any

from tests.support.samples import CONTAINER, DEPLOYMENT, REPLICA, edited

ENGINE = "spec.engines.0"
MEMBER = f"{ENGINE}.members.0"
GANG = "spec.engines.1"
AT_MEMBER = "spec.engines[0].members[0]"
TEMPLATE = f"{MEMBER}.template"
AT_TEMPLATE = f"{AT_MEMBER}.template"
PAIR = edited(DEPLOYMENT, "spec.serving.mode", "PrefillDecode")
STANDALONE = {"role": "Standalone", "template": {"spec": {"containers": [CONTAINER]}}}
ONE_OR_GANG = "spec.engines[0].members: an engine has one Standalone member, or exactly one Leader and one Worker"
PHASES = (
    "spec.engines: serving mode PrefillDecode needs exactly two engines, one of phase Prefill and one of phase Decode; "
    "without it no engine has a phase"
)


def phases(*which: str | None) -> list[dict[str, Any]]:
    engine = {key: value for key, value in DEPLOYMENT["spec"]["engines"][0].items() if key != "name"}
    return [{"name": f"e{i}", **engine, **({"phase": p} if p else {})} for i, p in enumerate(which)]


def member(role: str) -> dict[str, Any]:
    return {**DEPLOYMENT["spec"]["engines"][0]["members"][0], "role": role}


def subgroups(size: int, type_: str = "LeaderWorker") -> dict[str, Any]:
    """Settings of a gang of one leader and three workers."""
    return {"subGroupPolicy": {"subGroupPolicyType": type_, "subGroupSize": size}}


SUBGROUP_TOPOLOGY = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
AT_SETTINGS = "spec.engines[1].leaderWorkerSet"
SET_BY_OTHERS = "set by the controllers of the pods"
OURS = f'{AT_SETTINGS}.labels["modelplane.ai/cluster"]: is under modelplane.ai/, which Modelplane sets itself'
RESTARTS = "RecreateGroupOnPodRestart, RecreateGroupAfterStart, None"
UNEVEN = (
    f"{AT_SETTINGS}: subGroupSize must divide the number of workers, or, with subGroupPolicyType "
    "LeaderWorker, that of all pods"
)

GOOD = {
    "prefill and decode": edited(PAIR, "spec.engines", phases("Prefill", "Decode")),
    "decode and prefill": edited(PAIR, "spec.engines", phases("Decode", "Prefill")),
    "no replicas": edited(DEPLOYMENT, "spec.replicas", 0),
    "a whole double, as protobuf has them": edited(DEPLOYMENT, "spec.replicas", 2.0),
    "a field of a later version": edited(DEPLOYMENT, "spec.later", {"a": 1}),
    "a toleration of everything": edited(DEPLOYMENT, "spec.tolerations", [{"operator": "Exists"}]),
    "a worker that does not say how many": edited(DEPLOYMENT, f"{GANG}.members.1.worker"),
    "workers that serve": edited(DEPLOYMENT, f"{GANG}.members.1.worker", {"nodes": 3, "serves": True}),
    "a gang in one rack, in a queue": edited(
        DEPLOYMENT,
        f"{GANG}.leaderWorkerSet",
        {
            "labels": {"kueue.x-k8s.io/queue-name": "serving"},
            "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "topology.example.com/rack"},
            "startupPolicy": "LeaderReady",
            "restartPolicy": "RecreateGroupAfterStart",
            "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
        },
    ),
    "subgroups of all pods": edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", subgroups(2)),
    "subgroups of the workers": edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", subgroups(3)),
    "subgroups without the leader": edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", subgroups(3, "LeaderExcluded")),
    "a subgroup with a topology of its own": edited(
        DEPLOYMENT, f"{GANG}.leaderWorkerSet", {**subgroups(2), "annotations": {SUBGROUP_TOPOLOGY: "rack"}}
    ),
    "a replica without requests": edited(REPLICA, f"{MEMBER}.deviceRequests"),
}

BAD = {
    "an empty list of requests": (
        edited(REPLICA, f"{MEMBER}.deviceRequests", []),
        f"{AT_MEMBER}.deviceRequests: must have at least 1 item, not 0",
    ),
    "too many replicas": (
        edited(DEPLOYMENT, "spec.replicas", 101),
        "spec.replicas: must be a whole number from 0 to 100, not 101",
    ),
    "half a replica": (
        edited(DEPLOYMENT, "spec.replicas", 0.5),
        "spec.replicas: must be a whole number from 0 to 100, not 0.5",
    ),
    "a number as text": (
        edited(DEPLOYMENT, "spec.replicas", "2"),
        'spec.replicas: must be a whole number from 0 to 100, not "2"',
    ),
    "a truth for a number": (
        edited(DEPLOYMENT, "spec.replicas", True),
        "spec.replicas: must be a whole number from 0 to 100, not true",
    ),
    "no engines": (edited(DEPLOYMENT, "spec.engines"), "spec.engines: is required"),
    "an empty list of engines": (
        edited(DEPLOYMENT, "spec.engines", []),
        "spec.engines: must have at least 1 item, not 0",
    ),
    "nine engines": (
        edited(DEPLOYMENT, "spec.engines", phases(*[None] * 9)),
        "spec.engines: must have at most 8 items, not 9",
    ),
    "two engines of one name": (
        edited(DEPLOYMENT, f"{GANG}.name", "alone"),
        "spec.engines[1]: has the name of an item above it, alone; each needs its own",
    ),
    "an engine with capitals": (
        edited(DEPLOYMENT, f"{ENGINE}.name", "vLLM"),
        (
            "spec.engines[0].name: must be a DNS label: lower-case letters, digits and dashes, a letter or digit at "
            "both "
            'ends (1 to 63 characters), not "vLLM"'
        ),
    ),
    "an engine with a line end": (
        edited(DEPLOYMENT, f"{ENGINE}.name", "vllm\n"),
        (
            "spec.engines[0].name: must be a DNS label: lower-case letters, digits and dashes, a letter or digit at "
            "both "
            'ends (1 to 63 characters), not "vllm\\n"'
        ),
    ),
    "a role of one's own": (
        edited(DEPLOYMENT, f"{MEMBER}.role", "Primary"),
        f'{AT_MEMBER}.role: must be one of Standalone, Leader, Worker, not "Primary"',
    ),
    "an engine that is a list": (
        edited(DEPLOYMENT, ENGINE, [1]),
        "spec.engines[0]: must be a map of fields, not a list of 1 item",
    ),
    "a leader alone": (edited(DEPLOYMENT, f"{MEMBER}.role", "Leader"), ONE_OR_GANG),
    "two leaders": (edited(DEPLOYMENT, f"{ENGINE}.members", [member("Leader")] * 2), ONE_OR_GANG),
    "two workers": (edited(DEPLOYMENT, f"{ENGINE}.members", [member("Worker")] * 2), ONE_OR_GANG),
    "two that stand alone": (edited(DEPLOYMENT, f"{ENGINE}.members", [member("Standalone")] * 2), ONE_OR_GANG),
    "a leader alone in a replica": (edited(REPLICA, f"{MEMBER}.role", "Leader"), ONE_OR_GANG),
    "worker on a Standalone": (
        edited(DEPLOYMENT, f"{MEMBER}.worker", {"nodes": 2}),
        f"{AT_MEMBER}.worker: worker is only for a member with role Worker",
    ),
    "workers that serve sometimes": (
        edited(DEPLOYMENT, f"{GANG}.members.1.worker.serves", "yes"),
        'spec.engines[1].members[1].worker.serves: must be true or false, not "yes"',
    ),
    "LeaderWorkerSet settings of a Standalone": (
        edited(DEPLOYMENT, f"{ENGINE}.leaderWorkerSet", {}),
        "spec.engines[0].leaderWorkerSet: leaderWorkerSet is only for a gang: an engine with a Leader and a Worker",
    ),
    "subgroups of another number of pods": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", subgroups(5)),
        UNEVEN,
    ),
    "subgroups without the leader that are uneven": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", subgroups(2, "LeaderExcluded")),
        UNEVEN,
    ),
    "subgroups of no pod": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", subgroups(0)),
        f"{AT_SETTINGS}.subGroupPolicy.subGroupSize: must be a whole number from 1 to 64, not 0",
    ),
    "a restart policy of another time": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", {"restartPolicy": "Default"}),
        f'{AT_SETTINGS}.restartPolicy: must be one of {RESTARTS}, not "Default"',
    ),
    "a label of ours on a LeaderWorkerSet": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", {"labels": {"modelplane.ai/cluster": "x"}}),
        OURS,
    ),
    "a label of LeaderWorkerSet's own": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", {"labels": {"leaderworkerset.sigs.k8s.io/name": "x"}}),
        f"{AT_SETTINGS}.labels: labels under leaderworkerset.sigs.k8s.io/ and llm-d.ai/ are {SET_BY_OTHERS}",
    ),
    "an annotation of llm-d's": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", {"annotations": {"llm-d.ai/x": "x"}}),
        f"{AT_SETTINGS}.annotations: annotations under llm-d.ai/ are {SET_BY_OTHERS}",
    ),
    "a topology of no subgroup": (
        edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", {"annotations": {SUBGROUP_TOPOLOGY: "rack"}}),
        f"{AT_SETTINGS}.annotations: annotation {SUBGROUP_TOPOLOGY} needs a subGroupPolicy",
    ),
    "no nodeSelector": (
        edited(DEPLOYMENT, f"{ENGINE}.members", [STANDALONE]),
        "spec.engines[0].members: at least one member of an engine needs a nodeSelector",
    ),
    "a phase without PrefillDecode": (edited(DEPLOYMENT, f"{ENGINE}.phase", "Prefill"), PHASES),
    "PrefillDecode without phases": (PAIR, PHASES),
    "two that prefill": (edited(PAIR, "spec.engines", phases("Prefill", "Prefill")), PHASES),
    "a third engine": (edited(PAIR, "spec.engines", phases("Prefill", "Decode", None)), PHASES),
    "one replica engine that decodes": (edited(REPLICA, f"{ENGINE}.phase", "Decode"), PHASES),
    "no selectors": (
        edited(DEPLOYMENT, f"{MEMBER}.nodeSelector.devices.0.selectors", []),
        f"{AT_MEMBER}.nodeSelector.devices[0].selectors: must have at least 1 item, not 0",
    ),
    "an empty selector": (
        edited(DEPLOYMENT, f"{MEMBER}.nodeSelector.devices.0.selectors.0.cel", ""),
        f'{AT_MEMBER}.nodeSelector.devices[0].selectors[0].cel: must be 1 to 10240 characters, not ""',
    ),
    "a toleration of nothing": (
        edited(DEPLOYMENT, "spec.tolerations.0", {"value": "x"}),
        "spec.tolerations[0].operator: a toleration without a key tolerates everything, and needs operator Exists",
    ),
    "Exists with a value": (
        edited(DEPLOYMENT, "spec.tolerations.0.value", "x"),
        "spec.tolerations[0].value: a toleration with operator Exists has no value",
    ),
}
