"""Reads from a pod's status why it does not run.

Phases (`of`), the most telling first:

1. The pod has ended: it was evicted, or its node refused it.
2. It has no node: the scheduler's own message.
3. One of its containers waits, or ended: init containers first, since the others wait for them.
4. All containers run, and one is not ready.

A container that crashes again and again is Running, Terminated and CrashLoopBackOff by turns, and an image that cannot
be pulled is ErrImagePull and ImagePullBackOff by turns. Each pair is told as one reason, so that the text does not
change while nothing else does.

The kubelet's text and the container's are kept apart. A termination message, the output of a hook and of a probe are
the container's: engines print prompts and tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from function.core import condition, condition_true, dig, dig_list, redaction
from function.observe import wording

_MOST_CONTAINERS = 64
_MOST_REASON = 64
_READ = 256
_MOST_EXIT_CODE = 2**31
_CREATING = frozenset({"", "ContainerCreating", "PodInitializing"})
_PULLS = frozenset({"ErrImagePull", "ImagePullBackOff"})
_STARTS = frozenset({"StartError", "ContainerCannotRun", "RunContainerError"})
"""Reasons with a message of the container runtime: the container has not run."""
_HOOK = "PostStartHookError"
_CRASHES = "CrashLoopBackOff"
_RESTARTS = ((5, "5+"), (2, "2-4"), (1, "1"))
_INNER = "ErrImagePull: "


class Stage(Enum):
    """How far a pod has come. It decides which events can tell more."""

    OVER = auto()
    UNSCHEDULED = auto()
    CREATING = auto()
    WAITING = auto()
    CRASHED = auto()
    UNREADY = auto()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a pod does not run."""

    stage: Stage
    reason: str = ""
    """In the word of Kubernetes. Empty where only an event can tell."""
    message: str = ""
    """Text of the kubelet or the scheduler."""
    container: str = ""
    exit_code: int | None = None
    signal: int | None = None
    restarts: str = ""
    """`1`, `2-4` or `5+`."""
    terminated: str = ""
    """Text that the container wrote."""


def of(pod: Any) -> Trouble | None:
    """Why a pod does not run; None if it is ready."""
    status = dig(pod, "status")
    phase = dig(status, "phase")
    if phase in ("Failed", "Succeeded"):
        return _over(status) if phase == "Failed" else None
    if condition_true(pod if isinstance(pod, Mapping) else {}, "Ready"):
        return None
    if not dig(pod, "spec", "nodeName"):
        return _unscheduled(pod)
    return _of_containers(status)


def _over(status: Any) -> Trouble:
    reason = _word(dig(status, "reason"))
    if reason:
        return Trouble(Stage.OVER, reason, wording.clean(dig(status, "message")))
    ended = next((one for one in _statuses(status) if dig(one, "state", "terminated", "exitCode")), None)
    return _crash(ended, Stage.OVER) if ended else Trouble(Stage.OVER, "Failed")


def _unscheduled(pod: Any) -> Trouble:
    told = condition(pod if isinstance(pod, Mapping) else {}, "PodScheduled") or {}
    return Trouble(Stage.UNSCHEDULED, _word(told.get("reason")) or "Pending", wording.clean(told.get("message")))


def _of_containers(status: Any) -> Trouble:
    found = [trouble for one in _statuses(status) if (trouble := _of_container(one))]
    order = (Stage.WAITING, Stage.CRASHED, Stage.CREATING, Stage.UNREADY)
    return min(found, key=lambda one: order.index(one.stage), default=Trouble(Stage.CREATING))


def _statuses(status: Any) -> Iterator[Any]:
    """Of init containers, then of containers."""
    for field in ("initContainerStatuses", "containerStatuses"):
        yield from _first(dig_list(status, field))


def _first(given: Iterable[Any]) -> list[Any]:
    return list(given)[:_MOST_CONTAINERS]


def _of_container(status: Any) -> Trouble | None:
    """Why a container does not run; None if it is ready, or ended well."""
    waiting, ended = dig(status, "state", "waiting"), dig(status, "state", "terminated")
    name = _word(dig(status, "name"))
    if ended is not None:
        return _crash(status, Stage.CRASHED) if dig(ended, "exitCode") else None
    if waiting is not None:
        return _waiting(status, waiting, name)
    if dig(status, "ready") is True:
        return None
    if _restarts(status) not in ("", "1") and dig(status, "lastState", "terminated") is not None:
        return _crash(status, Stage.CRASHED)
    return Trouble(Stage.UNREADY, container=name, restarts=_restarts(status))


def _waiting(status: Any, waiting: Any, name: str) -> Trouble:
    reason, message = _word(dig(waiting, "reason")), dig(waiting, "message")
    if reason in _CREATING:
        return Trouble(Stage.CREATING, container=name)
    if reason == _CRASHES:
        return _crash(status, Stage.CRASHED)
    if reason in _PULLS:
        text = message if isinstance(message, str) else ""
        return Trouble(Stage.WAITING, "ImagePullBackOff", wording.clean(text.partition(_INNER)[2] or text), name)
    if reason == _HOOK:  # its message has the command line and the output of the hook
        return Trouble(Stage.WAITING, reason, "the postStart hook failed", name, restarts=_restarts(status))
    return Trouble(Stage.WAITING, reason, wording.clean(message), name, restarts=_restarts(status))


def _crash(status: Any, stage: Stage) -> Trouble:
    """The last termination of a container that ended, or ends again and again."""
    ended = dig(status, "state", "terminated") or dig(status, "lastState", "terminated")
    reason, text = _word(dig(ended, "reason")), wording.clean(dig(ended, "message"))
    restarts = _restarts(status)
    return Trouble(
        stage,
        reason=reason if reason not in ("", "Error", "Completed") else _CRASHES if restarts else "Error",
        message=text if reason in _STARTS else "",
        container=_word(dig(status, "name")),
        exit_code=_number(dig(ended, "exitCode")),
        signal=_number(dig(ended, "signal")) or None,
        restarts=restarts,
        terminated="" if reason in _STARTS else text,
    )


def _restarts(status: Any) -> str:
    count = _number(dig(status, "restartCount")) or 0
    return next((bucket for least, bucket in _RESTARTS if count >= least), "")


def _number(given: Any) -> int | None:
    return given if type(given) is int and abs(given) <= _MOST_EXIT_CODE else None


def _word(given: Any) -> str:
    """A reason or a container's name: a word of bounded length."""
    return wording.cut(redaction.excerpt(given, _READ), _MOST_REASON) if isinstance(given, str) else ""
