"""Who is woken by what: the index answers as if every requirement were compared with every change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import Requirement
from function.sandbox.dependencies import Dependencies
from function.sandbox.settle import matches
from function.sandbox.store import Ref

KINDS, NAMESPACES, NAMES = ("Part", "Host"), ("", "n", "m"), ("a", "b")
LABELS = st.dictionaries(st.sampled_from(("app", "tier")), st.sampled_from("xy"))
XRS = [Ref("v1", "App", "n", name) for name in "pqrst"]
REFS = st.builds(Ref, st.just("v1"), st.sampled_from(KINDS), st.sampled_from(NAMESPACES), st.sampled_from(NAMES))


def by_name(ref: Ref) -> Requirement:
    return Requirement("x", ref.api_version, ref.kind, match_name=ref.name, namespace=ref.namespace or None)


def by_labels(kind: str, labels: dict[str, str], namespace: str | None) -> Requirement:
    return Requirement("x", "v1", kind, match_labels=labels, namespace=namespace)


REQUIREMENTS = st.builds(by_name, REFS) | st.builds(
    by_labels, st.sampled_from(KINDS), LABELS, st.sampled_from((None, "n", "m"))
)
TRACKED = st.lists(
    st.tuples(st.sampled_from(XRS), st.lists(REFS, max_size=2), st.lists(REQUIREMENTS, max_size=3).map(tuple)),
    max_size=8,
)


def stored(ref: Ref, labels: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": ref.name, "labels": labels} | ({"namespace": ref.namespace} if ref.namespace else {})
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata}


def refers(asked: Requirement, ref: Ref, labels: dict[str, str]) -> bool:
    """As Crossplane: a name without a namespace is that of a cluster-scoped object."""
    fits = asked.match_name is None or (asked.namespace or "") == ref.namespace
    return fits and matches(asked, stored(ref, labels))


@given(TRACKED, st.sets(st.sampled_from(XRS)), REFS, LABELS, LABELS)
def test_the_index_finds_whoever_refers_to_an_object(
    tracked: list[tuple[Ref, list[Ref], tuple[Requirement, ...]]],
    forgotten: set[Ref],
    ref: Ref,
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    dependencies = Dependencies()
    for xr, composed, required in tracked:
        dependencies.track(xr, composed, required)
    for xr in forgotten:
        dependencies.forget(xr)
    last = {xr: (composed, required) for xr, composed, required in tracked if xr not in forgotten}

    for index in (dependencies, dependencies.copied()):
        assert index.composers(ref) == {xr for xr, (composed, _) in last.items() if ref in composed}
        assert index.askers(ref, before, after) == {
            xr
            for xr, (_, required) in last.items()
            if any(refers(asked, ref, labels) for asked in required for labels in (before, after))
        }


@pytest.mark.slow
@given(TRACKED)
def test_nothing_is_left_of_what_is_forgotten(
    tracked: list[tuple[Ref, list[Ref], tuple[Requirement, ...]]],
) -> None:
    dependencies = Dependencies()
    for xr, composed, required in tracked:
        dependencies.track(xr, composed, required)

    for xr in XRS:
        dependencies.forget(xr)

    assert dependencies == Dependencies()
