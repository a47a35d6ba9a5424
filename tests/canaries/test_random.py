"""Canaries at random places among random invalid neighbours are neither in errors nor in conditions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function import registry
from function.core import plain
from function.publish.catalog import BY_KIND
from function.sandbox.settle import settle
from function.schema.problems import problems
from tests.support import canary_places, cases
from tests.support.canaries import Canary, search

ONE = Canary("somewhere")
SHAPES = (
    ONE.token,
    f"hf_{ONE.token}",
    f"https://user:{ONE.token}@example.org/v1",
    f"https://example.org/v1?token={ONE.token}",
    f"--api-key={ONE.token}",
    f"Authorization: Bearer {ONE.token}",
    ONE.pem,
    ONE.kubeconfig,
    f" {ONE.token}\0",
    ONE.token * 500,
)
"""What people paste into a wrong field."""
CASES = [
    next(case for case in cases.CASES if case.parent.name == kind)
    for kind in ("modeldeployment", "modelcache", "modelendpoint", "modelservice", "modelcaller", "inferencecluster")
]
junk = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.builds(list), st.builds(dict))


def _set(manifest: Any, path: tuple[str | int, ...], value: Any) -> None:
    for step in path[:-1]:
        manifest = manifest[step] if isinstance(manifest, dict | list) else {}
    if isinstance(manifest, dict) or (
        isinstance(manifest, list) and isinstance(path[-1], int) and path[-1] < len(manifest)
    ):
        manifest[path[-1]] = value


@st.composite
def broken(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """A golden case and its XR, with a canary in one field of the spec, and junk in up to three others."""
    case = draw(st.sampled_from(CASES))
    xr = plain(cases.load(case)[0].xr)
    paths = [*canary_places.paths(xr["spec"])]
    for path in draw(st.lists(st.sampled_from(paths), max_size=3)):
        try:
            _set(xr["spec"], path, draw(junk))
        except (KeyError, IndexError, TypeError):
            continue
    *way, last = draw(st.sampled_from([*canary_places.paths(xr["spec"])] or [("x",)]))
    planted: Any = draw(st.sampled_from(SHAPES))
    value = draw(st.sampled_from([planted, [planted], {"value": planted}, {planted: 1}]))
    _set(xr["spec"], (*way, last), value)
    return case, xr


@settings(max_examples=10)
@given(broken())
def test_an_error_does_not_quote_what_was_pasted(given: tuple[Any, dict[str, Any]]) -> None:
    _, xr = given
    model = BY_KIND[xr["apiVersion"], xr["kind"]].spec

    told = [
        f"{one.field} {one.message} {one.accepted} {json.dumps(one.value, default=str)}" for one in problems(model, xr)
    ]

    assert search([ONE], {"problems": "\n".join(told)}) == []


@pytest.mark.slow
@given(broken())
def test_a_condition_does_not_quote_what_was_pasted(given: tuple[Any, dict[str, Any]]) -> None:
    case, xr = given
    request, objects = cases.load(case)

    got = settle(registry.compose, type(request)(xr=xr, observed=request.observed), objects)

    told = "\n".join([*(c.message for c in got.conditions), *(e.message for e in got.events)])
    assert search([ONE], {"told": told}) == []
