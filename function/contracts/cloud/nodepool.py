"""A node pool as the API has it: part of an InferenceCluster, and of the composite that a cloud makes it from.

It is here, below the kinds, because a cloud reads every field of it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MaxLen

from function import schema
from function.contracts.cloud.blocks import Zones
from function.schema import Rule


class Taint(schema.Api):
    key: schema.LabelKey
    """Key of the taint."""
    value: schema.LabelValue | None = None
    """Value of the taint."""
    effect: Literal["NoSchedule", "NoExecute"]
    """NoSchedule keeps new pods off; NoExecute also evicts running pods."""


Taints = Annotated[tuple[Taint, ...], MaxLen(16)]


class CapacityBlock(schema.Api):
    capacityReservationId: Annotated[
        str, schema.Text(63, "^cr-[0-9a-f]{8,32}$", "a reservation, such as cr-0123456789abcdef0")
    ]
    """Capacity reservation from which the nodes are taken."""


class InfiniBand(schema.Api):
    fabric: schema.CloudName | None = None
    """The cloud's name for the fabric."""


class Fabric(schema.Api):
    type: Literal["None", "EFA", "InfiniBand"] = "None"
    """Additional network that connects the nodes of the pool."""
    infiniband: InfiniBand | None = None
    """InfiniBand fabric to join."""


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
    """Name of the pool. Nodes carry it as label modelplane.ai/pool."""
    className: schema.XrName
    """InferenceClass of the nodes."""
    taints: Taints = ()
    """Taints of the nodes. Engine pods tolerate them."""
    nodeCount: Count = 1
    """Number of nodes, or the initial number where an autoscaler scales the pool."""
    minNodeCount: Count | None = None
    """Minimum number of nodes for the autoscaler."""
    maxNodeCount: Count | None = None
    """Maximum number of nodes for the autoscaler. If omitted, the pool is not scaled."""
    zones: Zones = ()
    """Zones of the nodes. Defaults to the zones of the cluster."""
    capacityBlock: CapacityBlock | None = None
    """Capacity block from which the nodes are taken."""
    fabric: Fabric | None = None
    """Network for engines that span several nodes."""

    @property
    def most_nodes(self) -> int:
        """The nodes that the pool can have: those that it grows to where something scales it, else those it has."""
        return self.nodeCount if self.maxNodeCount is None else self.maxNodeCount
