"""Reads whether the autoscaler of a cluster failed to add nodes, and to which pool they would belong.

Three things tell it:

- The status of cluster-autoscaler, a ConfigMap: a node group whose scale-up is in Backoff. Since version 1.30 the
  status is YAML and has the cloud's message; before, it was text without one.
- Events of cluster-autoscaler about a pod that waits: the newest one tells that a scale-up failed.
- Events of Karpenter about a NodeClaim that found no capacity, while a pod waits for the pool.

A node group has the cloud's name, such as `eks-h100-0ac1…` or `…/gke-prod-h100-1f2e-grp`. It belongs to the pool whose
name it contains, or whose nodes have a label of the cloud with a name that it contains. The longest name decides; a
group that fits two pools equally belongs to neither. A pool is out of stock when all of its node groups are in Backoff:
a pool in three zones has three.

Sources: kubernetes/autoscaler, clusterstate/api/types.go and utils.go, core/scaleup, processors/status; karpenter v1,
nodeclaim/lifecycle/launch.go.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from function.core import dig, dig_list
from function.observe import wording
from function.observe.inventory import Snapshot
from function.observe.records import Event, Group, Key, Node, Pod
from function.observe.troubles import Stage
from function.vocabulary import labels

NAMESPACE, NAME, KEY = "kube-system", "cluster-autoscaler-status", "status"
SOURCE = "cluster-autoscaler"
"""Component of the autoscaler's events."""
_BACKOFF = "Backoff"
_SCALE_UPS = ("NotTriggerScaleUp", "TriggeredScaleUp", "FailedScaleUp")
_IN_BACKOFF = "in backoff after failed scale-up"
_MOST_MESSAGE = 256
_MOST_STATUS = 1024 * 1024
_MOST_GROUPS = 1000
_NODE_LABELS = (
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
"""Labels of nodes with the cloud's name of their node group."""
_SHORTEST = 2
_DEFAULT = "the autoscaler is in backoff after a failed scale-up"


def groups(config_map: Any) -> tuple[Group, ...] | None:
    """The node groups in the autoscaler's status; None if the object is not its status."""
    if dig(config_map, "metadata", "name") != NAME or dig(config_map, "metadata", "namespace") != NAMESPACE:
        return None
    text = dig(config_map, "data", KEY)
    if not isinstance(text, str) or len(text) > _MOST_STATUS:
        return ()
    if text.startswith("Cluster-autoscaler status at"):
        return tuple(_of_text(text))[:_MOST_GROUPS]
    try:
        status = yaml.load(text, Loader=_Loader)  # noqa: S506  (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    return tuple(_of_yaml(status))[:_MOST_GROUPS]


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """Without aliases: a short text can be an endless value."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("the autoscaler's status has no aliases")
        return super().compose_node(parent, index)


def _of_yaml(status: Any) -> Iterator[Group]:
    for group in dig_list(status, "nodeGroups"):
        name = dig(group, "name")
        if isinstance(name, str) and name:
            is_failed = dig(group, "scaleUp", "status") == _BACKOFF
            info = dig(group, "scaleUp", "backoffInfo")
            told = [
                text for field in ("errorCode", "errorMessage") if isinstance(text := dig(info, field), str) and text
            ]
            yield Group(name, (_clean(": ".join(told)) or _DEFAULT) if is_failed else "")


def _of_text(text: str) -> Iterator[Group]:
    """The groups of the old format: lines `Name:` and `ScaleUp:` below `NodeGroups:`."""
    name = ""
    for line in text.partition("NodeGroups:")[2].splitlines():
        key, _, value = line.strip().partition(":")
        if key == "Name":
            name = value.strip()
        elif key == "ScaleUp" and name:
            yield Group(name, _DEFAULT if value.strip().startswith(_BACKOFF) else "")
            name = ""


_INSTANCE = re.compile(r"\b([Ii]nstances?) (?:'[^']*'|\"[^\"]*\")")


def _clean(message: str) -> str:
    """A message without the names of instances, which change from attempt to attempt."""
    return wording.clean(_INSTANCE.sub(r"\1", message[:_MOST_STATUS]), _MOST_MESSAGE)


# Pools


def out_of_stock(snapshot: Snapshot, pools: Iterable[str]) -> dict[str, str]:
    """The pools that the autoscaler failed to scale up, each with its message."""
    names = sorted(set(pools))
    words = _words(names, snapshot.nodes)
    found = dict(_by_events(snapshot, words))
    found.update(_by_groups(snapshot.autoscaler, words))
    return {pool: found[pool] for pool in names if pool in found}


def _words(pools: Iterable[str], nodes: Iterable[Node]) -> Mapping[str, frozenset[str]]:
    """What may name a pool: its own name, and those of the node groups of its nodes."""
    words: dict[str, set[str]] = {pool: {pool.lower()} for pool in pools}
    for node in nodes:
        pool = node.labels.get(labels.POOL)
        if pool in words:
            words[pool] |= {node.labels[label].lower() for label in _NODE_LABELS if node.labels.get(label)}
    return {pool: frozenset(known) for pool, known in words.items()}


def _pool(group: str, words: Mapping[str, frozenset[str]]) -> str | None:
    """The pool of a node group."""
    name = group.rpartition("/instanceGroups/")[2].lower()
    fits = [
        (len(word), pool)
        for pool, known in words.items()
        for word in known
        if len(word) >= _SHORTEST and re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", name)
    ]
    longest = max((length for length, _ in fits), default=0)
    pools = {pool for length, pool in fits if length == longest}
    return pools.pop() if len(pools) == 1 else None


def _by_groups(groups_: Iterable[Group], words: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    members: dict[str, list[Group]] = defaultdict(list)
    for group in groups_:
        pool = _pool(group.name, words)
        if pool:
            members[pool].append(group)
    for pool, those in members.items():
        if all(group.failure for group in those):
            yield pool, min(group.failure for group in those)


def _by_events(snapshot: Snapshot, words: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    about, claims = _of_pods(snapshot.events), dict(_of_claims(snapshot.events, words))
    for pool in sorted(words):
        waiting = [pod for pod in snapshot.pods if pod.pool == pool and _waits(pod)]
        told = [message for pod in waiting if (message := _failure(about.get(pod.key, ())))]
        if waiting and pool in claims:
            told.append(claims[pool])
        if told:
            yield pool, min(told)


def _waits(pod: Pod) -> bool:
    return pod.trouble is not None and pod.trouble.stage is Stage.UNSCHEDULED


def _of_pods(events: Iterable[Event]) -> Mapping[Key, list[Event]]:
    about: dict[Key, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "Pod" and event.reason in _SCALE_UPS:
            about[event.key].append(event)
    return about


def _of_claims(events: Iterable[Event], words: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    """Pools for which Karpenter found no capacity. Its NodeClaims are named after their NodePool."""
    for event in sorted(events, key=lambda event: (event.at, event.message)):
        pool = _pool(event.key[1], words) if event.reason == "InsufficientCapacityError" else None
        if pool:
            yield pool, _clean(event.message.partition(" event: ")[2] or event.message)


def _failure(events: Iterable[Event]) -> str:
    """What the newest event of the autoscaler about a pod tells of a failed scale-up."""
    newest = max(events, key=lambda event: (event.at, event.reason, event.message), default=None)
    if newest is None or newest.reason == "TriggeredScaleUp":
        return ""
    if newest.reason == "NotTriggerScaleUp":
        return _DEFAULT if _IN_BACKOFF in newest.message else ""
    return _clean(newest.message)
