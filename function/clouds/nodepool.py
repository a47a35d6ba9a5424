"""A node pool as the API has it: part of an InferenceCluster, and of the composite that a cloud makes it from.

It is here, below the kinds, because a cloud reads every field of it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MaxLen

from function import schema
from function.clouds.blocks import Zones
from function.schema import Rule


class Taint(schema.Api):
    key: schema.LabelKey
    """The taint's key."""
    value: schema.LabelValue | None = None
    """The taint's value."""
    effect: Literal["NoSchedule", "NoExecute"]
    """NoSchedule: nothing new comes. NoExecute: what is there goes as well."""


Taints = Annotated[tuple[Taint, ...], MaxLen(16)]


class CapacityBlock(schema.Api):
    capacityReservationId: Annotated[
        str, schema.Text(63, "^cr-[0-9a-f]{8,32}$", "a reservation, such as cr-0123456789abcdef0")
    ]
    """The reservation that the pool's nodes are taken from."""


class InfiniBand(schema.Api):
    fabric: schema.CloudName | None = None
    """The cloud's name of the fabric."""


class Fabric(schema.Api):
    type: Literal["None", "EFA", "InfiniBand"] = "None"
    """The network that the pool's nodes share beside the usual one."""
    infiniband: InfiniBand | None = None
    """Which InfiniBand fabric."""


Count = Annotated[int, schema.Whole(0, 5000)]


class NodePool(schema.Api):
    RULES = (
        Rule(
            "!has(self.minNodeCount) || !has(self.maxNodeCount) || self.minNodeCount <= self.maxNodeCount",
            "minNodeCount cannot be more than maxNodeCount",
            lambda pool: (
                pool.minNodeCount is None or pool.maxNodeCount is None or pool.minNodeCount <= pool.maxNodeCount
            ),
            at="minNodeCount",
        ),
        Rule(
            "self.name != 'system'",
            "the name system is kept for the cluster's own pool",
            lambda pool: pool.name != "system",
            at="name",
        ),
        Rule(
            "!has(self.fabric) || !has(self.fabric.infiniband) || self.fabric.type == 'InfiniBand'",
            "infiniband is only for a fabric of type InfiniBand",
            lambda pool: not pool.fabric or pool.fabric.infiniband is None or pool.fabric.type == "InfiniBand",
            at="fabric.infiniband",
        ),
    )

    name: Annotated[
        str, schema.Text(40, schema.LABEL, "a DNS label: lower-case letters, digits and dashes, other than system")
    ]
    """Name of the pool; on its nodes as label modelplane.ai/pool."""
    className: schema.XrName
    """The InferenceClass of its nodes."""
    taints: Taints = ()
    """Taints of its nodes. Engine pods bear them."""
    nodeCount: Count = 1
    """Nodes, where nothing scales the pool; the initial number where something does."""
    minNodeCount: Count | None = None
    """Nodes that an autoscaler leaves at least."""
    maxNodeCount: Count | None = None
    """Nodes that an autoscaler makes at most; left out, nothing scales the pool."""
    zones: Zones = ()
    """Zones of its nodes; left out, the cluster's."""
    capacityBlock: CapacityBlock | None = None
    """Take the nodes from a reservation."""
    fabric: Fabric | None = None
    """The network for gangs."""
