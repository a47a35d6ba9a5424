"""Bounds the search of Kubernetes' allocator on a node that others have partly filled.

The allocator (k8s.io/dynamic-resource-allocation v0.36, structured) looks for devices by backtracking. For each request
in turn it tries every set of free devices that match, and it does not count how many are left. Where a pod does not
fit, it tries all of them. kube-scheduler gives it ten seconds for a node (DynamicResourcesFilterTimeoutDefault in
v1.36). A timeout on one node fails the whole attempt, although the pod may fit on another node, so the pod is Pending.

On nodes that are shared, pods often meet nodes on which they do not fit. So a pod can only be promised a place if the
search for it is short on each of them. That is so for one request of up to 17 devices. It is not for several large
requests that draw on the same devices.

The bound follows the search. A request of `c` devices out of `n` has a try for each set of up to `c` of them, and the
requests after it are tried again for each set of `c`. A claim that cannot be met lacks devices in some union of
entries: fewer are free there than the requests within it need. Elsewhere all devices are assumed to be free.

Deliberately coarse: a claim with requests that draw on overlapping entries may be searched for long although it can be
met. All devices are then assumed to be free in each request's turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

from function.scheduling.blocking import PodDemand, devices_of, unions_of

_MOST_TRIES = 200_000
"""Calls of the allocator's recursion. Each takes 5 to 20 microseconds."""


def is_searchable(devices: tuple[int, ...], demand: PodDemand) -> bool:
    """Whether the allocator comes to an end in time on a node with these devices, whatever others have taken of it."""
    return tries(devices, demand) <= _MOST_TRIES


_MOST_ORDERED = 4
"""Requests of which all orders are looked at."""

_Turns: TypeAlias = tuple[tuple[int, int, int], ...]
"""The requests of a claim: the count, the entries as a bit mask, and the devices that are free there."""


@lru_cache(maxsize=4096)
def tries(devices: tuple[int, ...], demand: PodDemand) -> int:
    """Return a bound on the tries for a claim on a node that has these devices, or some of them."""
    unions = unions_of(demand)
    if unions is None:
        return _MOST_TRIES + 1
    requests = demand.requests
    cases = [_lacking(devices, requests, union) for union in unions]
    if any(a & b and a != b for _, a in requests for _, b in requests):
        cases.append(tuple((count, mask, devices_of(devices, mask)) for count, mask in requests))
    at_once = 2 + sum(count + 1 for count, _ in requests)
    return max(at_once, *(_tried_in_any_order(case) for case in cases)) if cases else at_once


def _lacking(devices: Sequence[int], requests: Sequence[tuple[int, int]], union: int) -> _Turns:
    """Return the requests as they are if a union of entries has fewer devices free than those within it need."""
    most = sum(count for count, mask in requests if not mask & ~union) - 1
    free = ((count, mask, devices_of(devices, mask)) for count, mask in requests)
    return tuple((count, mask, has if mask & ~union else min(has, most)) for count, mask, has in free)


def _tried_in_any_order(requests: _Turns) -> int:
    """Return the most tries for requests in any order: a demand does not know the order in the claim."""
    if len(requests) <= _MOST_ORDERED or len(set(requests)) == 1:
        return max(map(_tried, set(permutations(requests)) if len(set(requests)) > 1 else [requests]))
    return math.prod(_sets(free, count) for count, _, free in requests)


def _tried(requests: _Turns) -> int:
    total, times = 1, 1
    for i, (count, mask, free) in enumerate(requests):
        left = max(free - sum(taken for taken, other, _ in requests[:i] if not other & ~mask), 0)
        total += times * _sets(left, count)
        times *= math.comb(left, count)
    return total + 2 * times


def _sets(free: int, count: int) -> int:
    """Return how many sets of up to `count` devices there are."""
    return sum(math.comb(free, n) for n in range(count + 1))
