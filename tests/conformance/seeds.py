"""Seeds of what is made at random: new in each run, and shown, so that a run can be repeated."""

from __future__ import annotations

import os


def seed(part: str) -> str:
    """CONFORMANCE_SEED, or a new one, for a part of the run."""
    chosen = os.environ.get("CONFORMANCE_SEED") or str(int.from_bytes(os.urandom(4), "big"))
    print(f"CONFORMANCE_SEED={chosen}, {part}")
    return f"{chosen}/{part}"
