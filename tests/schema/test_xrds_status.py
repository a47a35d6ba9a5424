"""What composers write is in the schema: the API server drops what is not, without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from function import registry
from function.core import Manifest, dig, mappings, plain
from function.publish import xrd
from function.publish.catalog import BY_KIND
from function.schema import Column, problems
from tests.support.cases import CASES, answer, each_case, load


def _kind(xr: Manifest) -> tuple[str, str]:
    return xr["apiVersion"], xr["kind"]


@each_case
def test_every_status_is_one_of_its_kind(case: Path) -> None:
    request, _ = load(case)
    status = plain(answer(case).status)

    try:
        BY_KIND[_kind(request.xr)].status.model_validate(status, extra="forbid")
    except ValidationError as error:
        pytest.fail(str(error))


@each_case
def test_every_object_of_ours_that_is_composed_is_one_of_its_kind(case: Path) -> None:
    """What is held is as its user, or an older release, left it: only what is new is looked at."""
    request, _ = load(case)
    composed = {key: r.manifest for key, r in answer(case).resources.items() if key not in request.observed}

    flaws = {
        key: problems(BY_KIND[_kind(manifest)].spec, manifest)
        for key, manifest in composed.items()
        if _kind(manifest) in BY_KIND
    }
    assert {key: found for key, found in flaws.items() if found} == {}


def test_every_kind_that_is_composed_for_has_its_schema() -> None:
    assert registry.COMPOSERS.keys() <= BY_KIND.keys()


def test_every_column_about_the_status_is_filled_by_some_case() -> None:
    """A column whose field no composer ever writes is empty for ever."""
    answers = [(load(case)[0].xr, answer(case).status) for case in CASES]
    empty = {
        (kind.kind, column.name)
        for kind in BY_KIND.values()
        for column in xrd.columns(kind)
        if column.path.startswith(".status.") and any(xr["kind"] == kind.kind for xr, _ in answers)
        if not any(_is_filled(column, status) for xr, status in answers if xr["kind"] == kind.kind)
    }

    assert empty == set()


def _is_filled(column: Column, status: Manifest) -> bool:
    """Whether a column has a value. One that chooses among the items of a list is filled by the same code
    for any of them."""
    before, _, chosen = column.path.partition("[?(@.")
    found = dig({"status": status}, *before[1:].split("."))
    if not chosen:
        return found is not None
    return any(f"{key}=='" in chosen for item in mappings(found) for key in item)
