"""What Modelplane places on random pools always finds its node, whoever comes first: kube-scheduler decides.

Crossplane takes no part: `modelplane plan` places the deployments of many fleets and composes their pods, which then
come all at once to one real cluster.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from random import Random

import pytest

from tests.e2e.drawing import Scale, draw, seeds
from tests.e2e.kube import Api, Object
from tests.e2e.objects import changed
from tests.e2e.planned import FORCEABLE, Planned, Refusal, Workload, plan
from tests.e2e.programs import PACKS, SPREADS
from tests.e2e.yard import FORCED, Yard

FIXED = ("1", "2", "3")
FLEETS = 6  # of each seed
SCALE = Scale(clusters=4, pools=3, nodes=3)
MOST_FORCED = 3  # choices of pools for one refused replica
MOST_ROUNDS = 8  # replicas that are forced on one cluster, one after the other


@dataclass(frozen=True, slots=True)
class Pools:
    yard: Yard
    planned: tuple[Planned, ...]
    random: Random

    @property
    def pods(self) -> list[Object]:
        """All that is placed, in no order. Some are scored one way, some another: the promise holds for any."""
        pods = [pod for one in self.planned for workload in one.workloads for pod in workload.pods]
        found = [changed(pod, "spec.schedulerName", self.random.choice((SPREADS, PACKS))) for pod in pods]
        self.random.shuffle(found)
        return found


@pytest.fixture(scope="module")
def pools(cluster: Api) -> Iterator[Pools]:
    """Pools of many fleets, on one cluster, with the pods of all that Modelplane places there."""
    drawn = seeds(*FIXED)
    fleets = [draw(f"s{at}f{number}", seed, SCALE, number) for at, seed in enumerate(drawn) for number in range(FLEETS)]
    yard = Yard(cluster, fleets)
    yard.furnish()
    made = Pools(yard, tuple(plan(one) for one in fleets), Random(drawn[-1]))
    yard.await_nodes()
    yard.create([claim for one in made.planned for workload in one.workloads for claim in workload.claims])
    print(f"pools  {told(made)}", flush=True)
    yield made
    yard.clear()


def told(made: Pools) -> str:
    fleets = [one.fleet for one in made.planned]
    pools = [pool for one in fleets for pool in one.pools.values()]
    nodes, pods = sum(pool.nodes for pool in pools), len(made.pods)
    return f"{len(pools)} pools of {len(fleets)} fleets, {nodes} nodes, {pods} pods are placed"


@pytest.fixture(scope="module")
def standing(pools: Pools) -> Pools:
    """All pods have arrived, at once and in no order."""
    pools.yard.bring(pools.pods)
    return pools


def test_every_pod_that_is_placed_is_bound_to_its_pool(standing: Pools) -> None:
    assert standing.yard.unbound() == []
    assert standing.yard.strayed() == []


def test_pods_come_back_in_any_order(standing: Pools) -> None:
    """Half of the pods restart while the others stay, then all: none is ever left without a node."""
    for share in (2, 1):
        pods = standing.pods
        standing.yard.restart(pods[: len(pods) // share])
        assert standing.yard.strayed() == []


def test_what_is_full_is_unschedulable(standing: Pools) -> None:
    """A replica that Modelplane calls one too many is forced on the pools, on every choice of them for its engines.

    What is full must not fit, where Modelplane counts as kube-scheduler does. Elsewhere, and where Modelplane only is
    not sure, it may be lucky; how often is printed.
    """
    verdicts: Counter[str] = Counter()
    wrong = []
    for trials in islice(rounds(standing), MOST_ROUNDS):
        said = standing.yard.force([workloads for _, _, workloads in trials])
        for (planned, refusal, tried), unschedulable in zip(trials, said, strict=True):
            exact = refusal.is_exact(tried, whole=planned.fleet.whole)
            verdicts[told_of(refusal, exact=exact, lucky=not unschedulable)] += 1
            if exact and not unschedulable:
                wrong.append(f"{planned.fleet.seed} {planned.fleet.name}: {refusal}")
    print(f"forced {', '.join(f'{count} {what}' for what, count in sorted(verdicts.items()))}", flush=True)
    assert not wrong
    assert verdicts["Full, counted exactly: unschedulable"]


def told_of(refusal: Refusal, *, exact: bool, lucky: bool) -> str:
    return f"{refusal.reason}, counted {'exactly' if exact else 'safely'}: {'lucky' if lucky else 'unschedulable'}"


Trial = tuple[Planned, Refusal, tuple[Workload, ...]]


def rounds(standing: Pools) -> Iterator[list[Trial]]:
    """What is to be forced, one replica on each cluster at a time, in no order."""
    by_cluster: dict[str, list[Trial]] = {}
    for planned in standing.planned:
        for refusal in planned.refusals:
            if refusal.reason in FORCEABLE:
                sample = planned.samples[refusal.deployment["metadata"]["name"]]
                choices = islice(refusal.assignments(sample, FORCED), MOST_FORCED)
                by_cluster.setdefault(refusal.cluster.name, []).extend((planned, refusal, one) for one in choices)
    for trials in by_cluster.values():
        standing.random.shuffle(trials)
    for trials in zip_longest(*by_cluster.values()):
        yield [one for one in trials if one]
