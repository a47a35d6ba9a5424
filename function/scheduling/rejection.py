"""The reasons why a cluster takes no more replicas. Each reason is a type that holds its facts.

To add a reason, write a class with a docstring, `__str__` (a few words, for a count of clusters) and `detail` (a
sentence, for one cluster), and put it into the union `Reason`, at its place in the order. Everything else is derived
from the union or checked against it:

- `NEAREST_FIRST`, the order of reasons in a condition's message, is the union's order.
- docs/reference/rejections.md has the first sentence of each docstring.
- docs/runbooks has a page for each class. A test fails until somebody has written it.
- `modelplane explain` matches on every member (`suggestion.py`), so that mypy fails until it handles a new one.

The name of the class is the `reason` in `status.rejections`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from function.core import enumerate_names, plural


def amount(number: int, unit: str) -> str:
    """Return a number of nodes or devices, or an amount of a resource: `2 nodes`, `4 gpu`, `1.5 cpu`, `16Gi memory`."""
    match unit:
        case "node":
            return plural(number, unit)
        case "cpu":
            return f"{number / 1000:g} cpu"
        case "memory" | "ephemeral-storage":
            return f"{number / 2**30:.5g}Gi {unit}"
        case _:
            return f"{number} {unit}"


@dataclass(frozen=True, slots=True)
class Full:
    """The pool has the devices, but too few of its nodes are free; or, where nodes are shared, too few devices, or too
    little cpu, memory or ephemeral storage.
    """

    pool: str
    needs: int
    free: int
    """Negative if the pool is overcommitted."""
    held_by: tuple[str, ...] = ()
    """Deployments with replicas on the pool, as namespace/name."""
    unit: str = "node"
    """What is counted: node, the name of a device, cpu, memory or ephemeral-storage (see `amount`)."""

    def __str__(self) -> str:
        free = str(abs(self.free)) if self.unit == "node" else amount(abs(self.free), self.unit)
        has = f"{free} free on {self.pool}" if self.free >= 0 else f"{self.pool} is overcommitted by {free}"
        return f"full (needs {amount(self.needs, self.unit)}, {has})"

    def detail(self) -> str:
        held = f"; held by {', '.join(self.held_by)}" if self.held_by else ""
        has = (
            f"has {amount(self.free, self.unit)} free"
            if self.free >= 0
            else f"is overcommitted by {amount(-self.free, self.unit)}"
        )
        needs = self.needs if self.unit == "node" else amount(self.needs, self.unit)
        return f"pool {self.pool} {has}, and a replica needs {needs}{held}"


@dataclass(frozen=True, slots=True)
class Fragmented:
    """Enough devices are free on a pool whose nodes are shared, but with one more replica, some pod of the pool could
    find too few on each node.

    Which node a pod gets is not decided here. A pod is placed only if it fits wherever the other pods are, and if each
    of them fits wherever it is: all of them come back after a restart, in any order.
    """

    pool: str
    needs: int
    """Devices that one pod claims, or the amount of a resource that it requests."""
    pods: int
    """Pods like it that a replica has."""
    fit: int
    """Pods like it that can be added so that all pods fit wherever the others are; less than `pods`."""
    free: int
    """What is free on all nodes of the pool together."""
    unit: str
    """What is counted, as in Full."""
    held_by: tuple[str, ...] = ()
    """Deployments with replicas on the pool, as namespace/name."""

    def __str__(self) -> str:
        each = f"{plural(self.pods, 'pod')} with {amount(self.needs, self.unit)}"
        return f"fragmented (needs {each}, {self.fit} safe to add, {amount(self.free, self.unit)} free on {self.pool})"

    def detail(self) -> str:
        held = f"; held by {', '.join(self.held_by)}" if self.held_by else ""
        each = f"{plural(self.pods, 'pod')} with {amount(self.needs, self.unit)} on one node each"
        return (
            f"pool {self.pool} has {amount(self.free, self.unit)} free on all its nodes together, and a replica needs"
            f" {each}; {self.fit} of them can be added so that each pod of the pool fits wherever the others are{held}"
        )


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes of a pool on which a pod would fit, and that take no new pods."""

    pool: str
    count: int
    names: tuple[str, ...] = ()
    """Names of some of them."""

    @property
    def nodes(self) -> str:
        """The nodes in words: `2 nodes of pool h100 (a, b)`."""
        named = f" ({enumerate_names(self.names, 4)})" if self.names else ""
        return f"{plural(self.count, 'node')} of pool {self.pool}{named}"


@dataclass(frozen=True, slots=True)
class Cordoned(_Nodes):
    """Nodes with room for the replica are observed to be cordoned."""

    def __str__(self) -> str:
        return f"with cordoned nodes ({self.count} of {self.pool})"

    def detail(self) -> str:
        return f"a replica would fit, but cordoned: {self.nodes}"


@dataclass(frozen=True, slots=True)
class NodesNotReady(_Nodes):
    """Nodes with room for the replica are observed not to be ready."""

    def __str__(self) -> str:
        return f"with nodes that are not ready ({self.count} of {self.pool})"

    def detail(self) -> str:
        return f"a replica would fit, but not ready: {self.nodes}"


@dataclass(frozen=True, slots=True)
class NodesTainted(_Nodes):
    """Nodes with room for the replica are observed to have a taint that its pods do not tolerate."""

    taint: str = ""

    def __str__(self) -> str:
        return f"with tainted nodes ({self.count} of {self.pool}, {self.taint})"

    def detail(self) -> str:
        return f"a replica would fit, but tainted with {self.taint}: {self.nodes}"


@dataclass(frozen=True, slots=True)
class DevicesMissing(_Nodes):
    """Nodes that the replica would fit on are observed to publish fewer devices than their class declares."""

    device: str = ""
    declared: int = 0
    published: int = 0
    """The fewest of any of the nodes."""

    def __str__(self) -> str:
        return f"with missing devices ({self.published} of {self.declared} {self.device} on nodes of {self.pool})"

    def detail(self) -> str:
        has = f"{self.published} {self.device} published, {self.declared} declared"
        return f"a replica would fit, but devices are missing ({has}): {self.nodes}"


@dataclass(frozen=True, slots=True)
class TakenByOthers(_Nodes):
    """Devices that the replica would fit on are observed to be held by pods that are not of a replica."""

    devices: int = 0
    """Devices that they hold."""

    def __str__(self) -> str:
        return f"with devices that others hold ({self.devices} of {self.pool})"

    def detail(self) -> str:
        held = plural(self.devices, "device")
        return f"a replica would fit, but pods that Modelplane does not know hold {held} on {self.nodes}"


@dataclass(frozen=True, slots=True)
class DeviceDiffers:
    """A selector matches a device as its class declares it, but not as the nodes are observed to publish it."""

    pool: str
    device: str
    fact: str
    """An attribute or a capacity, such as `capacity memory`."""
    declared: str
    published: str | None
    """None if no node publishes it."""
    count: int
    """Nodes that publish it so."""

    def __str__(self) -> str:
        return f"with {self.device} unlike its class ({self.fact} {self.seen}, {self.declared} declared)"

    def detail(self) -> str:
        nodes = f"{plural(self.count, 'node')} of pool {self.pool}"
        return (
            f"the selectors match {self.device} as its class declares it, with {self.fact} {self.declared}; on {nodes} "
            f"it is {self.seen}"
        )

    @property
    def seen(self) -> str:
        """What the nodes publish, in words."""
        return "not published" if self.published is None else self.published


@dataclass(frozen=True, slots=True)
class OutOfStock:
    """The replica would fit on a new node, but the autoscaler failed to add one."""

    pool: str
    message: str
    """The autoscaler's own words."""

    def __str__(self) -> str:
        return f"out of stock ({self.pool})"

    def detail(self) -> str:
        return f"a replica would fit on a new node of pool {self.pool}, but it could not be added: {self.message}"


@dataclass(frozen=True, slots=True)
class SearchLimit:
    """There are too many combinations of devices, engines and pools to try all of them. A placement may exist.

    The message does not count the steps: they differ between calls.
    """

    def __str__(self) -> str:
        return "with too many combinations to search"

    def detail(self) -> str:
        return "the search for devices and pools stopped at its limit; a placement may exist"


@dataclass(frozen=True, slots=True)
class TooFewDevices:
    """Devices match, but one node has too few of them for all requests together."""

    engine: str
    member: str
    request: str
    wanted: int
    has: int

    def __str__(self) -> str:
        short = f"{self.wanted} wanted, {self.has} per node"
        return f"with too few devices for request {self.request} of engine {self.engine} ({short})"

    def detail(self) -> str:
        return (
            f"no node has {self.wanted} devices for request {self.request} of engine {self.engine} ({self.member}); "
            f"a node has at most {self.has}"
        )


@dataclass(frozen=True, slots=True)
class NodeTooSmall:
    """A pod requests more cpu, memory or ephemeral storage than the class of the pool says that a node has."""

    engine: str
    member: str
    resource: str
    """cpu, memory or ephemeral-storage."""
    wanted: int
    has: int

    def __str__(self) -> str:
        short = f"{amount(self.wanted, self.resource)} wanted, {amount(self.has, self.resource)} per node"
        return f"with too small nodes for engine {self.engine} ({short})"

    def detail(self) -> str:
        return (
            f"a pod of engine {self.engine} ({self.member}) requests {amount(self.wanted, self.resource)}; a node has "
            f"{amount(self.has, self.resource)}, as the class of the pool says in spec.node"
        )


@dataclass(frozen=True, slots=True)
class NothingToClaim:
    """Only Synthetic devices match, which no pod can claim.

    A replica must claim a device to be given nodes.
    """

    engine: str

    def __str__(self) -> str:
        return f"with only Synthetic devices for engine {self.engine}"

    def detail(self) -> str:
        return f"engine {self.engine} matches only Synthetic devices, which no pod can claim"


@dataclass(frozen=True, slots=True)
class SelectorError:
    """A selector cannot be evaluated on a device.

    Kubernetes would fail on it as well, and leave the pod pending.
    """

    engine: str
    member: str
    request: str
    what: str

    def __str__(self) -> str:
        return f"with a selector error for request {self.request} of engine {self.engine} ({self.what})"

    def detail(self) -> str:
        where = f"request {self.request} of engine {self.engine} ({self.member})"
        return f"a selector of {where} cannot be evaluated on a device: {self.what}"


@dataclass(frozen=True, slots=True)
class NoDevice:
    """No device matches a request."""

    engine: str
    member: str
    request: str

    def __str__(self) -> str:
        return f"with no device for request {self.request} of engine {self.engine}"

    def detail(self) -> str:
        return f"no device matches request {self.request} of engine {self.engine} ({self.member})"


@dataclass(frozen=True, slots=True)
class HoldsOther:
    """A replica was placed here and lost its nodes to a replica of another deployment."""

    to: str
    """The replica that has the nodes, as namespace/name."""

    def __str__(self) -> str:
        return f"with nodes taken by {self.to}"

    def detail(self) -> str:
        return f"two deployments placed replicas on the same nodes; {self.to} keeps them: it has served, or is older"


@dataclass(frozen=True, slots=True)
class Tainted:
    """The deployment does not tolerate a taint of the cluster."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"tainted ({self.key}{value}:{self.effect})"

    def detail(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"the cluster has taint {self.key}{value}:{self.effect}, which spec.tolerations does not tolerate"


@dataclass(frozen=True, slots=True)
class PodSecurity:
    """The Pod Security level that the cluster enforces does not admit the pods."""

    level: str
    container: str
    """The name of the container; empty if the field belongs to the pod."""
    field: str
    """The path of the first field that the level forbids, from the deployment."""
    what: str
    """What the field must be, as the predicate of a sentence."""
    others: tuple[str, ...] = ()
    """The paths of the other fields that the level forbids."""

    def __str__(self) -> str:
        return f"enforcing Pod Security {self.level} ({self.first()})"

    def detail(self) -> str:
        container = f" (container {self.container})" if self.container else ""
        return f"the cluster enforces Pod Security {self.level}, by which {self.demand(container)}"

    def first(self) -> str:
        """Return what the first field must be, and the number of other fields."""
        more = f"; {plural(len(self.others), 'more field')}" if self.others else ""
        return f"{self.field} {self.what}{more}"

    def demand(self, container: str = "") -> str:
        """Return what the first field must be, and which other fields are wrong."""
        others = f"; {enumerate_names(self.others)} must change as well" if self.others else ""
        return f"{self.field}{container} {self.what}{others}"


@dataclass(frozen=True, slots=True)
class CacheFailed:
    """The ModelCache cannot be staged on the cluster."""

    def __str__(self) -> str:
        return "unable to stage the ModelCache"

    def detail(self) -> str:
        return "the ModelCache cannot be staged on the cluster; see the status of the ModelCache"


@dataclass(frozen=True, slots=True)
class NotInCacheFootprint:
    """The ModelCache is not staged on the cluster, and will not be."""

    def __str__(self) -> str:
        return "without the ModelCache"

    def detail(self) -> str:
        return "the ModelCache is not staged on the cluster, and will not be"


@dataclass(frozen=True, slots=True)
class NoGatewayAddress:
    """The gateway of the cluster has no address."""

    def __str__(self) -> str:
        return "without a gateway address"

    def detail(self) -> str:
        return "the gateway of the cluster has no address (status.gateway.address)"


@dataclass(frozen=True, slots=True)
class NotReady:
    """The cluster does not serve: its `status.serving` is not true."""

    def __str__(self) -> str:
        return "not serving"

    def detail(self) -> str:
        return "the cluster does not serve: its status.serving is not true"


@dataclass(frozen=True, slots=True)
class BeingDeleted:
    """The cluster is being deleted."""

    def __str__(self) -> str:
        return "being deleted"

    def detail(self) -> str:
        return "the cluster is being deleted"


@dataclass(frozen=True, slots=True)
class LabelMismatch:
    """A selector requires a label that the cluster does not have."""

    key: str
    wanted: str
    has: str | None

    def __str__(self) -> str:
        return f"not selected (no label {self.key}={self.wanted})"

    def detail(self) -> str:
        has = "has no such label" if self.has is None else f"has {self.has}"
        return f"the selector requires label {self.key}={self.wanted}; the cluster {has}"


Reason = (
    Full
    | Fragmented
    | Cordoned
    | NodesNotReady
    | NodesTainted
    | DevicesMissing
    | TakenByOthers
    | OutOfStock
    | SearchLimit
    | TooFewDevices
    | NodeTooSmall
    | DeviceDiffers
    | NothingToClaim
    | SelectorError
    | NoDevice
    | HoldsOther
    | Tainted
    | PodSecurity
    | CacheFailed
    | NotInCacheFootprint
    | NoGatewayAddress
    | NotReady
    | BeingDeleted
    | LabelMismatch
)
"""Every reason, from the cluster that nearly took the replica to the one that was never considered."""
NEAREST_FIRST: tuple[type[Reason], ...] = get_args(Reason)
"""The same, in the order in which a condition's message has them."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A cluster that takes no more replicas, and why."""

    cluster: str
    """The name of the cluster."""
    reason: Reason

    @property
    def code(self) -> str:
        """The reason in one word, as `status.rejections` has it."""
        return type(self.reason).__name__
