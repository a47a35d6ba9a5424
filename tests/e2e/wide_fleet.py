"""A fleet of many clusters and deployments on a control cluster of its own, at rest.

Every deployment is pinned to a cluster while the fleet is made, so that none waits for another. A *marker* is a
deployment on a cluster of its own, which nothing else can use: see `WideFleet.rest`.
"""

import functools
import http.client
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from tests.e2e import control, fleet, objects
from tests.e2e.control import Control
from tests.e2e.fleet import Cluster, Pool
from tests.e2e.kube import Api, Object, condition
from tests.e2e.played import Stage
from tests.e2e.programs import Site
from tests.e2e.tap import Call, Tap, tapping
from tests.e2e.team import DEPLOYMENT, ready, title
from tests.e2e.waiting import MOST, PATIENCE, steady, until

SITE_LABEL = "example.org/site"
MARK = "example.org/mark"
MARKER = "marker"
ADA = 'device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace"'
NODES = 3  # of each cluster, of which two are taken
SCARCE = 0  # the cluster that has one node of other hardware as well
WRITERS = 4
# Crossplane tries a write again that met another one, after 1 s, and after 2 s the next time (v2.4,
# internal/controller/apiextensions/definition). Such a call must not be taken for one that came of the next change.
RETRY = 4.0
SHOWN = 6
Seen = TypeVar("Seen")
BUSY = re.compile(
    r'^(?:workqueue_depth|controller_runtime_active_workers)\{[^}]*"composite/[^}]*\} (\S+)$', re.MULTILINE
)
MEMORY = re.compile(r"^go_memstats_sys_bytes (\S+)$", re.MULTILINE)


@dataclass(slots=True)
class WideFleet:
    """Clusters c000, c001 …, each with the same number of deployments, d000-0, d000-1 …"""

    control: Control
    stage: Stage
    clusters: int
    each: int  # deployments of a cluster
    tap: Tap | None  # where calls are counted
    unplaced: set[str] = field(default_factory=set)  # deployments that watch every cluster, for one with room
    marks: Iterator[int] = field(default_factory=itertools.count)

    @property
    def api(self) -> Api:
        return self.control.api

    @property
    def deployments(self) -> int:
        return self.clusters * self.each

    # How it is made.

    def make(self) -> None:
        """Make the clusters, then the deployments, and wait until all are Ready."""
        self.stage.open()
        self.api.apply(objects.namespace(objects.SYSTEM), objects.secret("fleet", kubeconfig=self.api.kubeconfig()))
        self.api.apply(*(objects.inference_class(one) for one in fleet.HARDWARE))
        with told(f"{self.clusters} clusters"):
            hosts = [*(described(index) for index in range(self.clusters)), MARKER_CLUSTER]
            self.stage.addresses |= {one.name: f"198.18.2.{index}" for index, one in enumerate(hosts, start=1)}
            self.write([objects.cluster(one, secret="fleet") for one in hosts])
        with told(f"{self.deployments} deployments"):
            names = [(name_of(index, number), hosts[index].name) for index, number in self.places()]
            pinned = [self.deployment(name, site=site) for name, site in (*names, (MARKER, MARKER))]
            self.write(pinned)
            for one in pinned:
                self.await_endpoint(one["metadata"]["name"])

    def places(self) -> Iterable[tuple[int, int]]:
        """Each deployment's cluster and number, all clusters first."""
        return ((index, number) for number in range(self.each) for index in range(self.clusters))

    def write(self, manifests: Sequence[Object]) -> None:
        """Apply many objects, with several connections at once, and wait until all are Ready."""
        with ThreadPoolExecutor(WRITERS) as writers:
            shares = [manifests[start::WRITERS] for start in range(WRITERS)]
            list(writers.map(lambda share: self.api.as_user(self.api.token).apply(*share), shares))
        for one in manifests:  # the first of them may be the last that is Ready
            self.await_ready(one, seconds=PATIENCE * MOST)

    def await_ready(self, manifest: Object, seconds: float = PATIENCE) -> None:
        what, look = f"{title(manifest)} to be Ready", functools.partial(self.api.current, manifest)
        until(look, what, holds=lambda seen: ready(seen, manifest), seconds=seconds)

    def await_endpoint(self, name: str) -> None:
        until(lambda: self.endpoints(name), f"{name} to have an endpoint")

    # What a user does.

    def deployment(self, name: str, *selectors: str, count: int = 1, site: str = "", replicas: int = 1) -> Object:
        """A deployment of one engine; on one cluster if a site is named."""
        engine = objects.engine("vllm", objects.member(*(selectors or (ADA,)), count=count))
        pinned = {"clusterSelector": {"matchLabels": {SITE_LABEL: site}}} if site else {}
        return objects.deployment(name, replicas=replicas, engines=[engine], **pinned)

    def deploy(self, name: str, *selectors: str, count: int = 1) -> str:
        """Apply a deployment, wait until it serves, and give its cluster."""
        manifest = self.deployment(name, *selectors, count=count)
        self.api.apply(manifest)
        return self.await_serving(manifest)

    def await_serving(self, manifest: Object) -> str:
        """Wait until a deployment is Ready and has an endpoint; give its cluster."""
        name = manifest["metadata"]["name"]
        self.await_ready(manifest)
        self.await_endpoint(name)
        [replica] = self.replicas(name)
        return str(replica["spec"]["clusterName"])

    def await_unplaced(self, manifest: Object) -> None:
        name = manifest["metadata"]["name"]
        until(
            lambda: condition(self.api.current(manifest), "ReplicasScheduled").get("reason"),
            f"{name} to wait for room",
            holds=lambda seen: seen == "InsufficientCapacity",
        )

    # What is seen.

    def replicas(self, name: str) -> list[Object]:
        return self.api.list(objects.GROUP, "ModelReplica", objects.TEAM, {DEPLOYMENT: name})

    def endpoints(self, name: str) -> list[Object]:
        return self.api.list(objects.GROUP, "ModelEndpoint", objects.TEAM, {DEPLOYMENT: name})

    def on(self, cluster: str) -> set[str]:
        """The deployments that have a replica on a cluster."""
        found = self.api.list(objects.GROUP, "ModelReplica", objects.TEAM, {"modelplane.ai/cluster": cluster})
        return {one["metadata"]["labels"][DEPLOYMENT] for one in found}

    def free(self, cluster: str, pool: str = "l4") -> int | None:
        """The free nodes that a cluster publishes."""
        found = self.api.get(objects.GROUP, "InferenceCluster", cluster)["status"].get("allocations", ())
        return next((one["free"] for one in found if one["pool"] == f"{cluster}-{pool}"), None)

    def await_free(self, cluster: str, nodes: int, pool: str = "l4") -> None:
        what = f"{cluster} to publish {nodes} free nodes"
        until(functools.partial(self.free, cluster, pool), what, holds=lambda seen: seen == nodes)

    # Who is called.

    def called(self, change: Callable[[], Seen]) -> tuple[Seen, "Called"]:
        """Make a change and see it through, from rest. Give what it gives, and the calls that came of it."""
        assert self.tap
        since = len(self.tap.calls)
        seen = change()
        until(self.busy, "Crossplane to have nothing to do", holds=lambda seen: not seen)
        marked = len(self.tap.calls)
        self.rest()
        calls = [*self.tap.calls[since:marked], *(one for one in self.tap.calls[marked:] if self.is_other(one))]
        return seen, Called(tuple(one for one in calls if one.kind == "ModelDeployment"))

    def rest(self) -> None:
        """Wait until no more calls come of what was changed.

        Crossplane tells its controllers of changes in the order in which they were made. So we change what the marker
        stands on: once its cluster and its deployment are called for, all that was changed before has been told. When
        nobody else was called in the meantime, and nobody is for a while, there is rest. A deployment that waits for
        room watches the marker's cluster as well, and is left out.
        """

        def look() -> tuple[int, int]:
            before = self.others()
            self.mark()
            return before, self.others()

        until(look, "rest", holds=lambda seen: seen[0] == seen[1])
        steady(lambda: (self.others(), self.busy()), "the calls", seconds=RETRY)

    def mark(self) -> None:
        assert self.tap
        [replica] = self.replicas(MARKER)
        for target in (objects.cluster(MARKER_CLUSTER), replica):
            since = len(self.tap.calls)
            self.touch(target)
            for kind in ("InferenceCluster", "ModelDeployment"):
                count = functools.partial(self.tap.count, kind, MARKER, since)
                until(count, f"{kind} {MARKER} to be called for")
        until(self.busy, "Crossplane to have nothing to do", holds=lambda seen: not seen)

    def touch(self, target: Object) -> None:
        """Change an object without meaning: whoever watches it is called for."""
        self.control.as_crossplane.patch(target, {"metadata": {"annotations": {MARK: str(next(self.marks))}}})

    def others(self) -> int:
        """How many calls there were for those whom the marker does not concern."""
        assert self.tap
        return sum(map(self.is_other, self.tap.calls))

    def is_other(self, call: Call) -> bool:
        return call.name != MARKER and call.name not in self.unplaced

    def busy(self) -> float:
        """How many XRs Crossplane works on, or has in its queues."""
        return sum(self.metrics(BUSY))

    def memory(self) -> float:
        """How many bytes Crossplane has asked the system for. It gives no address space back (go, runtime.MemStats)."""
        return sum(self.metrics(MEMORY))

    def metrics(self, wanted: re.Pattern[str]) -> list[float]:
        """The present values of Crossplane's own metrics."""
        connection = http.client.HTTPConnection("127.0.0.1", self.control.metrics, timeout=30)
        try:
            connection.request("GET", "/metrics")
            found = wanted.findall(connection.getresponse().read().decode())
        finally:
            connection.close()
        assert found, f"Crossplane has no metrics such as {wanted.pattern}"
        return [float(one) for one in found]


@dataclass(frozen=True, slots=True)
class Called:
    """Calls for deployments."""

    calls: tuple[Call, ...]

    @property
    def names(self) -> set[str]:
        return {one.name for one in self.calls}

    def __str__(self) -> str:
        """How many for how many, of what size; and the size of each for the first few deployments."""
        size = sum(one.request_bytes for one in self.calls)
        first = "; ".join(f"{name} {self.sizes(name)}" for name in sorted(self.names)[:SHOWN])
        return f"{len(self.calls)} calls for {len(self.names)} deployments, {size / 1024:.0f} KiB: {first}"

    def sizes(self, name: str) -> str:
        return " ".join(f"{one.request_bytes / 1024:.0f}" for one in self.calls if one.name == name)


MARKER_CLUSTER = Cluster(
    name=MARKER, pools=(Pool(name=f"{MARKER}-l4", hardware=fleet.L4, nodes=1),), labels={SITE_LABEL: MARKER}
)


@contextmanager
def told(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"start  {what} in {time.monotonic() - began:.0f} s", flush=True)


def described(index: int) -> Cluster:
    """A cluster as its owner describes it."""
    name = f"c{index:03}"
    scarce = (Pool(name=f"{name}-h100", hardware=fleet.H100, nodes=1),) if index == SCARCE else ()
    pools = (Pool(name=f"{name}-l4", hardware=fleet.L4, nodes=NODES), *scarce)
    return Cluster(name=name, pools=pools, labels={SITE_LABEL: name})


def name_of(index: int, number: int) -> str:
    return f"d{index:03}-{number}"


@contextmanager
def standing(site: Site, store: int, version: str, *, clusters: int, each: int, tapped: bool) -> Iterator[WideFleet]:
    """Make a fleet on a control cluster of its own. Its calls are counted, and no response expires, if it is tapped."""
    before = tuple(site.processes.running)
    taps: list[Tap] = []
    with ExitStack() as stack:
        stack.callback(lambda: site.processes.stop(*(one for one in site.processes.running if one not in before)))

        def through(port: int) -> int:
            tap, entry = stack.enter_context(tapping(site.pki, port))
            taps.append(tap)
            return entry

        started = control.without_provider(
            site, store, version, f"fleet-{version}", through if tapped else lambda port: port
        )
        made = WideFleet(started, Stage(started), clusters, each, taps[0] if taps else None)
        made.make()
        yield made
        print(f"memory {started.name}-crossplane took {made.memory() / 2**20:.0f} MiB in all", flush=True)
