"""Pod Security keeps new replicas off a cluster, and new specs from replicas there. It moves nothing that stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Action,
    ChangePods,
    Cluster,
    EnforceLevel,
    Engine,
    EvictionReason,
    Fitter,
    Fleet,
    Job,
    Member,
    PlacedEngine,
    PlacedMember,
    Plan,
    PodViolation,
    Pool,
    Replica,
    Taint,
    Tolerate,
    breakdowns,
    filter_cluster,
    proposals,
    rejection,
    rejections,
    solve,
)
from tests.support.fleets import GPUS, ME, request

HOST_PATH = PodViolation("", "spec.volumes[0].hostPath", "must not be set")
ROOT = PodViolation("engine", "spec.containers[0].securityContext.runAsNonRoot", "must be true")
JOB = Job(
    ME,
    1,
    (Engine("e", 1, (Member("Standalone", 1, (request(),)),)),),
    spec_hash="new",
    pod_violations={"privileged": (), "baseline": (HOST_PATH,), "restricted": (HOST_PATH, ROOT)},
)


def cluster(name: str, level: Any = "baseline", nodes: int = 1, **fields: Any) -> Cluster:
    return Cluster(name, pod_security=level, pools=(Pool("p", nodes, GPUS["small"]),), **fields)


def fleet(*clusters: Cluster, replicas: tuple[Replica, ...] = ()) -> Fleet:
    return Fleet({c.name: c for c in clusters}, replicas)


def serving(where: str, spec_hash: str = "old") -> Replica:
    engines = (PlacedEngine("e", 1, (PlacedMember("Standalone", 1, "p", claims=True),)),)
    name = NamespacedName("ml", f"me-{where}")
    return Replica(name, ME, where, 0, engines, ready=True, serving=True, served=True, spec_hash=spec_hash)


def actions(plan: Plan) -> dict[str, Action]:
    return {placement.cluster: placement.action for placement in plan.placements}


@pytest.mark.parametrize(
    ("level", "want"),
    [
        ("privileged", None),
        ("baseline", rejection.PodSecurity("baseline", *HOST_PATH)),
        ("restricted", rejection.PodSecurity("restricted", *HOST_PATH, (ROOT.field,))),
    ],
)
def test_a_cluster_takes_what_its_level_admits(level: str, want: rejection.PodSecurity | None) -> None:
    assert filter_cluster(JOB, cluster("a", level)) == want


def test_a_job_that_says_nothing_of_its_pods_goes_everywhere() -> None:
    assert filter_cluster(replace(JOB, pod_violations={}), cluster("a", "restricted")) is None


def test_a_taint_is_told_before_it_and_the_cache_after_it() -> None:
    tainted = cluster("a", taints=(Taint("busy", "", "NoSchedule"),))
    assert filter_cluster(JOB, tainted) == rejection.Tainted("busy", "", "NoSchedule")
    assert isinstance(filter_cluster(replace(JOB, cache={}), cluster("a")), rejection.PodSecurity)


def test_new_replicas_go_only_where_they_are_admitted() -> None:
    there = fleet(cluster("a", nodes=9), cluster("b", "privileged"), cluster("c", "restricted", nodes=9))
    wanted = replace(JOB, replicas=2)
    plan = solve(wanted, there)
    assert actions(plan) == {"b": Action.CREATE}
    assert {r.cluster: r.code for r in rejections(wanted, there, plan)} == {
        "a": "PodSecurity",
        "b": "Full",
        "c": "PodSecurity",
    }


def test_a_lowered_level_moves_nothing_that_is_current() -> None:
    there = fleet(cluster("a", "restricted"), cluster("b", "privileged"), replicas=(serving("a", "new"),))
    plan = solve(JOB, there)
    assert actions(plan) == {"a": Action.KEEP}
    assert not plan.leaving


@pytest.mark.parametrize("awaits_turn", [False, True])
@pytest.mark.parametrize("wanted", [1, 2])
def test_a_new_version_of_the_function_moves_nothing_either(wanted: int, *, awaits_turn: bool) -> None:
    """The spec is the same, so no pod gets a right that it did not have."""
    held_back = tuple(
        replace(serving("a", "new-1"), identity=NamespacedName("ml", f"me-{i}"), index=i, held_back=True)
        for i in range(wanted)
    )
    replicas = tuple(replace(replica, awaits_turn=awaits_turn) for replica in held_back)
    there = fleet(cluster("a", nodes=2), cluster("b", "privileged", nodes=2), replicas=replicas)
    plan = solve(replace(JOB, replicas=wanted), there)
    assert {p.cluster for p in plan.placements} == {"a"}
    assert not plan.leaving
    turns = [p for p in plan.placements if p.action is Action.UPDATE]
    assert len(turns) == int(wanted > 1 and awaits_turn)


def test_a_spec_that_is_not_admitted_is_given_to_no_replica_in_place() -> None:
    """Otherwise an edit would bring onto a cluster what could not be placed there."""
    there = fleet(cluster("a"), cluster("b", "privileged"), replicas=(serving("a"),))
    plan = solve(JOB, there)
    assert actions(plan) == {"a": Action.AWAIT_SUCCESSOR, "b": Action.CREATE}
    assert list(plan.leaving.values()) == [EvictionReason.PODS_FORBIDDEN]


def test_it_serves_on_where_no_cluster_admits_the_new_spec() -> None:
    there = fleet(cluster("a"), cluster("b", "restricted"), replicas=(serving("a"),))
    plan = solve(JOB, there)
    assert actions(plan) == {"a": Action.AWAIT_SUCCESSOR}
    assert plan.placed[0].fit is None
    assert plan.missing == 1


def test_an_outdated_replica_is_updated_where_it_is_admitted() -> None:
    there = fleet(cluster("b", "privileged"), cluster("a"), replicas=(serving("b"),))
    assert actions(solve(JOB, there)) == {"b": Action.UPDATE}


def test_all_that_must_change_is_proposed_and_a_level_that_admits_the_pods() -> None:
    tainted = cluster("d", taints=(Taint("busy", "", "NoSchedule"),))
    there = fleet(cluster("a", "restricted"), cluster("b", "privileged", nodes=0), cluster("c", nodes=0), tainted)
    plan, fitter = solve(JOB, there), Fitter(JOB.engines)
    found = breakdowns(JOB, there, plan, fitter)
    changes = dict(zip((b.cluster.name for b in found), proposals(JOB, there, plan, fitter, found), strict=True))
    demand = f"{HOST_PATH.field} must not be set; {ROOT.field} must change as well"
    assert changes["a"] == (EnforceLevel("privileged"), ChangePods(demand))
    assert changes["d"] == (Tolerate("busy", "", "NoSchedule"),), "what is behind the taint is found by a trial"


def test_what_is_said_names_level_container_and_field() -> None:
    reason = rejection.PodSecurity("restricted", *ROOT, (HOST_PATH.field,))
    assert str(reason) == f"enforcing Pod Security restricted ({ROOT.field} must be true; 1 more field)"
    assert reason.detail() == (
        f"the cluster enforces Pod Security restricted, by which {ROOT.field} (container engine) must be true;"
        f" {HOST_PATH.field} must change as well"
    )
