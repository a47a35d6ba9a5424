"""Whatever an observer reports, or does not: an InferenceCluster says so, and nothing else of it changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.api.inferencecluster import CapacityStatus
from function.core import Request, Result, dig, plain
from function.core.condition import LONGEST_MESSAGE
from function.fleet import clusters
from function.kinds.inferencecluster import capacity
from function.kinds.inferencecluster.composer import COMPOSER
from function.sandbox.settle import settle
from function.vocabulary import names
from function.vocabulary.observation import OBSERVED_KEY, NodeState
from tests.support.cases import ROOT, load
from tests.support.observations import nodes, observation, pool

REQUEST, OBJECTS = load(ROOT / "inferencecluster" / "observed-nodes-are-counted-in-the-status")
HASH = names.content_hash(capacity.declared_on_cluster(REQUEST))
TEXT = st.text(max_size=12)
NUMBERS = st.integers(-2, 70) | st.integers(-(2**70), 2**70)
RECORDS = st.builds(
    lambda name, state, count, foreign, taint: nodes(
        name, state=state, count=count, devices={"d0": 1}, foreign={"d0": foreign}, taint=taint
    ),
    name=TEXT,
    state=st.sampled_from([*NodeState]) | TEXT,
    count=st.integers(1, 3) | NUMBERS,
    foreign=st.integers(0, 1) | NUMBERS,
    taint=TEXT,
)
POOLS = st.builds(
    lambda records, stock, differs: pool(*records, outOfStock=stock, differs=differs),
    records=st.lists(RECORDS, max_size=3),
    stock=st.none() | TEXT | st.just("x" * 2_000),
    differs=st.lists(
        st.builds(
            lambda fact, value: {"device": "d0", "fact": fact, "declared": value, "published": None, "nodes": 1},
            fact=TEXT,
            value=TEXT | st.just("\u202e" * 300),
        ),
        max_size=20,
    ),
)
REPORTS = st.builds(
    lambda cluster, hashed, pools: json.dumps(observation(cluster, hashed, pools=pools)),
    cluster=st.just("edge") | TEXT,
    hashed=st.just(HASH) | TEXT,
    pools=st.dictionaries(st.just("l4") | TEXT, POOLS, max_size=12),
)
SYNCED = st.sampled_from(["True", "True", "False", "Unknown"])


def with_report(text: Any, synced: str, available: str | None) -> Request:
    """The request of a cluster of which something is observed."""
    observed = {key: plain(manifest) for key, manifest in REQUEST.observed.items()}
    told = observed[capacity.OBSERVATION]
    told["status"] = {
        "conditions": [{"type": "Synced", "status": synced, "message": "why"}],
        "atProvider": {"manifest": {"kind": "ConfigMap", "data": {OBSERVED_KEY: text}}},
    }
    conditions = [{"type": "Available", "status": available}] if available else None
    observed[capacity.OBSERVER]["status"]["atProvider"] = {"manifest": {"status": {"conditions": conditions}}}
    return replace(REQUEST, observed=observed)


def parts(result: Result) -> tuple[Any, ...]:
    """All but what is told of the capacity."""
    status = {key: value for key, value in plain(result.status).items() if key not in _TOLD_OF_IT}
    informing = {t.type for t in COMPOSER.optional}
    conditions = [c for c in result.conditions if c.type not in informing]
    own = {capacity.OBSERVATION, capacity.OBSERVER}
    resources = {key: r.manifest for key, r in result.resources.items() if key not in own}
    return result.ready, result.waiting, status, conditions, resources


_TOLD_OF_IT = ("capacity", "reason", "message")
"""Fields of the status that tell what is observed, and which condition is at fault."""
WANT = parts(settle(COMPOSER, REQUEST, OBJECTS))


@pytest.mark.slow
@given(REPORTS | TEXT | st.none() | NUMBERS, SYNCED, st.sampled_from(["True", "True", "False", None]))
def test_a_report_changes_nothing_but_what_is_told_of_it(text: Any, synced: str, available: str | None) -> None:
    got = settle(COMPOSER, with_report(text, synced, available), OBJECTS)

    assert parts(got) == WANT
    told = [c for c in got.conditions if c.type in {t.type for t in COMPOSER.optional}]
    assert [c.type for c in told] == [t.type for t in COMPOSER.optional]
    assert all(len(c.message.encode()) <= 4 * LONGEST_MESSAGE for c in told)
    published = CapacityStatus.model_validate(plain(got.status["capacity"]))
    assert {one.pool for one in published.pools} <= {"l4"}

    manifest = {**plain(REQUEST.xr), "status": plain(got.status)}
    counts = clusters.cluster(manifest).capacity_object is not None
    assert counts == (told[0].status == "True")
    assert not counts or (synced, available) in {("True", "True"), ("Unknown", "True")}


def test_the_example_is_believed() -> None:
    """So that the property above is not about refusals alone."""
    text = dig(REQUEST.observed["capacity"], "status", "atProvider", "manifest", "data", OBSERVED_KEY)
    got = settle(COMPOSER, with_report(text, "True", "True"), OBJECTS)
    assert [c.reason for c in got.conditions][-2:] == ["Observed", "Matches"]
