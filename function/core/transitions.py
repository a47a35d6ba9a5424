"""Events: what happened to an XR between two passes, told once.

The XR holds what the last pass reported. A condition that has another status or another reason now is a transition, and
its message tells what happened. A message that only counts on is none. Once the XR holds what this pass reports, the
same pass tells nothing.

Crossplane records events before it writes the status, so a pass that fails there is told twice, and Kubernetes counts
the second one on the first. A reconcile takes several calls, and only the events of the last one are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from function.core.condition import UNDECIDED, Concern, Condition, ConditionType, Reason, last, shortened
from function.core.manifest import Manifest, dig
from function.core.request import Request
from function.core.result import Event, EventReason, Result
from function.core.summary import REASON
from function.core.wording import MOST_NAMED, visible

LONGEST_NOTE = 960
"""Characters. An event of events.k8s.io has 1,024 at most, and Crossplane puts the name of the pipeline's step before
them."""
ADDRESS_CHANGED = EventReason("AddressChanged", "The address is {now}; it was {before}", warning=True)

Path = tuple[str, ...]
"""Keys that lead to a field of the status."""


def events(request: Request, result: Result, types: Sequence[ConditionType], invalid: Reason) -> Iterator[Event]:
    """Yield an event for each condition of a result that has changed since the XR was written.

    None is yielded for a condition that becomes Unknown, because another one tells why, and for one that is reported
    for the first time, unless it is a fault: a new XR waits for many things, and is well in other respects.
    """
    reported = {condition.type: condition for condition in result.conditions}
    known = dig(request.xr, "status", REASON)
    for type_ in types:
        now, before = reported.get(type_.type), last(request.xr, type_)
        if now is None or now.status == "Unknown":
            continue
        if before is None or before.reason == UNDECIDED:
            is_news = type_.concern(now) is Concern.FAULT and now.reason != known
        else:
            is_news = _is_changed(before, now, invalid)
        if is_news:
            yield _event(type_, before, now)


def _is_changed(before: Condition, now: Condition, invalid: Reason) -> bool:
    """Return whether a condition is another one.

    Another edit may be refused for the same reason, too. Its first clause has the field and the problem, and remarks
    follow that may count on.
    """
    if (before.status, before.reason) != (now.status, now.reason):
        return True
    is_refusal = (now.type, now.status, now.reason) == (invalid.type, invalid.status, invalid.reason)
    return is_refusal and before.message.partition(";")[0] != now.message.partition(";")[0]


def _event(type_: ConditionType, before: Condition | None, now: Condition) -> Event:
    concern = type_.concern(now)
    is_worse = before is not None and (before.status, now.status, concern) == ("True", "False", Concern.WAIT)
    message = now.message or f"{now.type} is {now.status}"
    return Event(now.reason, message, warning=concern is Concern.FAULT or is_worse)


def moved_addresses(xr: Manifest, status: Manifest, paths: Iterable[Path]) -> Iterator[Event]:
    """Yield an event for each address that clients may have noted and that is another one now.

    A first address is part of the message of the condition that becomes True with it.
    """
    for path in paths:
        before, now = dig(xr, "status", *path), dig(status, *path)
        if before and now and before != now:
            yield ADDRESS_CHANGED(now=now, before=before)


def gathered(found: Iterable[Event]) -> tuple[Event, ...]:
    """Return one event for each reason. It tells the first of what happened, and counts the rest.

    A fleet may lose a hundred replicas at once, and Kubernetes drops the events of an object after the first 25.
    """
    by_reason: dict[tuple[str, bool], dict[str, None]] = {}
    for event in found:
        by_reason.setdefault((event.reason, event.warning), {})[event.message] = None
    return tuple(Event(reason, _together([*told]), warning) for (reason, warning), told in by_reason.items())


def _together(messages: Sequence[str]) -> str:
    more = f"; and {len(messages) - MOST_NAMED} more" if len(messages) > MOST_NAMED else ""
    told = visible("; ".join(messages[:MOST_NAMED]))
    return f"{shortened(told, LONGEST_NOTE - len(more))}{more}"
