"""Waiting for a condition, with a bound: the only way in which these tests let time pass."""

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")
# A bound, not a pace: most of what we wait for takes a second. Two things take long: a provider believes only 30 s
# after it made a thing that the thing is gone, and Crossplane tries again up to 30 s later. On a machine that many
# share all of it takes several times as long.
PATIENCE = 300.0
MOST = 4  # bounds, one after the other, for what changes again and again
TOLD = 1.0  # seconds between two looks at what has changed
LONGEST = 2000


class TooLong(AssertionError):
    """What was waited for did not come; the message says what was, and what was seen last."""


def until(
    look: Callable[[], Seen], what: str, *, holds: Callable[[Seen], object] = bool, seconds: float = PATIENCE
) -> Seen:
    """Look until what is seen holds, and give it. What changes meanwhile gets more time: a slow machine goes on."""
    began = changed = told = time.monotonic()
    last = ""
    while not holds(seen := look()):
        now = time.monotonic()
        if now > told + TOLD:
            told = now
            if (text := shown(seen)) != last:
                changed, last = now, text
        if now > min(changed + seconds, began + MOST * seconds):
            raise TooLong(f"waited {now - began:.0f} s for {what}; seen last: {shown(seen)}")
        time.sleep(0.05)
    return seen


def steady(look: Callable[[], Seen], what: str, *, seconds: float) -> Seen:
    """Look until the same was seen for a while, and give it."""
    changed, seen = time.monotonic(), look()

    def lasted() -> float:
        nonlocal changed, seen
        if (now := look()) != seen:
            changed, seen = time.monotonic(), now
        return time.monotonic() - changed

    until(lasted, f"{what} to stay as it is", holds=lambda lasting: lasting >= seconds)
    return seen


def always(look: Callable[[], Seen], what: str, *, holds: Callable[[Seen], object], seconds: float) -> None:
    """Look for a while, and fail when once it does not hold: for what must not happen though it could."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert holds(seen := look()), f"{what}; seen: {shown(seen)}"
        time.sleep(0.05)


def shown(seen: object) -> str:
    """What was seen, as a person needs it: of a Kubernetes object its status."""
    if isinstance(seen, dict) and "metadata" in seen:
        conditions = seen.get("status", {}).get("conditions", [])
        lines = [f"{one['type']}={one['status']} {one['reason']} {one.get('message', '')}" for one in conditions]
        return "\n  ".join((f"{seen['kind']} {seen['metadata']['name']}", *(lines or ["no conditions"])))
    return repr(seen)[:LONGEST]
