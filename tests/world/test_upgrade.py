"""A serving fleet, as a release composed it, under this version of the function.

The releases' fleets are data (tests/data/upgrade). Pods that are replaced take rounds to start, and every round is
judged by what runs on the clusters, not by what is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from function.core import Manifest, NamespacedName, condition, dig, is_ready, plain
from function.fleet import renderings
from function.manifests import workloads
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import conditions as c
from function.vocabulary import labels, versions

RECORDED = sorted((Path(__file__).parents[1] / "data" / "upgrade").glob("rendering-*.yaml"))
SINGLE = {"solo", "solo-gang"}
_START_ROUNDS = 3
_WORKLOADS = ("Deployment", "LeaderWorkerSet")
_MOST_ROUNDS = 400


@dataclass(slots=True)
class SlowPods:
    """A controller: pods of a workload that was changed serve again some rounds later. All copies are down until then,
    which is worse than a rolling update."""

    seen: dict[Ref, Any] = field(default_factory=dict)
    """The spec of each workload's pods."""
    down: dict[Ref, int] = field(default_factory=dict)
    """Workloads whose pods start, and the rounds that it takes."""
    up: dict[Ref, Any] = field(default_factory=dict)
    """Their status once the pods run."""

    def __call__(self, store: Store) -> None:
        for ref, manifest in _workloads(store):
            wanted = plain(dig(manifest, "spec", "forProvider", "manifest", "spec"))
            there = dig(manifest, "status", "atProvider", "manifest")
            if self.seen.setdefault(ref, wanted) != wanted and dig(there, "spec") == wanted:
                self.seen[ref] = wanted
                self.down[ref] = _START_ROUNDS
            if ref in self.down:
                self._start(store, ref, there)

    def _start(self, store: Store, ref: Ref, there: Manifest) -> None:
        none = {"observedGeneration": dig(there, "metadata", "generation"), "availableReplicas": 0, "readyReplicas": 0}
        if dig(there, "status") != none:
            self.up[ref] = plain(there["status"])
        self.down[ref] -= 1
        if not self.down[ref]:
            del self.down[ref]
            none = self.up[ref]
        store.update(ref, lambda found: found["status"]["atProvider"]["manifest"].update(status=none), status=True)


def _workloads(store: Store) -> Iterator[tuple[Ref, Manifest]]:
    """The Objects of engines, and of pickers."""
    for manifest in store.of_kind(versions.PROVIDER_KUBERNETES, "Object"):
        if dig(manifest, "spec", "forProvider", "manifest", "kind") in _WORKLOADS and _owner(manifest):
            yield ref_of(manifest), manifest


def _owner(manifest: Manifest) -> str:
    """The replica or deployment that composed an object; empty for others."""
    owners = dig(manifest, "metadata", "ownerReferences") or ()
    return next((o["name"] for o in owners if o["kind"] in ("ModelReplica", "ModelDeployment")), "")


@cache
def _recorded(path: Path) -> tuple[Manifest, ...]:
    return tuple(yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


@dataclass(slots=True)
class Story:
    """A fleet that is upgraded, round by round."""

    control: ControlPlane
    pods: SlowPods

    @property
    def replicas(self) -> dict[str, list[Manifest]]:
        """By deployment."""
        found: dict[str, list[Manifest]] = {}
        for manifest in self.control.store.of_kind(versions.MODELPLANE, "ModelReplica"):
            found.setdefault(_owner(manifest), []).append(manifest)
        return found

    @property
    def down(self) -> dict[str, set[str]]:
        """The replicas of each deployment of which a workload does not run."""
        starting = {_owner(m) for ref, m in _workloads(self.control.store) if ref in self.pods.down}
        return {name: {m["metadata"]["name"] for m in ours} & starting for name, ours in self.replicas.items()}

    def deployment(self, name: str) -> Manifest:
        found = self.control.store.get(Ref(versions.MODELPLANE, "ModelDeployment", "ml", name))
        assert found is not None
        return found

    def specs(self, deployment: str) -> dict[Ref, Any]:
        """What the workloads of a deployment's replicas are to be."""
        names = {m["metadata"]["name"] for m in self.replicas[deployment]}
        found = _workloads(self.control.store)
        return {ref: plain(m["spec"]["forProvider"]["manifest"]["spec"]) for ref, m in found if _owner(m) in names}

    def rounds(self) -> Iterator[None]:
        """One round after the other, until nothing changes and all pods run."""
        for count in range(1, _MOST_ROUNDS):
            before = self.control.store.version
            reconciled = self.control.loop.round(count)
            yield
            if not reconciled and self.control.store.version == before and not self.pods.down:
                return
        raise AssertionError("the fleet does not come to rest")

    def settle(self) -> None:
        for _ in self.rounds():
            pass


Make = Callable[..., Story]


@pytest.fixture(params=RECORDED, ids=lambda path: path.stem)
def fleet(request: pytest.FixtureRequest) -> Make:
    """Loads a release's fleet into a control plane, whose pods have been running for long."""

    def make(seed: int | None = None) -> Story:
        control, pods = ControlPlane(seed=seed), SlowPods()
        control.loop.load(_recorded(request.param))
        control.clusters(control.store)
        pods(control.store)
        control.loop.controllers = (control.clusters, pods)
        return Story(control, pods)

    return make


def changes_all_pods(monkeypatch: pytest.MonkeyPatch, note: str = "changed") -> None:
    """Let this version compose other pods than any release, whatever else it changes."""
    for builder, templates in (("deployment", ("pod",)), ("leader_worker_set", ("leader", "worker"))):
        build = getattr(workloads, builder)

        def noted(*, of: Any = build, names: tuple[str, ...] = templates, **values: Any) -> Any:
            annotated = {name: _annotated(values[name], note) for name in names}
            return of(**{**values, **annotated})

        monkeypatch.setattr(workloads, builder, noted)


def _annotated(template: Manifest, note: str) -> Manifest:
    metadata = template["metadata"]
    return {**template, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), "note": note}}}


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_serving_fleet_is_upgraded_one_replica_after_the_other(
    fleet: Make, monkeypatch: pytest.MonkeyPatch, seed: int | None
) -> None:
    changes_all_pods(monkeypatch)
    story = fleet(seed)
    before, taken = {name: story.specs(name) for name in SINGLE}, set()

    for _ in story.rounds():
        for name, down in story.down.items():
            assert len(down) <= (0 if name in SINGLE else 1), name
            taken |= down
        for name in SINGLE:
            assert story.specs(name) == before[name]
            assert is_ready(story.deployment(name))

    others = {m["metadata"]["name"] for name, ours in story.replicas.items() if name not in SINGLE for m in ours}
    assert taken == others
    assert all(is_ready(story.deployment(name)) for name in story.replicas)
    assert _renderings(story) == {name: {1 if name in SINGLE else versions.RENDERING} for name in story.replicas}


def _renderings(story: Story) -> dict[str, set[int]]:
    return {n: {renderings.rendering(m["metadata"]) for m in ours} for n, ours in story.replicas.items()}
