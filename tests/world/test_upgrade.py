"""A serving fleet, as a release composed it, under this version of the function.

The releases' fleets are data (tests/data/upgrade). Pods that are replaced take rounds to start, and every round is
judged by what runs on the clusters, not by what is reported.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from function.api import modeldeployment
from function.core import Manifest, Request, Result, condition, dig, is_ready, plain
from function.fleet import renderings
from function.kinds.modeldeployment import decide, explain
from function.manifests import workloads
from function.planning.control_plane import ControlPlane
from function.sandbox.errors import Fatal
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import conditions as c
from function.vocabulary import labels, versions

RECORDED = sorted((Path(__file__).parents[1] / "data" / "upgrade").glob("rendering-*.yaml"))
SINGLE = {"solo", "solo-gang"}
_SHARE_THAT_FAILS = 0.3
_TRIES = 12
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
    rounds: int = 3
    """The rounds that pods take to start."""

    def __call__(self, store: Store) -> None:
        for ref, manifest in _workloads(store):
            wanted = plain(dig(manifest, "spec", "forProvider", "manifest", "spec"))
            there = dig(manifest, "status", "atProvider", "manifest")
            if self.seen.setdefault(ref, wanted) != wanted and dig(there, "spec") == wanted:
                self.seen[ref] = wanted
                self.down[ref] = self.rounds
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
    failed: int = 0
    """Calls that failed."""

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

    def everything_is_asked_again(self) -> None:
        """As Crossplane does from time to time, also without news."""
        self.control.loop.resync()

    def settle(self) -> None:
        for _ in self.rounds():
            pass


Make = Callable[..., Story]


@pytest.fixture(params=RECORDED, ids=lambda path: path.stem)
def fleet(request: pytest.FixtureRequest) -> Make:
    """Loads a release's fleet into a control plane, whose pods have been running for long."""

    def make(seed: int | None = None, levels: dict[str, int] | None = None) -> Story:
        control, pods = ControlPlane(seed=seed), SlowPods()
        control.loop.levels = levels or control.loop.levels
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


ORDERS: dict[str, dict[str, Any]] = {
    "replicas first": {},
    "deployments first": {"levels": {"ModelReplica": 1}},
    "shuffled": {"seed": 1},
    "shuffled otherwise": {"seed": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_a_serving_fleet_is_upgraded_one_replica_after_the_other(
    fleet: Make, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    changes_all_pods(monkeypatch)
    story = fleet(**ORDERS[order])

    taken = upgrade(story)

    assert taken == {name: names(story, name) for name in story.replicas if name not in SINGLE}
    assert _renderings(story) == {name: {1 if name in SINGLE else versions.RENDERING} for name in story.replicas}


@pytest.mark.slow
def test_this_version_as_it_is_upgrades_the_fleet(fleet: Make) -> None:
    story = fleet()
    upgrade(story)
    assert _renderings(story) == {name: {1 if name in SINGLE else versions.RENDERING} for name in story.replicas}


def test_a_release_wrote_the_specs_that_this_version_would_write(fleet: Make) -> None:
    """In whatever form. Otherwise an upgrade would be an edit of every deployment."""
    story = fleet()
    for name, ours in story.replicas.items():
        reconciler = story.control.loop.reconciler
        request = reconciler.request(story.deployment(name))
        request = reconciler.answered(request, explain.requirements(request))
        decision = decide.decide(request, modeldeployment.parse(request.xr))
        assert {r.held_back for r in decision.inputs.fleet.replicas} == {True}, name
        assert len(decision.plan.left_alone) == len(ours), name


@pytest.mark.slow
def test_the_next_version_and_the_one_before_are_rolled_out_as_well(
    fleet: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = fleet(seed=1)
    for number, note in ((11, "eleven"), (12, "twelve"), (11, "eleven")):
        monkeypatch.setattr(versions, "RENDERING", number)
        with pytest.MonkeyPatch.context() as patch:
            changes_all_pods(patch, note)
            story.everything_is_asked_again()
            taken = upgrade(story)
        assert taken == {name: names(story, name) for name in story.replicas if name not in SINGLE}


@pytest.mark.slow
def test_calls_that_fail_meanwhile_cost_no_second_replica(fleet: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that fails makes unknown whatever a replica said, and leaves it as Ready as it was."""
    changes_all_pods(monkeypatch)
    chance = random.Random(7)
    story = fleet(levels={"ModelReplica": 1})
    function = story.control.loop.reconciler.function

    def failing(request: Request) -> Result:
        if request.xr["kind"] == "ModelReplica" and chance.random() < _SHARE_THAT_FAILS:
            story.failed += 1
            raise Fatal("the function was restarted")
        return function(request)

    story.control.loop.reconciler.function = failing
    taken: dict[str, set[str]] = {}
    for _ in range(_TRIES):
        watch(story, taken)
        story.everything_is_asked_again()
    story.control.loop.reconciler.function = function
    watch(story, taken)

    assert story.failed
    assert taken == {name: names(story, name) for name in story.replicas if name not in SINGLE}


@pytest.mark.slow
def test_a_version_whose_pods_do_not_start_takes_one_replica_of_each_deployment(
    fleet: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes_all_pods(monkeypatch)
    story = fleet(seed=1)
    story.pods.rounds = 10_000
    for count in range(1, 60):
        story.control.loop.round(count)
    assert {name: len(down) for name, down in story.down.items()} == {n: int(n not in SINGLE) for n in story.replicas}
    assert dig(condition(story.deployment("chat"), "ReplicasReady"), "reason") == "RollingOut"


@pytest.mark.slow
def test_the_only_replica_says_what_brings_the_new_version(fleet: Make) -> None:
    story = fleet()
    upgrade(story)
    [name] = names(story, "solo")
    assert dig(condition(story.deployment("solo"), "ReplicasReady"), "message") == (
        f"1 of 1 replicas are ready; {name}: composed by another version of Modelplane, and not restarted for this "
        "one. The next edit of the spec does, or: kubectl annotate modeldeployment solo modelplane.ai/roll-anyway="
        f"{dig(story.deployment('solo'), 'status', 'revisions', 0, 'hash')}"
    )
    [replica] = story.replicas["solo"]
    assert dig(condition(replica, "ModelAccepted"), "reason") == c.AWAITING_TURN.reason


def _edit(deployment: dict[str, Any]) -> None:
    deployment["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] += "-1"


def _scale(deployment: dict[str, Any]) -> None:
    deployment["spec"]["replicas"] = 2


def _roll_anyway(deployment: dict[str, Any]) -> None:
    current = deployment["status"]["revisions"][0]["hash"]
    deployment["metadata"].setdefault("annotations", {})[labels.ROLL_ANYWAY] = current


@pytest.mark.slow
@pytest.mark.parametrize("change", [_edit, _scale, _roll_anyway])
def test_the_only_replica_gets_the_new_version_with(fleet: Make, change: Callable[[dict[str, Any]], None]) -> None:
    story = fleet()
    upgrade(story)
    story.control.store.update(Ref(versions.MODELPLANE, "ModelDeployment", "ml", "solo"), change)
    story.settle()
    assert _renderings(story)["solo"] == {versions.RENDERING}
    assert is_ready(story.deployment("solo"))


def upgrade(story: Story) -> dict[str, set[str]]:
    """Upgrade the whole fleet. Returns the replicas of each deployment whose pods were replaced."""
    taken: dict[str, set[str]] = {}
    watch(story, taken)
    assert all(is_ready(story.deployment(name)) for name in story.replicas)
    return taken


def watch(story: Story, taken: dict[str, set[str]]) -> None:
    """Let the fleet come to rest, and note whose pods are replaced: one replica of a deployment at a time, and never
    the only one."""
    before = {name: story.specs(name) for name in SINGLE}
    for _ in story.rounds():
        for name, down in story.down.items():
            assert len(down) <= (0 if name in SINGLE else 1), name
            if down:
                taken.setdefault(name, set()).update(down)
        for name in SINGLE:
            assert story.specs(name) == before[name]
            assert is_ready(story.deployment(name))


def names(story: Story, deployment: str) -> set[str]:
    return {m["metadata"]["name"] for m in story.replicas[deployment]}


def _renderings(story: Story) -> dict[str, set[int]]:
    return {n: {renderings.rendering(m["metadata"]) for m in ours} for n, ours in story.replicas.items()}
