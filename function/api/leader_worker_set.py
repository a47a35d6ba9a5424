"""Settings of the LeaderWorkerSet that runs a gang, with the names that LeaderWorkerSet gives them.

Only what Modelplane does not set itself: sizes, templates and the rollout strategy are its own. The rules are those of
LeaderWorkerSet's webhook (lws v0.10, pkg/webhooks/leaderworkerset_webhook.go), so that a replica is refused before
anything is written, and not by its cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from function import schema
from function.schema import Rule

LWS_DOMAIN = "leaderworkerset.sigs.k8s.io"
WORKLOAD_DOMAINS = (LWS_DOMAIN, "kueue.x-k8s.io", "scheduling.volcano.sh", "volcano.sh")
"""Domains of labels and annotations that are read from a LeaderWorkerSet: its own, and those of queues."""
_RESERVED_LABELS = (f"{LWS_DOMAIN}/", "llm-d.ai/")
"""Prefixes of labels that LeaderWorkerSet and llm-d set. Those of Modelplane are refused by the type of the field."""
_RESERVED_ANNOTATIONS = ("llm-d.ai/",)
"""LeaderWorkerSet reads annotations of its own domain, such as exclusive-topology."""
_SUBGROUP_TOPOLOGY = f"{LWS_DOMAIN}/subgroup-exclusive-topology"


class SubGroupPolicy(schema.Api):
    subGroupPolicyType: Literal["LeaderWorker", "LeaderExcluded"] = "LeaderWorker"
    """LeaderWorker: the leader is in the first subgroup. LeaderExcluded: it is in none."""
    subGroupSize: Annotated[int, schema.Whole(1, 64)]
    """Number of pods in a subgroup."""


class NetworkConfig(schema.Api):
    subdomainPolicy: Literal["Shared", "UniquePerReplica"]
    """Shared: all copies of the gang have one headless Service. UniquePerReplica: each copy has its own."""


def _without(keys: str, prefixes: Iterable[str]) -> str:
    """Return CEL for a map none of whose keys has one of the prefixes."""
    tests = " && ".join(f"!key.startsWith('{prefix}')" for prefix in prefixes)
    return f"!has(self.{keys}) || self.{keys}.all(key, {tests})"


def _reserved(keys: str, prefixes: tuple[str, ...]) -> Rule:
    return Rule(
        _without(keys, prefixes),
        f"{keys} under {' and '.join(prefixes)} are set by the controllers of the pods",
        lambda settings: not any(key.startswith(prefixes) for key in getattr(settings, keys)),
        at=keys,
    )


class LeaderWorkerSet(schema.Api):
    RULES = (
        _reserved("labels", _RESERVED_LABELS),
        _reserved("annotations", _RESERVED_ANNOTATIONS),
        Rule(
            f"has(self.subGroupPolicy) || !has(self.annotations) || !('{_SUBGROUP_TOPOLOGY}' in self.annotations)",
            f"annotation {_SUBGROUP_TOPOLOGY} needs a subGroupPolicy",
            lambda settings: settings.subGroupPolicy is not None or _SUBGROUP_TOPOLOGY not in settings.annotations,
            at="annotations",
        ),
    )

    labels: schema.Labels = Field(default_factory=dict)
    """Labels of the LeaderWorkerSet, such as kueue.x-k8s.io/queue-name. They are not labels of its pods."""
    annotations: schema.Annotations = Field(default_factory=dict)
    """Annotations of the LeaderWorkerSet, such as leaderworkerset.sigs.k8s.io/exclusive-topology."""
    startupPolicy: Literal["LeaderCreated", "LeaderReady"] | None = None
    """LeaderCreated, the default: all pods of a copy start at once. LeaderReady: the workers start once the leader is
    ready. Most engines' leader is ready only once its workers have joined, so they never start with LeaderReady."""
    restartPolicy: Literal["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"] | None = None
    """What happens to a copy if one of its pods restarts. RecreateGroupOnPodRestart, the default: all its pods are
    created anew. RecreateGroupAfterStart: the same, but only once all of them have started. None: nothing."""
    subGroupPolicy: SubGroupPolicy | None = None
    """Divides the pods of a copy into subgroups. Cannot be changed; give the engine another name instead."""
    networkConfig: NetworkConfig | None = None
    """The headless Service by which the pods find each other."""


def is_of_gang(engine: Any) -> bool:
    """Whether only a gang has settings of a LeaderWorkerSet."""
    return engine.leaderWorkerSet is None or len(engine.members) > 1


def divides(engine: Any) -> bool:
    """Whether the subgroups of a gang have equal sizes."""
    policy = engine.leaderWorkerSet.subGroupPolicy if engine.leaderWorkerSet else None
    workers = [member.worker.nodes if member.worker else 1 for member in engine.members if member.role == "Worker"]
    if policy is None or not workers:
        return True
    size, counts = int(policy.subGroupSize), [int(workers[0])]
    if policy.subGroupPolicyType == "LeaderWorker":
        counts.append(counts[0] + 1)
    return any(count % size == 0 for count in counts)


_POLICY = "self.leaderWorkerSet.subGroupPolicy"
_NO_POLICY = f"!has(self.leaderWorkerSet) || !has({_POLICY})"
_WORKERS = "(has(m.worker) ? m.worker.nodes : 1)"

GANG_RULES = (
    Rule(
        "!has(self.leaderWorkerSet) || self.members.size() == 2",
        "leaderWorkerSet is only for a gang: an engine with a Leader and a Worker",
        is_of_gang,
        at="leaderWorkerSet",
    ),
    Rule(
        f"{_NO_POLICY} || self.members.all(m, !has(m.role) || m.role != 'Worker'"
        f" || {_WORKERS} % {_POLICY}.subGroupSize == 0"
        f" || ({_POLICY}.subGroupPolicyType == 'LeaderWorker' && ({_WORKERS} + 1) % {_POLICY}.subGroupSize == 0))",
        "subGroupSize must divide the number of workers, or, with subGroupPolicyType LeaderWorker, that of all pods",
        divides,
        at="leaderWorkerSet",
    ),
)
"""Rules of an engine."""
KEPT_POLICY = Rule(
    f"{_NO_POLICY} ? (!has(oldSelf.leaderWorkerSet) || !has(oldSelf.leaderWorkerSet.subGroupPolicy))"
    f" : has(oldSelf.leaderWorkerSet) && has(oldSelf.leaderWorkerSet.subGroupPolicy)"
    f" && {_POLICY} == oldSelf.leaderWorkerSet.subGroupPolicy",
    "subGroupPolicy cannot be added, changed or removed, because LeaderWorkerSet refuses it; give the engine another "
    "name",
    None,
    at="leaderWorkerSet",
)


def is_of_workload(key: str) -> bool:
    """Whether a label or an annotation is read from a LeaderWorkerSet."""
    domain, slash, _ = key.partition("/")
    return bool(slash) and domain in WORKLOAD_DOMAINS


def is_set_by_controller(field: str, key: str) -> bool:
    """Whether a label or an annotation of a LeaderWorkerSet, as `field` tells, is set by a controller."""
    return key.startswith(_RESERVED_LABELS if field == "labels" else _RESERVED_ANNOTATIONS)
