"""A function that remembers its answers gives the same ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from function.core import Request, Result
from function.planning.control_plane import in_process
from function.planning.simulation import world
from function.planning.simulation.generator import Generator
from function.planning.simulation.play import play_chosen
from function.planning.simulation.remembered import Remembered
from function.sandbox.sealed import Sealed
from tests.soak import fleets

XR = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "metadata": {"name": "a"}, "spec": {"n": 1}}


class Counting:
    def __init__(self, *, waiting: bool = False) -> None:
        self.calls, self.waiting = 0, waiting

    def __call__(self, request: Request, /) -> Result:
        self.calls += 1
        return Result(status={"seen": request.xr["spec"]}, waiting=self.waiting, ready=True, conditions=())


def request(**more: object) -> Request:
    return Request(xr=Sealed({**XR, **more}))


def test_the_same_content_is_asked_once() -> None:
    function = Counting()
    remembered = Remembered(function)
    later = Sealed({**XR, "metadata": {"name": "a", "resourceVersion": "7"}})

    answers = [remembered(request()), remembered(request()), remembered(Request(xr=later))]

    assert (function.calls, {id(one) for one in answers}) == (1, {id(answers[0])})


@pytest.mark.parametrize(
    "other",
    [
        request(spec={"n": 2}),
        request(metadata={"name": "a", "generation": 2}),
        replace(request(), observed={"key": Sealed(XR)}),
        replace(request(), required={"clusters": ()}),
        replace(request(), required={"clusters": (Sealed(XR),)}),
    ],
)
def test_any_other_content_is_asked_anew(other: Request) -> None:
    function = Counting()
    remembered = Remembered(function)

    remembered(request())
    remembered(other)

    assert function.calls == 2


def test_what_is_observed_is_not_what_is_required() -> None:
    function = Counting()
    remembered = Remembered(function)

    remembered(replace(request(), observed={"a": Sealed(XR)}))
    remembered(replace(request(), required={"a": (Sealed(XR),)}))

    assert function.calls == 2


def test_an_answer_that_waits_is_asked_anew() -> None:
    function = Counting(waiting=True)
    remembered = Remembered(function)

    remembered(request())
    remembered(request())

    assert function.calls == 2


def test_what_is_played_is_the_same_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    start = fleets.settled("examples/tour")
    with_memory = play_chosen(start, Generator(5, 40))
    monkeypatch.setattr(world, "Remembered", lambda function: function)

    without = play_chosen(start, Generator(5, 40))

    assert start.control.function is in_process
    assert (with_memory.digest, with_memory.reconciles, with_memory.checked) == (
        without.digest,
        without.reconciles,
        without.checked,
    )
