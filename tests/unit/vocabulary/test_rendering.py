"""A reminder: who changes what is composed from specs that exist raises versions.RENDERING.

It compares with the last release, and not with the last commit, so one raise is enough for all changes of a release.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from function.manifests import workloads
from function.vocabulary import versions
from tests.data.upgrade import record

GOLDEN = Path(__file__).parents[2] / "golden"
LAST: dict[str, Any] = yaml.safe_load(record.COMPOSED.read_text())
FEWEST_CASES = 8


def compared() -> dict[str, bool]:
    """Whether this version composes something else than the last release, by case. Cases that ask for something else
    than they did tell nothing."""
    now = record.digests(GOLDEN)
    both = {case: (then, now[case]) for case, then in LAST["cases"].items() if case in now}
    return {case: a["composed"] != b["composed"] for case, (a, b) in both.items() if a["asked"] == b["asked"]}


def test_a_change_of_what_is_composed_raises_the_rendering() -> None:
    changed = sorted(case for case, is_changed in compared().items() if is_changed)
    is_raised = bool(versions.RENDERING - LAST["rendering"])
    assert is_raised or not changed, (
        f"{len(changed)} golden cases of ModelReplica are composed in another way than by the last release, such as "
        f"{', '.join(changed[:3])}. An upgrade would restart all replicas of a fleet at once. Raise RENDERING in "
        f"function/vocabulary/versions.py to {LAST['rendering'] + 1}; see docs/development.md"
    )


def test_the_last_release_is_recorded() -> None:
    assert versions.RENDERING - LAST["rendering"] in (0, 1), (
        f"tests/data/upgrade/composed.yaml has rendering {LAST['rendering']}, and this version has "
        f"{versions.RENDERING}. Record the last release with tests/data/upgrade/record.py"
    )
    assert (record.COMPOSED.parent / f"rendering-{LAST['rendering']}.yaml").exists()


def test_there_are_cases_to_compare() -> None:
    assert len(compared()) >= FEWEST_CASES, (
        "too many golden cases ask for something else than they did for the last release; add new cases instead, or "
        "record the last release again with these cases"
    )


def test_a_changed_pod_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    build = workloads.deployment
    monkeypatch.setattr(workloads, "deployment", lambda **values: {**build(**values), "more": 1})
    assert any(compared().values())
