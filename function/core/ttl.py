"""How soon Crossplane calls again. It depends on the request alone, so equal requests get equal answers."""

from __future__ import annotations

from function.core.request import Request

WAITING = 30
"""Seconds, while something that Crossplane does not watch for us (a required object, on 2.3) may change the answer."""
SETTLED = 60
LONGEST = 600
_SMALL_FLEET = 100
"""Number of objects read. Above it the interval grows in proportion, to spare the control plane of a large fleet."""


def ttl(request: Request, *, waiting: bool) -> int:
    """Return the seconds until the next call. Never 0, which Crossplane takes for "never"."""
    if waiting:
        return WAITING
    read = sum(map(len, request.required.values()))
    return min(LONGEST, max(SETTLED, SETTLED * read // _SMALL_FLEET))
