"""Sizes of requests, in bytes."""

from __future__ import annotations

MIB = 2**20
LARGEST = 256
"""MiB accepted in one request. A fleet of 1,000 clusters and 10,000 replicas is 70 MiB."""
LARGE = 64 * MIB
"""Bytes from which a request is very large. A fleet of 900 clusters and 9,000 replicas has them."""


def mib(size: int) -> str:
    """Return a size in MiB, for a sentence."""
    return f"{size / MIB:,.0f}" if size >= MIB else f"{size / MIB:.2f}"
