"""Kubernetes' own allocator gives devices to what is said to fit: on a whole node, and on shared ones in any order.

CONFORMANCE_SEED repeats a run, CONFORMANCE_CASES says how many cases each of the parts compares.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from function.fleet import clusters as published
from function.kinds.modeldeployment import selectors
from function.scheduling import DeviceRequest, Matcher, Member, Offer
from function.scheduling.backtracking import tries
from tests.conformance import allocations, oracle, programs
from tests.conformance.seeds import seed

pytestmark = pytest.mark.slow

_PARTS = 2
_CASES = int(os.environ.get("CONFORMANCE_CASES", "1000"))
_ARRIVALS = 14
_FAILING = 'device.attributes["gpu.nvidia.com"].n == 1'


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_whole_node_satisfies_a_member_exactly_when_the_allocator_says_so(part, record_property):
    oracle.wanted()
    random = Random(seed(f"whole nodes {part}"))
    cases = [(allocations.devices(random), allocations.requests(random)) for _ in range(_CASES)]
    questions = [allocations.on_an_empty_node(*case) for case in cases]
    answers = programs.answers("allocator", questions)
    tally: Counter[str] = Counter()
    for (entries, asked), question, said in zip(cases, questions, answers, strict=True):
        given = [choice for choice, node in zip(question["choices"], said["nodes"], strict=True) if node == 0]
        offer = _offered(entries, asked)
        if said["timedOut"]:
            tally["not answered in time"] += 1
        elif isinstance(offer, Offer):
            assert offer.classes in given, (entries, asked, offer, said)
            tally["fit"] += 1
        else:
            assert not given, (entries, asked, offer, said)
            tally["do not fit"] += 1
    record_property("whole nodes compared", len(cases))
    print(f"whole nodes: {dict(tally)}, slowest try {max(said['slowest'] for said in answers) / 1e3:.0f} ms")
    assert tally["fit"] > len(cases) / 10
    assert tally["do not fit"] > len(cases) / 10


def _offered(entries, asked):
    shape = published.node_shape({"devices": entries})
    requests = tuple(
        DeviceRequest(r["name"], r["count"], tuple(map(selectors.compiled, r["selectors"]))) for r in asked
    )
    return Matcher().offer(Member("Standalone", 1, requests), shape)


@pytest.mark.parametrize("part", range(_PARTS))
def test_what_is_admitted_to_a_shared_pool_always_finds_its_devices(part, record_property):
    """Pods come, go, and come back in any order, on any node where they fit: none is ever Pending."""
    oracle.wanted()
    chosen = seed(f"shared pools {part}")
    pools = list(allocations.streams(Random(chosen), _CASES, _ARRIVALS))
    answers = programs.answers("allocator", [pool.question() for pool in pools])
    tally: Counter[str] = Counter()
    for number, (pool, said) in enumerate(zip(pools, answers, strict=True)):
        assert not said["errors"], said["errors"]
        assert pool.is_safe(), f"seed {chosen}, pool {number}: it was safe with more pods"
        for event, node, invoked in zip(pool.events, said["nodes"], said["invocations"], strict=True):
            assert event["do"] != "add" or node >= 0, f"seed {chosen}, pool {number}: {event} is Pending"
            tally[event["do"]] += 1
            demand = pool.kinds[event["demand"]].demand
            assert invoked <= max(tries(capacity.devices, demand) for capacity in pool.nodes), (chosen, number, event)
            tally["refused, and would have been placed then"] += event["do"] == "try" and node >= 0
        tally["arrived"] += pool.arrivals
        tally["not answered in time"] += said["timedOut"]
    record_property("shared pools compared", len(pools))
    print(
        f"shared pools: {len(pools)} pools, {tally['arrived']} arrivals, {tally['arrived'] - tally['try']} admitted, "
        f"placed {tally['add']} times with restarts, never Pending; {tally['try']} refused, of which "
        f"{tally['refused, and would have been placed then']} would have been placed then; "
        f"{tally['not answered in time']} tries not answered in time, "
        f"slowest try {max(said['slowest'] for said in answers) / 1e3:.0f} ms"
    )
    assert tally["try"] > 0
    assert tally["add"] > tally["arrived"]


@pytest.mark.parametrize("part", range(_PARTS))
def test_the_allocator_tries_no_more_often_than_is_bounded(part, record_property):
    """On nodes that are filled at random, with claims of several requests that mostly do not fit."""
    oracle.wanted()
    chosen = seed(f"tries {part}")
    random = Random(chosen)
    pools = [allocations.filled(random) for _ in range(_CASES)]
    answers = programs.answers("allocator", [pool.question() for pool in pools])
    shares = []
    for number, (pool, said) in enumerate(zip(pools, answers, strict=True)):
        demand = pool.kinds[-1].demand
        bound = tries(pool.nodes[0].devices, demand)
        assert not said["timedOut"], (chosen, number, demand)
        assert said["invocations"][-1] <= bound, (chosen, number, pool.nodes, demand, said["invocations"])
        shares.append(said["invocations"][-1] / bound)
    record_property("searches of the allocator compared", len(pools))
    print(f"searches: the closest took {max(shares):.0%} of the bound")
    assert max(shares) > 0.3


def test_the_allocator_stops_at_a_selector_that_fails_once_others_have_taken_the_devices_before_it():
    """kube-scheduler then gives the pod no node at all. So shared nodes offer nothing to such a claim."""
    oracle.wanted()
    entries = [
        {"name": "d0", "count": 2, "driver": "gpu.nvidia.com", "attributes": {"n": {"int": 1}}, "capacity": {}},
        {"name": "d1", "count": 1, "driver": "gpu.nvidia.com", "attributes": {}, "capacity": {}},
    ]
    asked = {"name": "r", "count": 2, "class": "gpu.nvidia.com", "selectors": [_FAILING]}
    event = {"demand": 0, "nodes": [0], "by": ""}
    [said] = programs.answers(
        "allocator",
        [
            {
                **allocations.on_an_empty_node([{**e, "deviceClassName": e["driver"]} for e in entries], []),
                "demands": [[asked]],
                "requests": [[]],
                "events": [{"do": "add", "pod": "first", **event}, {"do": "try", "pod": "second", **event}],
            }
        ],
    )
    assert said["nodes"] == [0, -1]
    assert len(said["errors"]) == 1
