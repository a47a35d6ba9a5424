"""Every invariant can be broken: a function with that fault is found out, and a few steps are left of the run."""

from __future__ import annotations

import pytest

from function.planning.simulation import replays, steps, world
from function.planning.simulation.generator import Generator
from function.planning.simulation.invariants import Invariant
from function.planning.simulation.play import play, play_chosen
from function.planning.simulation.shrink import shrink
from function.planning.simulation.start import spelled
from function.planning.simulation.world import World
from tests.support import simulated
from tests.support.simulated import broken

FAULTY = [
    (Invariant.KEPT, "ModelDeployment", simulated.drops_a_replica),
    (Invariant.KEPT, "ModelDeployment", simulated.drops_an_endpoint),
    (Invariant.KEPT, "ModelReplica", simulated.drops_a_workload),
    (Invariant.ONCE, "ModelDeployment", simulated.books_nodes_again),
    (Invariant.ACCEPTED, "ModelDeployment", simulated.writes_what_is_refused),
    (Invariant.CONVERGES, "ModelReplica", simulated.never_stops),
    (Invariant.STEADY, "ModelReplica", simulated.swings),
    (Invariant.AT_REST, "ModelDeployment", simulated.remembers()),
    (Invariant.TRUE, "ModelDeployment", simulated.counts_too_many),
    (Invariant.RECOVERS, "ModelReplica", simulated.never_serves),
    (Invariant.APART, "ModelReplica", simulated.leaves_the_namespace),
    (Invariant.NO_BUG, "InferenceCluster", simulated.fails),
]
LASTING = (Invariant.RECOVERS, Invariant.APART)
"""A fleet that breaks them settles. Otherwise the beginning of the fault would break another one."""


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never settles is given up sooner."""
    monkeypatch.setattr(world, "MOST_ROUNDS", 60)


def test_every_invariant_has_a_function_that_breaks_it() -> None:
    assert {invariant for invariant, *_ in FAULTY} == set(Invariant) - {Invariant.CAPACITY}  # the next test


@pytest.mark.slow
def test_more_pods_than_a_pool_has_nodes_are_found_out() -> None:
    """A decision by old reads is not judged when it is written. How it ends is."""
    start = simulated.start(broken("ModelDeployment", simulated.one_books_nodes_again))

    played = play(start, [steps.Remember(), steps.Behind("ModelDeployment/ml-team/qwen3-8b", 1), steps.Settle(0)])

    assert played.violation is not None
    assert played.violation.invariant is Invariant.CAPACITY


@pytest.mark.slow
@pytest.mark.parametrize(("invariant", "kind", "break_"), FAULTY, ids=lambda value: getattr(value, "__name__", None))
def test_a_function_that_breaks_it_is_found_out(invariant, kind, break_) -> None:  # type: ignore[no-untyped-def]
    start = simulated.start(broken(kind, break_), settled=invariant in LASTING)

    played = play_chosen(start, Generator(seed=1, most=60, kinds=("edits", "order")))

    assert played.violation is not None
    assert played.violation.invariant is invariant
    shrunk = shrink(start, played.steps, played.violation, most=400)
    assert len(shrunk.steps) <= 3
    assert shrunk.violation.invariant is invariant


@pytest.mark.slow
def test_what_swings_is_shown_with_its_values() -> None:
    played = play(simulated.start(broken("ModelReplica", simulated.swings)), [steps.Restart(), steps.Settle(0)])

    assert played.violation is not None
    assert "metadata.labels.side returns " in played.violation.problem
    assert "'left', None, 'left'" in played.violation.problem


def test_a_namespace_of_another_tenant_is_found_when_it_is_written() -> None:
    start = simulated.start(broken("ModelReplica", simulated.names_another_tenant))
    replica = next(ref for ref in World(start).refs("ModelReplica") if ref.namespace == "ml-team")

    played = play(start, [steps.Reconcile(spelled(replica))])

    assert played.violation is not None
    assert played.violation.invariant is Invariant.APART
    assert "names the namespace search of another tenant" in str(played.violation)


def test_what_stops_to_serve_while_nobody_does_anything_is_found_out() -> None:
    start = simulated.start(broken("ModelReplica", simulated.tires(calls=4)))
    calm = [steps.Rest(), steps.Restart(), steps.Settle(0)]

    played = play(start, [*calm, *calm])

    assert played.violation is not None
    assert played.violation.invariant is Invariant.KEPT
    assert "before anything was done elsewhere" in str(played.violation)
    assert not any(step.disturbs for step in calm)


def test_what_an_edit_takes_from_another_tenant_is_found_out() -> None:
    gemma = "ModelDeployment/search/gemma-3-4b"
    greed = [steps.Set(gemma, "/spec/replicas", "4"), steps.Reconcile(gemma)]
    rest = [steps.Rest(), *greed, steps.Restart(), steps.Settle(0)]

    fair = play(simulated.start(), rest)
    unfair = play(simulated.start(simulated.takes_from_others()), rest)

    assert fair.violation is None
    assert unfair.violation is not None
    assert str(unfair.violation).startswith("kept: ModelDeployment ml-team/qwen3-8b: 0 serve, and ")


def test_a_bug_is_named_by_its_place_and_not_by_its_message() -> None:
    played = play_chosen(simulated.start(broken("ModelReplica", simulated.fails)), Generator(seed=1, most=40))

    assert played.violation is not None
    assert "hunter2" not in str(played.violation)
    assert "ValueError at " in str(played.violation)


def test_few_steps_are_left_and_they_break_it_again() -> None:
    start = simulated.start(broken("ModelDeployment", simulated.counts_too_many))
    played = play_chosen(start, Generator(seed=2, most=60))
    assert played.violation is not None

    shrunk = shrink(start, played.steps, played.violation)
    again = play(start, replays.read(replays.text(shrunk.steps)))

    assert shrunk.is_minimal
    assert len(shrunk.steps) <= 2
    assert again.violation == shrunk.violation
    assert again.violation.invariant is played.violation.invariant


def test_a_search_that_is_cut_short_says_so() -> None:
    start = simulated.start(broken("ModelDeployment", simulated.counts_too_many))
    played = play_chosen(start, Generator(seed=2, most=60))
    assert played.violation is not None

    shrunk = shrink(start, played.steps, played.violation, most=1)

    assert not shrunk.is_minimal
    assert shrunk.violation.invariant is played.violation.invariant
