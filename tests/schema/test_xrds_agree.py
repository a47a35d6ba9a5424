"""A model and the definition made of it accept the same: what one lets pass, the other would refuse too late.

Pod templates are apart: the definition declares only what we read of them, and may accept what the model refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from function.publish.catalog import BY_KIND
from function.schema import Path, problems
from tests.support.admission import is_admitted
from tests.support.samples import ALL, Object, edited

WORDS = ("", "a", "A b", "a.b", "a/b", "-a", "0", "8", "1.5", "40Gi", "4 Gi", "1e3", "a" * 64, "a" * 300, "x_y", "ä")
KNOWN = (
    "Standalone",
    "Leader",
    "Worker",
    "Prefill",
    "PrefillDecode",
    "Exists",
    "Equal",
    "Existing",
    "GKE",
    "EFA",
    "system",
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 130),
    st.sampled_from([0.5, 2.0, -1.0, 1e9, 2**53]),
    st.sampled_from(WORDS + KNOWN),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS[1:]), inner, max_size=3),
    max_leaves=4,
)


def paths(value: Any, path: str = "spec") -> Iterator[str]:
    """Every place in a value, as `edited` names it. Some keys cannot be named so."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if isinstance(key, int) or not ("." in key or key.isdigit()):
            yield from paths(child, f"{path}.{key}")


@st.composite
def edits(draw: st.DrawFn) -> Object:
    """A sample with one or two of its values replaced by something, or removed, or with a sibling's in their place."""
    xr = draw(st.sampled_from(ALL))
    for _ in range(draw(st.integers(1, 2))):
        places = [place for place in paths(xr["spec"]) if place != "spec"]
        place = draw(st.sampled_from(places))
        how = draw(st.sampled_from(["value", "gone", "twice"]))
        xr = (
            edited(xr, place, draw(values))
            if how == "value"
            else edited(xr, place)
            if how == "gone"
            else doubled(xr, place)
        )
        if not isinstance(xr["spec"], dict) or not xr["spec"]:
            break
    return xr


def doubled(xr: Object, place: str) -> Object:
    """With the list at, or around, a place twice as long: its items twice."""
    items: Any = xr
    for step in place.split("."):
        items = items[int(step)] if isinstance(items, list) else items[step]
    return edited(xr, place, items * 2) if isinstance(items, list) else xr


@given(edits())
def test_what_the_model_accepts_the_definition_accepts_and_the_reverse_outside_templates(xr: Object) -> None:
    kind = BY_KIND[xr["apiVersion"], xr["kind"]]

    ours = [problem for problem in problems(kind.spec, xr) if problem.code != "unknown-field"]
    if all(is_in_template(problem.path) for problem in ours):
        assert ours or is_admitted(xr)
    else:
        assert not is_admitted(xr), ours


def is_in_template(path: Path) -> bool:
    """Whether a path leads into a pod template. A template that is missing, or no map, is refused by both."""
    return "template" in path[:-1]
