"""What the admission of a small call costs beside others that are in the server, without gRPC and without workers.

Run it alone with `python -m tests.bench.admission`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from function.server.admission import Admission, Limits
from function.server.sizes import LARGEST

BESIDE = (0, 100, 1_900)
"""Calls in the server meanwhile. It takes 2,000."""
_CALLS = 2_000


async def _seconds(beside: int) -> float:
    """Seconds of a call, beside calls whose small responses are being sent, and as many that wait unread."""
    admission = Admission(Limits.of(LARGEST), lambda: 0)
    silent = [asyncio.ensure_future(admission.received(_never, f"silent-{i}")) for i in range(beside // 2)]
    for _ in range(beside // 2):
        admission.sends(admission.entered(lambda _: None), "prompt", 1)
    await admission.received(_now, "prompt")
    start = time.perf_counter()
    for _ in range(_CALLS):
        await _call(admission)
    taken = (time.perf_counter() - start) / _CALLS
    for one in silent:
        one.cancel()
    await asyncio.gather(*silent, return_exceptions=True)
    return taken


async def _call(admission: Admission) -> None:
    ends: list[Callable[[object], None]] = []
    call = admission.entered(ends.append)
    await admission.received(_now, "prompt")
    admission.sends(call, "prompt", 1)
    ends[0](None)


async def _now() -> bytes:
    return b"x"


async def _never() -> bytes:
    await asyncio.Event().wait()
    return b""


def main() -> None:
    costs = ", ".join(f"{asyncio.run(_seconds(beside)) * 1e6:,.0f} µs beside {beside:,}" for beside in BESIDE)
    print(f"admission of a small call: {costs}")


if __name__ == "__main__":
    main()
