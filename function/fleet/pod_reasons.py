"""Reads why the pods of a namespace wait or fail, from the Object that brings back the observer's report.

The text is written on another cluster, so it is checked like the input of a stranger. What cannot be read counts as not
reported: a replica then says what the status of its workloads tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, dig, json_text, quote
from function.fleet.values import mappings, whole
from function.vocabulary.observation import MOST_MESSAGE, MOST_REASONS, REASONS_KEY, VERSION

_MOST_PODS = 4
"""Pods of one workload that are read."""
_LONGEST_NAME = 253


@dataclass(frozen=True, slots=True)
class PodReason:
    """Why one pod waits or fails, in the words of the kubelet or the scheduler."""

    pod: str
    reason: str
    """One word, such as Unschedulable or ImagePullBackOff."""
    message: str = ""
    node: str = ""
    container: str = ""
    exit_code: int | None = None
    signal: int | None = None
    terminated: str = ""
    """What a container wrote when it ended. It is reported only if the platform team wants it."""

    def __str__(self) -> str:
        where = f" on node {self.node}" if self.node else ""
        of = f" of container {self.container}" if self.container else ""
        ended = f" (exit code {self.exit_code})" if self.exit_code is not None else ""
        ended = f" (signal {self.signal})" if self.signal else ended
        said = f": {self.message}" if self.message else ""
        wrote = f'; it wrote "{self.terminated}"' if self.terminated else ""
        return f"pod {self.pod}{where}: {self.reason}{of}{ended}{said}{wrote}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The pods of one workload that do not run as they should."""

    count: int
    pods: tuple[PodReason, ...]
    """Some of them, at least one."""

    def __str__(self) -> str:
        more = f" and {self.count - 1} more" if self.count > 1 else ""
        return f"{self.pods[0]}{more}"


def read(found: Manifest | None) -> Mapping[str, Waiting]:
    """Return the pods that wait, by the name of their workload; none if nothing can be read."""
    text = dig(found, "status", "atProvider", "manifest", "data", REASONS_KEY)
    if not isinstance(text, str) or len(text.encode(errors="replace")) > MOST_REASONS:
        return {}
    report = json_text.parse(text)
    if dig(report, "version") != VERSION:
        return {}
    workloads = dig(report, "workloads")
    return _workloads(workloads) if isinstance(workloads, Mapping) else {}


def _workloads(workloads: Mapping[str, Any]) -> dict[str, Waiting]:
    found = {name: (whole(dig(of, "waiting")), _pods(dig(of, "pods"))) for name, of in workloads.items()}
    return {name: Waiting(max(count, len(pods)), pods) for name, (count, pods) in found.items() if pods}


def _pods(pods: Any) -> tuple[PodReason, ...]:
    found = (_pod(pod) for pod in list(mappings(pods))[:_MOST_PODS])
    return tuple(pod for pod in found if pod.reason)


def _pod(pod: Manifest) -> PodReason:
    exit_code, signal = pod.get("exitCode"), pod.get("signal")
    return PodReason(
        pod=_line(pod.get("name"), _LONGEST_NAME),
        reason=_line(pod.get("reason"), _LONGEST_NAME),
        message=_line(pod.get("message")),
        node=_line(pod.get("node"), _LONGEST_NAME),
        container=_line(pod.get("container"), _LONGEST_NAME),
        exit_code=exit_code if type(exit_code) is int else None,
        signal=signal if type(signal) is int else None,
        terminated=_line(pod.get("terminated")),
    )


def _line(text: Any, longest: int = MOST_MESSAGE) -> str:
    """Return a text as one line of printable characters; empty for anything else."""
    return quote(text)[:longest] if isinstance(text, str) else ""
