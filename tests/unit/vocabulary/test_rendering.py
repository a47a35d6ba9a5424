"""A reminder: who changes what is composed from specs that exist raises versions.RENDERING.

It compares with the last release, and not with the last commit, so one raise is enough for all changes of a release.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from function.core import Manifest, dig, plain
from function.manifests import workloads
from function.planning.control_plane import ControlPlane
from function.vocabulary import labels, versions
from tests.data.upgrade import record

GOLDEN = Path(__file__).parents[2] / "golden"
LAST: dict[str, Any] = yaml.safe_load(record.COMPOSED.read_text())
FLEET = record.COMPOSED.parent / f"rendering-{LAST['rendering']}.yaml"
FEWEST_CASES = 16


def compared() -> dict[str, bool]:
    """Whether this version composes something else than the last release, by golden case, and by replica of the
    recorded fleet. Cases that ask for something else than they did tell nothing."""
    now = record.digests(GOLDEN)
    both = {case: (then, now[case]) for case, then in LAST["cases"].items() if case in now}
    cases = {case: a["composed"] != b["composed"] for case, (a, b) in both.items() if a["asked"] == b["asked"]}
    return cases | _fleet()


def _fleet() -> dict[str, bool]:
    then = [m for m in yaml.load_all(FLEET.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if m]
    control = ControlPlane()
    control.loop.load([_waved_through(manifest) for manifest in then])
    control.loop.settle()
    now = control.store.of_kind(versions.PROVIDER_KUBERNETES, "Object")
    before, after = _by_replica(then), _by_replica(now)
    return {f"replica {name}": before[name] != after.get(name) for name in before}


def _waved_through(manifest: dict[str, Any]) -> dict[str, Any]:
    """A deployment whose replicas all get a new rendering, also the only one."""
    if manifest["kind"] != "ModelDeployment":
        return manifest
    annotations = {**manifest["metadata"].get("annotations", {}), labels.ROLL_ANYWAY: "true"}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def _by_replica(objects: Iterable[Manifest]) -> dict[str, dict[str, Any]]:
    """What each replica has on its cluster."""
    found: dict[str, dict[str, Any]] = {}
    for manifest in objects:
        owner, there = dig(manifest, "metadata", "ownerReferences", 0), dig(manifest, "spec", "forProvider", "manifest")
        if dig(owner, "kind") == "ModelReplica" and there:
            name = f"{there['kind']} {there['metadata']['name']}"
            found.setdefault(owner["name"], {})[name] = record.without_notes(plain(there))
    return found


@pytest.mark.slow
def test_a_change_of_what_is_composed_raises_the_rendering() -> None:
    changed = sorted(case for case, is_changed in compared().items() if is_changed)
    is_raised = bool(versions.RENDERING - LAST["rendering"])
    assert is_raised or not changed, (
        f"{len(changed)} replicas are composed in another way than by the last release, such as those of "
        f"{', '.join(changed[:3])}. An upgrade would restart all replicas of a fleet at once. Raise RENDERING in "
        f"function/vocabulary/versions.py to {LAST['rendering'] + 1}; see docs/development.md"
    )


def test_the_last_release_is_recorded() -> None:
    assert versions.RENDERING - LAST["rendering"] in (0, 1), (
        f"tests/data/upgrade/composed.yaml has rendering {LAST['rendering']}, and this version has "
        f"{versions.RENDERING}. Record the last release with tests/data/upgrade/record.py"
    )
    assert FLEET.exists()


@pytest.mark.slow
def test_there_are_cases_to_compare() -> None:
    assert len(compared()) >= FEWEST_CASES, (
        "too many golden cases ask for something else than they did for the last release; add new cases instead, or "
        "record the last release again with these cases"
    )


@pytest.mark.slow
def test_a_changed_pod_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    build = workloads.deployment
    monkeypatch.setattr(workloads, "deployment", lambda **values: {**build(**values), "more": 1})
    assert compared()["standalone-becomes-a-deployment"]
