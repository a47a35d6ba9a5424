"""A budget delays a decision, and never changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function.scheduling import (
    Budget,
    Cluster,
    Device,
    DeviceRequest,
    Engine,
    Exhausted,
    Fitter,
    Fleet,
    Job,
    Matcher,
    Member,
    NodeShape,
    Plan,
    Pool,
    Progress,
    Rejection,
    rejections,
    solve,
)
from tests.support.fleets import ME, Wants, fleets, jobs

orders = st.integers(0, 2**32).map(Random)
budgets = st.lists(st.integers(1, 40), min_size=1, max_size=5)
"""Of one call after another."""

Decision = tuple[Plan, tuple[Rejection, ...]]


def decided(job: Job, fleet: Fleet, matcher: Matcher) -> Decision:
    """As a composer decides it. Raises Exhausted."""
    fitter = Fitter(job.engines, matcher)
    plan = solve(job, fleet, fitter)
    return plan, rejections(job, fleet, plan, fitter)


def called(job: Job, fleet: Fleet, budget: Budget, progress: Progress, who: int = 0) -> tuple[Decision | None, int]:
    """One call: its decision, None where it holds; and how many selectors it evaluated."""
    key = who, frozenset(member.requests for engine in job.engines for member in engine.members)
    matcher = Matcher(budget, progress.of(key))
    try:
        found = decided(job, fleet, matcher)
    except Exhausted:
        progress.keep(key, matcher.findings, under_way=True)
        return None, matcher.evaluations
    progress.keep(key, matcher.findings, under_way=False)
    return found, matcher.evaluations


def until_decided(call: Callable[[], tuple[Decision | None, int]]) -> tuple[Decision, int]:
    """The decision, and the evaluations of all calls that led to it."""
    evaluations = 0
    for _ in range(1_000):
        found, more = call()
        evaluations += more
        if found is not None:
            return found, evaluations
    raise AssertionError("it never decided")


@given(jobs, fleets(), budgets)
def test_calls_that_hold_lead_to_the_decision_of_one_call_that_does_not(job, fleet, most):
    unbounded = Matcher()
    want = decided(job, fleet, unbounded)
    progress, limits = Progress(), cycle(most)
    got, evaluations = until_decided(lambda: called(job, fleet, Budget(next(limits)), progress))
    assert got == want
    assert evaluations == unbounded.evaluations


@pytest.mark.slow
@given(jobs, fleets(), budgets)
def test_what_was_decided_is_decided_at_once_the_next_time(job, fleet, most):
    progress, limits = Progress(), cycle(most)
    want, _ = until_decided(lambda: called(job, fleet, Budget(next(limits)), progress))
    assert called(job, fleet, Budget(1), progress) == (want, 0)


@pytest.mark.slow
@given(jobs, fleets(), budgets)
def test_a_call_takes_no_more_than_its_budget_and_one_piece_of_work(job, fleet, most):
    progress, limits = Progress(), cycle(most)
    piece = 3 * 2 * 4 + 5 * 100 + 1
    for _ in range(1_000):
        budget = Budget(next(limits))
        found, _ = called(job, fleet, budget, progress)
        assert budget.spent <= budget.most + piece
        if found is not None:
            return


@pytest.mark.slow
@given(st.lists(jobs, min_size=2, max_size=4), fleets(), budgets, orders, st.sampled_from([1, 10, 1_000]))
def test_any_order_of_calls_of_several_deployments_leads_to_the_same_decisions(several, fleet, most, order, room):
    """Whether there is room for what each found out or not."""
    wanted = [decided(job, fleet, Matcher()) for job in several]
    progress, limits = Progress(room), cycle(most)
    waiting = set(range(len(several)))
    for _ in range(1_000):
        for i in order.sample(range(len(several)), len(several)):
            found, _ = called(several[i], fleet, Budget(next(limits)), progress, who=i)
            assert found in (None, wanted[i])
            waiting -= {i} if found is not None else set()
        if not waiting:
            return
    raise AssertionError(f"never decided: {waiting}")


# Rivals for what may be kept


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def rival(i: int, selectors: int = 6) -> Job:
    """It asks for what nobody else asks for, and takes a call for each of its selectors."""
    requests = tuple(DeviceRequest(f"r{n}", 1, (Wants(f"{i}-{n}"), Wants("gpu"))) for n in range(selectors))
    return Job(ME, 1, (Engine("e", 1, (Member("Standalone", 1, requests),)),))


FLEET = fleets().filter(lambda fleet: any(pool.shape.devices for c in fleet.clusters.values() for pool in c.pools))


@pytest.mark.slow
@settings(max_examples=20)
@given(FLEET, st.integers(2, 6), orders)
def test_nobody_is_kept_from_deciding_by_others_that_take_all_the_room(fleet, rivals, order):
    """There is room for one at a time, each is too large for it, and all are asked in turn, again and again."""
    clock = Clock()
    progress = Progress(most=1, now=clock)
    waiting = {i: decided(rival(i), fleet, Matcher()) for i in range(rivals)}
    for _ in range(40 * rivals):
        clock.now += 30
        for i in order.sample(range(rivals), rivals):
            found, _ = called(rival(i), fleet, Budget(1), progress)
            assert found in (None, *waiting.values())
            if found is not None:
                waiting.pop(i, None)
        if not waiting:
            return
    raise AssertionError(f"never decided: {sorted(waiting)}")


@pytest.mark.parametrize("rivals", [3, 5])
def test_room_goes_to_the_one_that_waits_for_it_longest(rivals):
    """Number 0 is always asked just before the one that has the room finishes, and all others just after that."""
    clock, device = Clock(), Device("gpu", 1, "gpu.example.com", published="gpu small")
    fleet = Fleet({"c": Cluster("c", pools=(Pool("p", 1, NodeShape((device,))),))})
    progress, finished, holder = Progress(most=1, now=clock), [], 1
    called(rival(holder), fleet, Budget(1), progress, who=holder)
    for _ in range(40 * rivals):
        clock.now += 30
        for i in (0, holder, *(i for i in range(1, rivals) if i != holder)):
            found, _ = called(rival(i), fleet, Budget(1), progress, who=i)
            if found is not None:
                finished.append(i)
                holder = 1 if i != 1 else 2  # the next one that is asked takes the room
    assert 0 in finished[: rivals + 1]


@pytest.mark.slow
@given(FLEET)
def test_one_that_left_under_way_does_not_take_the_room_for_ever(fleet):
    clock = Clock()
    progress = Progress(most=1, now=clock)
    found, _ = called(rival(0), fleet, Budget(1), progress)
    if found is not None:
        return  # nothing had to be asked
    for _ in range(200):
        clock.now += 30
        found, _ = called(rival(1), fleet, Budget(1), progress)
        if found is not None:
            return
    raise AssertionError("it never decided")
