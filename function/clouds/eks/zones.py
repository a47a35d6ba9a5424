"""Availability zones, each by the letter that follows its region: `a` for us-east-1a.

Terms. The *home* zones are those of the control plane, and of pools that name none. EKS moves no control plane to other
zones, so they stay as they were when it was made. Pools may bring further zones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from function.contracts.cloud.nodepool import NodePool

LETTERS = "abcdefg"
"""Letters that a zone can have here. No region has more than six zones, nor a letter after f (page "AWS Regions and
Availability Zones", 2026); g is to spare."""
FEWEST, MOST = 2, 6


def letter(region: str, zone: str) -> str | None:
    """Return the letter of a zone; None for what is no availability zone of the region, such as a local zone."""
    found = zone.removeprefix(region)
    return found if zone.startswith(region) and len(found) == 1 and found in LETTERS else None


def zone(region: str, of_letter: str) -> str:
    return f"{region}{of_letter}"


def letters(region: str, zones: Iterable[str]) -> tuple[str, ...]:
    """Return the letters of zones, sorted, each once. What is no zone is left out."""
    return tuple(sorted({found for each in zones if (found := letter(region, each))}))


def home(region: str, given: Sequence[str], pools: Sequence[NodePool]) -> tuple[str, ...]:
    """Return the letters of the home zones of a cluster that is about to be made.

    They are those that the cluster names, else those of its pools, and others from `a` on until there are enough.
    """
    found = letters(region, given or (each for pool in pools for each in pool.zones))
    others = (each for each in LETTERS if each not in found)
    return tuple(sorted((*found, *(next(others) for _ in range(FEWEST - len(found))))))


def of_pool(region: str, pool: NodePool, home_zones: Sequence[str]) -> tuple[str, ...]:
    """Return the letters of the zones of a pool."""
    return letters(region, pool.zones) or tuple(home_zones)


def everything(region: str, home_zones: Sequence[str], pools: Iterable[NodePool]) -> tuple[str, ...]:
    """Return the letters of all zones in which a cluster has subnets."""
    return tuple(sorted({*home_zones, *(each for pool in pools for each in of_pool(region, pool, home_zones))}))
