"""Small random fleets, for properties: few names, so that things collide."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from hypothesis import strategies as st

from function.core import NamespacedName
from function.scheduling import (
    Cluster,
    Device,
    DeviceRequest,
    Engine,
    Fleet,
    Job,
    Member,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    PodViolation,
    Pool,
    Replica,
    Taint,
    Toleration,
)
from function.vocabulary.pod_security import LEVELS

ME, NAMESAKE, OTHER = NamespacedName("ml", "me"), NamespacedName("hr", "me"), NamespacedName("ml", "you")
GPU, NIC = "gpu.example.com", "nic.example.com"


@dataclass(frozen=True, slots=True)
class Wants:
    """A selector that asks for a word in what a device publishes; the word "error" cannot be judged."""

    text: str
    price: int = 1

    def judge(self, published: object, /) -> bool | str:
        words = str(published).split()
        return "no such key" if "error" in words else self.text in words


def request(name: str = "gpu", count: int = 1, *words: str) -> DeviceRequest:
    return DeviceRequest(name, count, tuple(Wants(word) for word in words or ("gpu",)))


GPUS = {
    "small": NodeShape((Device("gpu", 1, GPU, "gpu small", 24),)),
    "big": NodeShape((Device("gpu", 8, GPU, "gpu big", 80),)),
    "big with nics": NodeShape((Device("gpu", 8, GPU, "gpu big", 80), Device("nic", 4, NIC, "nic", None))),
    "pretend": NodeShape((Device("gpu", 8, None, "gpu big", 80),)),
    "mixed": NodeShape((Device("a", 2, GPU, "gpu small", 24), Device("b", 2, GPU, "gpu big", 80))),
    "empty": NodeShape(()),
}
shapes = st.sampled_from(sorted(GPUS)).map(GPUS.__getitem__)
pools = st.builds(Pool, name=st.sampled_from("abc"), nodes=st.integers(0, 4), shape=shapes)
taints = st.sampled_from([(), (), (), (Taint("busy", "", "NoSchedule"),), (Taint("drain", "", "NoExecute"),)])
clusters = st.builds(
    Cluster,
    name=st.sampled_from("uvwxyz"),
    ready=st.sampled_from([True, True, True, False]),
    has_address=st.sampled_from([True, True, True, False]),
    deleting=st.sampled_from([False, False, False, True]),
    labels=st.sampled_from([{}, {"zone": "1"}]),
    taints=taints,
    pod_security=st.sampled_from([*LEVELS, "baseline", "baseline"]),
    pools=st.lists(pools, max_size=3, unique_by=lambda p: p.name).map(tuple),
)
HOST_PATH = PodViolation("", "spec.volumes[0].hostPath", "must not be set")
violations = st.sampled_from(
    [{}, {}, {"restricted": (HOST_PATH,)}, {"baseline": (HOST_PATH,), "restricted": (HOST_PATH,)}]
)
requests = st.lists(
    st.builds(
        DeviceRequest,
        name=st.sampled_from("rst"),
        count=st.integers(1, 4),
        selectors=st.sampled_from([(Wants("gpu"),), (Wants("big"),), (Wants("nic"),)]),
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda r: r.name,
).map(tuple)
standalone = st.builds(lambda asked: (Member("Standalone", 1, asked),), requests)
gang = st.builds(
    lambda leads, works, pods: (Member("Leader", 1, leads), Member("Worker", pods, works)),
    st.one_of(st.just(()), requests),
    requests,
    st.integers(1, 2),
)
engines = st.lists(
    st.builds(Engine, name=st.sampled_from("ef"), copies=st.integers(1, 2), members=st.one_of(standalone, gang)),
    min_size=1,
    max_size=2,
    unique_by=lambda e: e.name,
).map(tuple)
jobs = st.builds(
    Job,
    deployment=st.just(ME),
    replicas=st.integers(0, 4),
    engines=engines,
    selector=st.sampled_from([{}, {}, {"zone": "1"}]),
    placed_under=st.just("now"),
    spec_hash=st.just("new"),
    tolerations=st.sampled_from([(), (Toleration("drain", "Exists"),)]),
    pod_violations=violations,
)
placed_engines = st.builds(
    PlacedEngine,
    name=st.sampled_from("ef"),
    copies=st.integers(1, 2),
    members=st.builds(
        lambda pool, claims: (PlacedMember("Standalone", 1, pool, claims),), st.sampled_from("abc"), st.booleans()
    ),
)


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    drawn = draw(st.lists(clusters, max_size=4, unique_by=lambda c: c.name))
    numbers = count()
    replicas = draw(
        st.lists(
            st.builds(
                Replica,
                identity=st.builds(lambda ns: NamespacedName(ns, f"r{next(numbers)}"), st.just("ml")),
                deployment=st.sampled_from([ME, NAMESAKE, OTHER]),
                cluster=st.sampled_from("uvwxyz"),
                index=st.integers(0, 2),
                engines=st.lists(placed_engines, min_size=1, max_size=2, unique_by=lambda e: e.name).map(tuple),
                ready=st.booleans(),
                serving=st.booleans(),
                served=st.booleans(),
                created=st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
                spec_hash=st.sampled_from(["new", "old"]),
                placed_under=st.sampled_from([None, "now", "before"]),
            ),
            max_size=6,
        )
    )
    return Fleet({c.name: c for c in drawn}, tuple(replicas))
