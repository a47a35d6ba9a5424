"""A replica that goes gets no request any more before it does: clients who never stop asking never notice."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.e2e import client, fleet, openai
from tests.e2e.client import Answer
from tests.e2e.kube import Object
from tests.e2e.objects import changed
from tests.e2e.team import Team
from tests.e2e.test_routing import ENGINE_PORT, LONG, address, eventually, gateway, serve, tenant
from tests.e2e.waiting import until

__all__ = ["gateway", "tenant"]  # fixtures

LEAVING = "modelplane.ai/leaving"
PAUSE = 0.02  # between two requests


@pytest.fixture
def engines(tenant: Team) -> Iterator[Callable[[], set[str]]]:
    """Asked, it starts a stand-in for the engine of each pod that is new, and names the pods that are there.

    They outlive their pods, as engines do that end in grace: what ends here is the way to them.
    """
    known: set[str] = set()
    with ExitStack() as stack:

        def found() -> set[str]:
            there = {one["metadata"]["name"]: one["status"].get("podIP") for one in tenant.pods()}
            for name in sorted(there.keys() - known):
                if there[name]:
                    stack.enter_context(openai.serving(name, there[name], ENGINE_PORT))
                    known.add(name)
            return there.keys() & known

        yield found


@contextmanager
def asking(url: str) -> Iterator[list[Answer]]:
    """Ask without a break until the end of the block; gives all that was answered."""
    answers: list[Answer] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.wait(PAUSE):
            try:
                answers.append(client.ask(url))
            except OSError as error:
                answers.append(Answer(0, str(error)))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        is_over.set()
        thread.join()


def test_nobody_meets_a_replica_that_is_scaled_away(tenant: Team, engines: Callable[[], set[str]]) -> None:
    """From three to one: those that go are marked, lose their part, and are gone, in this order."""
    deployment = tenant.serving(replicas=3)
    before = engines()
    url = address(tenant, serve(tenant))
    eventually(url, {Answer(200, name) for name in before})

    with asking(url) as answers:
        tenant.api.apply(changed(deployment, "spec.replicas", 1))
        marked = until(lambda: leaving(tenant), "two to be marked", holds=lambda seen: len(seen) == 2, seconds=LONG)
        assert len(tenant.replicas()) == 3
        [stays] = until(tenant.replicas, "two to go", holds=lambda seen: len(seen) == 1, seconds=LONG)
        until(engines, "their pods to go", holds=lambda seen: len(seen) == 1, seconds=LONG)

    assert stays["metadata"]["name"] not in marked
    assert {one.status for one in answers} == {200}
    assert {one.model for one in answers} == before
    eventually(url, {Answer(200, name) for name in engines()})


def test_nobody_notices_a_move(tenant: Team, engines: Callable[[], set[str]]) -> None:
    """The one replica moves to another region: the old one answers until the new one does, for a moment both."""
    west, east = ({"matchLabels": one.labels} for one in (fleet.WEST, fleet.EAST))
    deployment = tenant.serving(replicas=1, clusterSelector=west)
    [old] = engines()
    url = address(tenant, serve(tenant))
    eventually(url, {Answer(200, old)})

    with asking(url) as answers:
        tenant.api.apply(changed(deployment, "spec.clusterSelector", east))
        until(lambda: engines() - {old}, "the new one to start", seconds=LONG)
        until(
            lambda: (engines(), tenant.clusters())[1],
            "the old one to go",
            holds=lambda seen: seen == ["east"],
            seconds=LONG,
        )
        until(engines, "its pod to go", holds=lambda seen: old not in seen, seconds=LONG)

    [new] = engines()
    assert {one.status for one in answers} == {200}
    assert (answers[0].model, answers[-1].model, {one.model for one in answers}) == (old, new, {old, new})


def leaving(team: Team) -> list[str]:
    return [name(one) for one in team.endpoints() if LEAVING in one["metadata"].get("annotations", {})]


def name(manifest: Object) -> str:
    return str(manifest["metadata"]["name"])
