"""How soon Crossplane should ask again. Decided from the request alone: the same request, the same answer."""

from __future__ import annotations

from function.core.request import Request

WAITING = 30
"""Seconds, while something that is not watched for us (a required object, on Crossplane 2.3) may change the answer."""
SETTLED = 60
LONGEST = 600
_SMALL_FLEET = 100
"""Objects read. Beyond it the pace slows in proportion: a large fleet must not spend its control plane on asking."""


def ttl(request: Request, *, waiting: bool) -> int:
    """Seconds; never 0, which Crossplane takes for never."""
    if waiting:
        return WAITING
    read = sum(map(len, request.required.values()))
    return min(LONGEST, max(SETTLED, SETTLED * read // _SMALL_FLEET))
