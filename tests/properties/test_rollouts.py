"""A rollout never costs more than one replica at a time, whatever is edited, upgraded, scaled, lost or ill."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from function.core import NamespacedName
from function.fleet import renderings
from function.scheduling import Action, PlacedEngine, PlacedMember, Plan, Replica, nodes_of
from tests.support.rollouts import ME, Play

NEIGHBOUR = NamespacedName("hr", "neighbour")
clusters = st.sampled_from("xyz")
images = st.sampled_from(["good", "better", "bad", "bad-too"])
sizes = st.sampled_from([1, 1, 1, 2])
counts = st.integers(0, 4)
passes = st.integers(0, 2)
"""Reconciles that follow an event before the next one; with none, two events meet in one decision."""


class Rollouts(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.play = Play({})

    @initialize(pools=st.dictionaries(clusters, st.integers(1, 4), min_size=1, max_size=3), wanted=st.integers(1, 4))
    def start(self, pools, wanted) -> None:
        self.play = Play(dict(pools), "first 1", wanted)
        self._settle()

    # What users, autoscalers, clouds and clusters do

    @rule(image=images, size=sizes, replicas=st.none() | counts, passes=passes)
    def edit(self, image, size, replicas, passes) -> None:
        self.play.edit(f"{image} {size}", replicas)
        self._reconcile(passes)

    @rule(by=st.sampled_from([-1, 1, -2]), passes=passes)
    def scale(self, by, passes) -> None:
        self.play.edit(replicas=min(4, max(0, self.play.wanted + by)))
        self._reconcile(passes)

    @rule(cluster=clusters, nodes=st.integers(0, 4))
    def add_or_resize_a_cluster(self, cluster, nodes) -> None:
        self.play.pools[cluster] = nodes

    @rule(cluster=clusters, passes=passes)
    def lose_a_cluster(self, cluster, passes) -> None:
        if len(self.play.pools) > 1 and cluster in self.play.pools:
            self.play.lose(cluster)
            self._reconcile(passes)

    @rule(to=st.integers(1, 4), is_broken=st.booleans(), passes=passes)
    def upgrade_or_downgrade_the_function(self, to, is_broken, passes) -> None:
        if is_broken and to != self.play.rendering:
            self.play.broken |= {to}
        self.play.upgrade(to)
        self._reconcile(passes)

    @rule(which=st.integers(0, 9))
    def a_call_for_a_replica_fails(self, which) -> None:
        """All that it says becomes unknown, but for Ready."""
        if mine := [r for r in self.play.replicas if r.deployment == ME]:
            failed = mine[which % len(mine)]
            unknown = replace(failed, answered=False, awaits_turn=False)
            self.play.replicas = tuple(unknown if r is failed else r for r in self.play.replicas)

    @rule(lingering=st.booleans())
    def services_lag_or_catch_up(self, lingering) -> None:
        self.play.lingering = lingering

    @rule(cluster=clusters, nodes=st.integers(0, 2))
    def a_neighbour_takes_nodes(self, cluster, nodes) -> None:
        others = tuple(r for r in self.play.replicas if r.deployment == ME)
        free = self._free(cluster) + sum(
            n for r in self.play.replicas if r.deployment != ME and r.cluster == cluster for n in r.nodes().values()
        )
        taken = min(nodes, max(0, free))
        engines = (PlacedEngine("e", taken, (PlacedMember("Standalone", 1, "p", claims=True),)),)
        neighbour = Replica(NEIGHBOUR, NEIGHBOUR, cluster, 0, engines, serving=True, served=True, created="2025")
        self.play.replicas = (*others, *([neighbour] if taken else ()))

    @rule(which=st.integers(0, 9))
    def one_fails_for_a_moment(self, which) -> None:
        mine = [r for r in self.play.replicas if r.deployment == ME and r.serving]
        if mine:
            ill = mine[which % len(mine)]
            self.play.replicas = tuple(replace(r, serving=r is not ill and r.serving) for r in self.play.replicas)

    @rule()
    def status_is_restored_from_a_backup_without_revisions(self) -> None:
        """Only where every revision that was tried still has a replica: nothing else can know."""
        carried = {r.spec_hash for r in self.play.replicas}
        if all(r.hash in carried for r in self.play.noted if r.tried and not r.served):
            self.play.noted = ()

    @rule()
    def pods_start(self) -> None:
        self.play.start()

    @rule(passes=st.integers(1, 3))
    def reconcile(self, passes) -> None:
        self._reconcile(passes)

    def _reconcile(self, passes: int) -> None:
        for _ in range(passes):
            before = self.play.replicas
            self._check(before, self.play.decide())

    # What must be true of every decision

    def _check(self, before: tuple[Replica, ...], plan: Plan) -> None:
        mine = [r for r in before if r.deployment == ME and r.cluster in self.play.pools]
        self._at_most_one_is_taken_away(mine, plan)
        self._an_upgrade_takes_one_at_a_time_and_never_the_last(mine, plan)
        self._what_never_served_takes_no_second_one(mine, plan)
        self._no_node_is_given_twice(before, plan)

    def _at_most_one_is_taken_away(self, mine: list[Replica], plan: Plan) -> None:
        """Beside what is surplus; and where one is updated no other that serves is dropped."""
        serving = {r.identity for r in mine if r.serving}
        goes_on = {p.replica.identity for p in plan.placements if p.replica and p.action is not Action.UPDATE}
        updated = {p.replica.identity for p in plan.placements if p.replica and p.action is Action.UPDATE} & serving
        after = len(serving & goes_on)
        assert len(updated) <= 1
        assert after >= min(len(serving), self.play.wanted) - 1, plan
        if updated:
            assert after >= self.play.wanted - 1, plan

    def _an_upgrade_takes_one_at_a_time_and_never_the_last(self, mine: list[Replica], plan: Plan) -> None:
        """What a replica says may be older than its turn: it is up if it serves, and nothing will restart it."""
        given = [p.replica for p in plan.placements if p.replica and p.fit and p.replica.held_back]
        for turn in (replica for replica in given if replica.serving):
            others = [r for r in mine if r.identity != turn.identity and r not in plan.departing]
            up = [r for r in others if r.serving and not self.play.will_restart(r)]
            assert self.play.wanted > 1, plan
            assert up, plan
            assert all(r in up for r in others if r.spec_hash == self.play.current), plan

    def _what_never_served_takes_no_second_one(self, mine: list[Replica], plan: Plan) -> None:
        served = {r.hash for r in plan.revisions if r.served}
        for p in plan.placements:
            if p.action is Action.UPDATE and p.replica and p.replica.serving and self.play.current not in served:
                known = next(r for r in plan.revisions if r.hash == self.play.current)
                assert not known.tried, plan

    def _no_node_is_given_twice(self, before: tuple[Replica, ...], plan: Plan) -> None:
        """What is placed anew, or grows, fits beside all that is there, also beside what is to go."""
        held: Counter[str] = Counter()
        asked: dict[str, bool] = {}
        given = {p.replica.identity: p for p in plan.placements if p.replica and p.fit}
        for replica in before:
            now = given.get(replica.identity)
            nodes = max(replica.nodes().get("p", 0), nodes_of(now.engines).get("p", 0) if now else 0)
            held[replica.cluster] += nodes
            asked[replica.cluster] = asked.get(replica.cluster, False) or nodes > replica.nodes().get("p", 0)
        for p in plan.placements:
            if p.action is Action.CREATE:
                held[p.cluster] += nodes_of(p.engines).get("p", 0)
                asked[p.cluster] = True
        for cluster, is_asked in asked.items():
            assert not is_asked or held[cluster] <= self.play.pools[cluster], plan

    @rule()
    def it_comes_to_rest(self) -> None:
        self.play.lingering = False
        self._settle()

    @precondition(lambda self: self.play.revision.split()[0] in ("good", "better", "best"))
    @precondition(lambda self: self.play.rendering not in self.play.broken)
    @rule()
    def a_good_image_gets_through_where_there_is_room(self) -> None:
        """With room for all, nothing is left of what was before. A pool that shrank under a replica moves nobody, so
        that every pool has room."""
        self.play.pools = dict.fromkeys((*self.play.pools, "w"), 40)
        self.play.lingering = False
        self._settle()
        mine = [r for r in self.play.replicas if r.deployment == ME]
        assert [renderings.spec_hash(r.spec_hash) for r in mine] == [self.play.revision] * self.play.wanted, mine
        assert all(r.serving for r in mine)
        assert all(self.play.runs[r.identity] == r.spec_hash for r in mine), mine
        if self.play.wanted > 1:
            assert {r.spec_hash for r in mine} == {self.play.current}, mine

    def _settle(self) -> None:
        for _ in range(40):
            was = self.play.replicas, self.play.noted
            self._reconcile(1)
            self.play.start()
            if (self.play.replicas, self.play.noted) == was:
                return
        raise AssertionError(f"never at rest: {self.play.replicas}")

    def _free(self, cluster: str) -> int:
        used = sum(r.nodes().get("p", 0) for r in self.play.replicas if r.cluster == cluster)
        return self.play.pools.get(cluster, 0) - used


TestRollouts = Rollouts.TestCase
TestRollouts.settings = settings(settings.default, stateful_step_count=20)
