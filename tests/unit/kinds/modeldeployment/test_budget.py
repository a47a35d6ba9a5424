"""A call that runs out of its budget holds, says so, and the next one continues."""

from __future__ import annotations

import pytest

from function import cel, registry, wire
from function.api import modeldeployment as model
from function.core import DeadlineExceeded, InvalidSpec, NotYet, Request, Result, deadline, plain
from function.kinds.modeldeployment import decide, stages
from function.scheduling import PROGRESS, Budget
from function.vocabulary import conditions as c
from tests.bench import deployments, fleet

NAMES = ("usual", "selectors that just do not", "kinds that do not go up")
REPLICA = {
    "apiVersion": fleet.MODELPLANE,
    "kind": "ModelReplica",
    "metadata": {"name": "target-1", "namespace": "ml-team", "labels": {"modelplane.ai/deployment": "target"}},
    "spec": {"clusterName": "cluster-00000", "engines": []},
}


@pytest.fixture(autouse=True)
def _nothing_is_known():
    PROGRESS.forget()
    yield
    PROGRESS.forget()


def request(name: str, observed: dict[str, fleet.Object] | None = None) -> Request:
    data = fleet.request(deployments.DEPLOYMENTS[name], deployments.clusters(1), [], observed)
    return wire.decode(data).request


def decision(asked: Request, budget: Budget) -> decide.Decision:
    return decide.decide(asked, model.parse(asked.xr), stage=stages.everything(asked), budget=budget)


def until_decided(name: str, most: int) -> tuple[decide.Decision, list[str], list[int]]:
    """What is decided in the end, what was said before, and what each call took."""
    said, spent = [], []
    for _ in range(2_000):
        budget = Budget(most)
        try:
            return decision(request(name), budget), said, [*spent, budget.spent]
        except NotYet as held:
            said.append(held.condition.message)
            spent.append(budget.spent)
    raise AssertionError("it never decided")


def answer(found: decide.Decision) -> tuple[object, ...]:
    return [(p.cluster, p.index, p.engines) for p in found.plan.placements], found.rejections


def test_findings_are_kept_under_a_key_that_holds_no_selector() -> None:
    """Selectors are up to 10 KiB long, and only some of them are found in the findings, by whose size room is made."""
    while not PROGRESS:
        with pytest.raises(NotYet):
            decision(request("selectors that just do not"), Budget(130_000))
    assert "lists.range" not in repr([*PROGRESS._entries])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("warm", [False, True])
def test_a_small_budget_leads_to_the_same_decision(name: str, warm: bool) -> None:
    want = answer(decision(request(name), Budget()))
    if not warm:
        cel.clear_caches()
        PROGRESS.forget()
    got, said, spent = until_decided(name, 130_000)
    assert answer(got) == want
    assert (len(said) > 0) is (not warm and name != "usual")
    assert max(spent) <= 130_000 + 25 * 5_100


@pytest.mark.slow
def test_a_call_says_how_far_it_came_and_each_comes_further() -> None:
    cel.clear_caches()
    _, said, _ = until_decided("selectors that just do not", 130_000)
    done = [int(text.split(" of at most ")[0].rpartition(" ")[2]) for text in said]
    assert done == sorted(done)
    assert done[-1] > 0
    assert said[-1] == (
        "Waiting for the evaluation of device selectors: "
        f"{done[-1]} of at most 160 evaluations are done; the next reconcile continues"
    )


def test_a_call_that_holds_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "MOST_SPENT", 1_000)
    cel.clear_caches()
    ready = {**REPLICA, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    result = registry.compose(request("selectors that just do not", {"replica-a-0": ready}))
    assert said(result)["ReplicasScheduled"] == ("False", "Scheduling")
    assert {key: plain(r.manifest)["spec"] for key, r in result.resources.items()} == {"replica-a-0": REPLICA["spec"]}
    assert (result.waiting, result.ttl) == (True, 30)


def test_an_ordinary_deployment_takes_some_thousands() -> None:
    budget = Budget()
    decision(request("usual"), budget)
    assert budget.spent < decide.MOST_SPENT / 100


@pytest.mark.slow
@pytest.mark.parametrize("name", deployments.DEPLOYMENTS)
def test_no_call_takes_more_than_its_budget_whatever_is_asked(name: str) -> None:
    """And all are decided, or refused, within a few calls."""
    cel.clear_caches()
    for _ in range(12):
        asked = request(name)
        budget = Budget(decide.MOST_SPENT)
        try:
            found = decision(asked, budget)
        except NotYet:
            assert budget.spent <= decide.MOST_SPENT + 25 * 5_100
            continue
        except InvalidSpec:
            assert name == "2,048 selectors"
            return
        assert budget.spent <= decide.MOST_SPENT
        assert found.plan is not None
        return
    raise AssertionError("it never decided")


@pytest.mark.slow
def test_steady_calls_evaluate_and_compile_nothing() -> None:
    until_decided("selectors that end at their bound", decide.MOST_SPENT)
    cel.clear_caches()
    asked = request("selectors that end at their bound")
    decision(asked, Budget())
    steady = Budget()
    decision(asked, steady)
    assert steady.spent == 0


def test_a_call_that_is_over_is_given_up_in_the_middle() -> None:
    """It is no answer: neither a hold nor a refusal, and nothing swallows it."""
    cel.clear_caches()
    with pytest.raises(DeadlineExceeded):
        _left(deadline.Deadline(), request("usual"))


def _left(limit: deadline.Deadline, asked: Request) -> None:
    """A call whose caller left after it began."""
    with deadline.within(limit):
        limit.cancel()
        registry.compose(asked)


def said(result: Result) -> dict[str, tuple[str, str]]:
    assert {one.type for one in result.conditions} >= {c.REPLICAS_SCHEDULED.type}
    return {one.type: (one.status, one.reason) for one in result.conditions}
