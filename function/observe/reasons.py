"""Writes the pod reasons of a namespace: why pods of engines do not run.

One reason for each pod, the most telling one. What the pod's own status tells (`troubles`) comes first. Events complete
it where the status is silent: volumes that cannot be mounted, probes that fail, pods that cannot be made. An event
outlives its cause by an hour, so it counts only while the pod's stage fits.

A pod that is being deleted is no reason, and neither is one of which nothing is known but that it starts.

The text is stable and bounded: pods in the order of their reasons and names, so many workloads and pods, messages
shortened until all fits.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from function.observe import wording
from function.observe.inventory import Snapshot
from function.observe.records import Event, Key, Owner, Pod
from function.observe.troubles import Stage, Trouble
from function.vocabulary.observation import MOST_MESSAGE, MOST_REASONS, VERSION

_MOST_WORKLOADS = 32
_KILLED = (137, 143)
"""Exit codes of containers that the kubelet ends: SIGKILL and SIGTERM."""
_CREATION = ("FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox",
             "FailedPrepareDynamicResources", "NetworkNotReady")  # fmt: skip
_PROBE = "ProbeFailed"

Allows = Callable[[Pod], bool]
"""Whether texts that a pod's containers wrote may be told."""


def reasons(snapshot: Snapshot, allows: Allows = lambda _: False) -> dict[str, dict[str, Any]]:
    """The pod reasons by namespace, for all namespaces with engine pods."""
    news = _News(snapshot)
    waiting: dict[Key, int] = defaultdict(int)
    told: dict[Key, list[dict[str, Any]]] = defaultdict(list)
    over: dict[Key, list[dict[str, Any]]] = defaultdict(list)
    spaces = set[str]()
    for pod in sorted(snapshot.pods, key=lambda pod: pod.key):
        if not pod.workload:
            continue
        spaces.add(pod.key[0])
        if pod.trouble is None or (pod.is_leaving and not news.is_lost(pod)):
            continue
        workload = pod.key[0], pod.workload
        waiting[workload] += not pod.is_over
        reason = news.reason(pod, may_quote=allows(pod))
        if reason:
            (over if pod.is_over else told)[workload].append(reason)
    for owner, failure in news.failures():
        spaces.add(owner.key[0])
        told[owner.key[0], owner.workload].append(failure)
        waiting[owner.key[0], owner.workload] += 0
    workloads: dict[str, dict[str, Any]] = {space: {} for space in spaces}
    for (space, name), count in sorted(waiting.items()):
        if told[space, name] or (count and over[space, name]):
            pods = [*sorted(told[space, name], key=_order), *sorted(over[space, name], key=_order)]
            workloads[space][name] = {"waiting": count, "pods": pods}
    return {space: {**nothing(space), "workloads": found} for space, found in workloads.items()}


def nothing(space: str) -> dict[str, Any]:
    """The reasons of a namespace where no pod waits."""
    return {"version": VERSION, "namespace": space, "workloads": {}}


def _order(pod: Mapping[str, Any]) -> tuple[str, str]:
    return str(pod["reason"]), str(pod["name"])


class _News:
    """Events and owners by the objects that they are about."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._events: dict[tuple[str, Key], list[Event]] = defaultdict(list)
        for event in snapshot.events:
            self._events[event.kind, event.key].append(event)
        self._owners = sorted(snapshot.owners, key=lambda owner: (owner.key, owner.kind))
        self._lost = {node.name for node in snapshot.nodes if not node.is_ready}

    def is_lost(self, pod: Pod) -> bool:
        """Whether a pod is on a node that is not ready. Deleted there, it stays until the node is back."""
        return pod.node in self._lost and not pod.is_over

    def reason(self, pod: Pod, *, may_quote: bool) -> dict[str, Any] | None:
        """The reason of one pod; None where nothing tells."""
        trouble = pod.trouble
        assert trouble is not None
        if self.is_lost(pod):
            trouble = Trouble(Stage.WAITING, "NodeNotReady", f"node {pod.node} is not ready")
        else:
            trouble = self._completed(pod, trouble, may_quote=may_quote)
        return _entry(pod, trouble, may_quote=may_quote) if trouble.reason else None

    def _completed(self, pod: Pod, trouble: Trouble, *, may_quote: bool) -> Trouble:
        """A trouble with what events tell."""
        if trouble.stage is Stage.CREATING:
            event = self._newest(pod, lambda event: event.reason in _CREATION)
            if event:
                return Trouble(Stage.CREATING, event.reason, wording.clean(event.message))
        is_killed = trouble.stage is Stage.CRASHED and trouble.exit_code in _KILLED
        if trouble.stage is Stage.UNREADY or (is_killed and trouble.reason != "OOMKilled"):
            kinds = ("Liveness", "Startup") if is_killed else ("Readiness", "Liveness", "Startup")
            event = self._newest(pod, lambda event: _fails(event, trouble.container, kinds))
            if event:
                message = wording.clean(event.message) if may_quote else wording.probe(event.message)
                return Trouble(
                    trouble.stage,
                    _PROBE,
                    message,
                    trouble.container,
                    trouble.exit_code,
                    trouble.signal,
                    trouble.restarts,
                )
        return trouble

    def _newest(self, pod: Pod, holds: Callable[[Event], bool]) -> Event | None:
        about = self._events.get(("Pod", pod.key), ())
        found = [event for event in about if event.uid in ("", pod.uid) and holds(event)]
        return max(found, key=lambda event: (event.at, event.reason, event.message), default=None)

    def failures(self) -> Iterator[tuple[Owner, dict[str, Any]]]:
        """What cannot make its pods, and why: admission, a quota, a webhook."""
        for owner in self._owners:
            message = owner.failure
            if not message and owner.is_short and owner.kind != "ReplicaSet":
                about = self._events.get((owner.kind, owner.key), ())
                found = [event for event in about if event.reason == "FailedCreate"]
                message = max(found, key=lambda event: (event.at, event.message)).message if found else ""
            if message:
                yield owner, {"name": owner.key[1], "reason": "FailedCreate", "message": wording.clean(message)}


def _fails(event: Event, container: str, kinds: Iterable[str]) -> bool:
    is_of = event.container in ("", container)
    return event.reason == "Unhealthy" and is_of and wording.is_probe(event.message, *kinds)


def _entry(pod: Pod, trouble: Trouble, *, may_quote: bool) -> dict[str, Any]:
    return {
        "name": pod.key[1],
        **({"node": pod.node} if pod.node else {}),
        **({"container": trouble.container} if trouble.container else {}),
        "reason": trouble.reason,
        **({"message": trouble.message} if trouble.message else {}),
        **({"exitCode": trouble.exit_code} if trouble.exit_code is not None else {}),
        **({"signal": trouble.signal} if trouble.signal is not None else {}),
        **({"restarts": trouble.restarts} if trouble.restarts else {}),
        **({"terminated": trouble.terminated} if may_quote and trouble.terminated else {}),
    }


# Bounds


def text(found: Mapping[str, Any]) -> str:
    """The reasons of a namespace as JSON, within the bounds. Messages are shortened first, then pods are left out."""
    for pods, characters in ((4, MOST_MESSAGE), (4, 256), (4, 128), (2, 128), (1, 128), (1, 64), (0, 0)):
        shown = json.dumps(_bounded(found, pods, characters), sort_keys=True, separators=(",", ":"))
        if len(shown) <= MOST_REASONS:
            return shown
    return json.dumps({**found, "workloads": {}}, sort_keys=True, separators=(",", ":"))


def _bounded(found: Mapping[str, Any], pods: int, characters: int) -> dict[str, Any]:
    workloads = found["workloads"]
    kept = dict(sorted(workloads.items())[:_MOST_WORKLOADS])
    left_out = len(workloads) - len(kept)
    return {
        **found,
        "workloads": {
            name: {"waiting": one["waiting"], "pods": [_shortened(pod, characters) for pod in one["pods"][:pods]]}
            for name, one in kept.items()
        },
        **({"more": left_out} if left_out else {}),
    }


def _shortened(pod: Mapping[str, Any], characters: int) -> dict[str, Any]:
    texts = {key: wording.cut(pod[key], characters) for key in ("message", "terminated") if key in pod}
    return {**pod, **texts}
