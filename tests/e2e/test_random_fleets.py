"""Random fleets and deployments on the whole stack: Crossplane, our function, its provider, a real scheduler.

Each test starts from fleets of which all that is placed runs, and leaves them so.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from tests.e2e import mishaps, pins
from tests.e2e.control import Control
from tests.e2e.drawing import Scale, draw, seeds
from tests.e2e.fleet_story import DEPLOYMENT, REPLICA, Story
from tests.e2e.kube import Api
from tests.e2e.planned import samples
from tests.e2e.random_edits import edit
from tests.e2e.team import identities
from tests.e2e.waiting import until
from tests.e2e.yard import FORCED, Yard

FIXED = ("11", "34")  # whole nodes, and shared ones: each has deployments that are refused
SCALE = Scale(clusters=2, pools=2, nodes=3)
MOST_FORCED = 3  # choices of pools for one refused replica
EDITS = 4  # of each fleet

# What is placed and what becomes of it does not depend on the release of Crossplane.
pytestmark = pytest.mark.parametrize("crossplane", pins.CROSSPLANES[:1], indirect=True, scope="session")


@pytest.fixture(scope="module")
def story(published: Control, cluster: Api) -> Iterator[Story]:
    drawn = seeds(*FIXED)
    fleets = [draw(f"r{number}", seed, SCALE) for number, seed in enumerate(drawn)]
    story = Story(published, cluster, Yard(cluster, fleets), fleets, Random(drawn[-1]))
    story.publish()
    story.deploy()
    yield story
    story.withdraw()


@pytest.fixture
def fleets(story: Story) -> Story:
    story.await_settled()
    return story


def test_every_pod_that_is_placed_runs_on_its_pool(fleets: Story) -> None:
    """All deployments came at once; what was placed is bound and Ready, and claims no more nodes than there are."""
    assert fleets.broken() == []
    print(f"fleets {len(fleets.all(REPLICA))} replicas of {len(fleets.all(DEPLOYMENT))} deployments run", flush=True)


def test_what_is_full_is_unschedulable(fleets: Story) -> None:
    """A replica that was refused is forced on the cluster by hand. What is full must not fit, where Modelplane counts
    as kube-scheduler does; elsewhere it may be lucky."""
    verdicts: Counter[str] = Counter()
    for fleet in fleets.fleets:
        composed = samples(fleet)
        for refusal in fleets.refusals(fleet):
            sample = composed[refusal.deployment["metadata"]["name"]]
            for workloads in islice(refusal.assignments(sample, FORCED), MOST_FORCED):
                [unschedulable] = fleets.yard.force([workloads])
                verdicts[f"{refusal.reason} {'unschedulable' if unschedulable else 'lucky'}"] += 1
                assert unschedulable or not refusal.is_exact(workloads, whole=fleet.whole), f"{fleet.seed}: {refusal}"
    print(f"forced {dict(verdicts)}", flush=True)


def test_nodes_that_are_cordoned_drained_and_lost(fleets: Story) -> None:
    """What runs on other nodes is untouched, and no replica moves.

    What lost its node comes back where there are enough nodes; elsewhere it waits, and its replica names an engine.
    """
    replicas, mishap = identities(*fleets.all(REPLICA)), mishaps.draw(fleets)

    try:
        mishap.happen()
        what = "pods that lost their node to run on another, or to wait where there are too few"
        until(mishap.displaced, what, holds=lambda seen: not seen)
        until(mishap.unsaid, "every replica whose pods wait to say so", holds=lambda seen: not seen)
        print(f"nodes  {mishap}", flush=True)
        assert identities(*mishap.untouched) <= identities(*fleets.pods())
        assert identities(*fleets.all(REPLICA)) == replicas
    finally:
        mishap.mend()
    fleets.await_settled()
    assert fleets.broken() == []
    assert identities(*fleets.all(REPLICA)) == replicas


def test_random_edits(fleets: Story) -> None:
    """Deployments are scaled, edited, deleted and made in no order; what is placed in the end runs on its pools."""
    for number in range(EDITS):
        for at in range(len(fleets.fleets)):
            edit(fleets, at, number)
    fleets.await_settled()
    assert fleets.broken() == []
