"""No answer of a composer has a value of a Secret, but in the copies that pods read.

Each golden case is composed twice with canaries in every Secret, in messages and statuses of providers, in annotations
and in pod templates: as it is, and with every foreign object refused by a provider that quotes all of them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from function import registry
from function.core import plain
from function.sandbox.settle import settle
from tests.support import canary_places, cases
from tests.support.canaries import Leak
from tests.support.canary_allowed import ALLOWED, allowance, forbidden, leaks

KINDS = sorted({case.parent.name for case in cases.CASES})
_FEW = 2


@cache
def found(case: Path, *, refused: bool, wrong: str = "") -> tuple[Leak, ...]:
    given, objects = cases.load(case)
    request, there, canaries = canary_places.plant(
        plain(given.xr), plain(given.observed), plain(objects), refused=refused, words=refused, wrong=wrong
    )
    return tuple(leaks(settle(registry.compose, request, there), canaries))


def of_kind(kind: str) -> list[Path]:
    return [case for case in cases.CASES if case.parent.name == kind]


@pytest.mark.parametrize("kind", ["modelcache", "modelreplica"])
def test_no_answer_has_a_canary_in_some_cases(kind: str) -> None:
    assert [forbidden(found(case, refused=True)) for case in of_kind(kind)[:_FEW]] == [[]] * _FEW


@pytest.mark.slow
@pytest.mark.parametrize("refused", [False, True], ids=["as it is", "refused"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_answer_has_a_canary(kind: str, *, refused: bool) -> None:
    got = {case.name: forbidden(found(case, refused=refused)) for case in of_kind(kind)}

    assert {name: leaked for name, leaked in got.items() if leaked} == {}


WITH_SECRETS = [
    case
    for case in cases.CASES
    if any(
        "kind: Secret" in (case / f"{name}.yaml").read_text()
        for name in ("required", "observed")
        if (case / f"{name}.yaml").exists()
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", canary_places.WRONG)
def test_a_value_that_cannot_be_used_is_not_quoted(wrong: str) -> None:
    got = {case.name: forbidden(found(case, refused=True, wrong=wrong)) for case in WITH_SECRETS}

    assert {name: leaked for name, leaked in got.items() if leaked} == {}


@pytest.mark.slow
def test_each_allowance_is_used() -> None:
    used = Counter(
        allowed.where for case in cases.CASES for leak in found(case, refused=False) if (allowed := allowance(leak))
    )

    assert [one.where for one in ALLOWED if not used[one.where]] == []
