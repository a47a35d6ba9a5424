"""What clusters and providers report of objects is told without canaries, on one line, visibly and cut.

Each golden case that observes objects of others is composed with a message in every condition, in each shape, while
nothing fails, while everything fails on the cluster, and while the providers fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from function import registry
from function.core import Result, plain, visible
from function.core.condition import LONGEST_MESSAGE
from function.core.transitions import LONGEST_NOTE
from function.sandbox.settle import settle
from tests.support import canary_reports, cases
from tests.support.canaries import search
from tests.support.canary_allowed import forbidden, leaks

REPORTING = [case for case in cases.CASES if (case / "observed.yaml").exists()]
FEW = 12
_EVERY, _LEAST = 3, 5
_ESCAPED = re.compile(r"\\x1b\[\d*m|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}")
"""What `visible` makes of characters that hide: a canary is one without them, too."""


def answered(case: Path, shape: str, fault: str) -> tuple[Result, list[Any]]:
    """The answer, and the canaries in it."""
    given, objects = cases.load(case)
    request, there, canaries = canary_reports.plant(
        plain(given.xr), plain(given.observed), plain(objects), shape, fault
    )
    got = settle(registry.compose, request, there)
    shown = {"shown": _ESCAPED.sub("", "\n".join(_told(got)))}
    return got, [*forbidden(leaks(got, canaries)), *search(canaries, shown)]


def faults(case: Path, shape: str, fault: str) -> list[Any]:
    """What is wrong with the answer."""
    got, leaked = answered(case, shape, fault)
    return [*leaked, *(text for text in _told(got) if visible(text) != text), *_too_long(got)]


def _told(got: Result) -> Iterator[str]:
    """Every text for people."""
    yield from (c.message for c in got.conditions)
    yield from (c.reason for c in got.conditions)
    yield from (e.message for e in got.events)
    yield from _texts(plain(got.status))


def _texts(value: Any) -> Iterator[str]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, str):
        yield value
    for child in children:
        yield from _texts(child)


def _too_long(got: Result) -> Iterator[str]:
    yield from (c.message for c in got.conditions if len(c.message) > LONGEST_MESSAGE)
    yield from (e.message for e in got.events if len(e.message) > LONGEST_NOTE)
    yield from (text for text in _texts(plain(got.status)) if len(text) > LONGEST_MESSAGE)


def of(shape: str) -> Iterator[tuple[Path, str]]:
    """Every third case, with a fault: other ones for each shape."""
    faults_ = canary_reports.FAULTS
    first = list(canary_reports.SHAPES).index(shape)
    for number, case in enumerate(REPORTING[first % _EVERY :: _EVERY], first):
        yield case, faults_[number % len(faults_)]


@pytest.mark.parametrize("shape", canary_reports.SHAPES)
def test_what_is_reported_is_harmless_in_some_cases(shape: str) -> None:
    some = [*of(shape)][:: len(REPORTING) // _EVERY // FEW]

    got = {f"{case.parent.name}/{case.name} {fault}": faults(case, shape, fault) for case, fault in some}

    assert {name: wrong for name, wrong in got.items() if wrong} == {}


@pytest.mark.slow
@pytest.mark.parametrize("shape", canary_reports.SHAPES)
def test_what_is_reported_is_harmless(shape: str) -> None:
    got = {f"{case.parent.name}/{case.name} {fault}": faults(case, shape, fault) for case, fault in of(shape)}

    assert {name: wrong for name, wrong in got.items() if wrong} == {}


@pytest.mark.slow
@pytest.mark.parametrize("fault", canary_reports.FAULTS)
def test_messages_are_told_at_all(fault: str) -> None:
    """A report that no answer repeats proves nothing."""
    told = [answered(case, "on a line", fault)[0] for case in REPORTING[::_EVERY]]

    repeating = [one for one in told if any("(sensitive)" in text for text in _told(one))]
    assert len(repeating) >= _LEAST
