"""How many nodes a node group has, and who says so.

A group with an autoscaler has its sizes in initProvider only, all of them. Beside bounds in forProvider, a desiredSize
in initProvider is no field of creation only: Upjet names it scaling_config.desired_size, Terraform's difference has
scaling_config.0.desired_size, and so the provider would undo what the autoscaler does
(crossplane-contrib/provider-upjet-aws#1907; crossplane/upjet#728 mends it, after provider-upjet-aws v2.6).

Bounds that AWS does not have yet are written to forProvider, with the number of nodes that there is, until it has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from function.clouds.eks import facts
from function.contracts.cloud import nodes
from function.contracts.cloud.nodepool import NodePool
from function.contracts.cloud.site import Site
from function.core import dig_fields, dig_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The numbers of nodes of a group."""

    least: int
    most: int
    first: int
    """The number at creation."""
    is_scaled: bool
    """Whether an autoscaler chooses the number later on."""


SYSTEM = Sizes(least=facts.SYSTEM_NODES, most=facts.MOST_SYSTEM_NODES, first=facts.SYSTEM_NODES, is_scaled=True)


def of_pool(pool: NodePool) -> Sizes:
    """Return the sizes of a node pool. EKS takes no maximum of 0."""
    scale = nodes.scale(pool, least=1)
    if scale is None:
        count = pool.nodeCount
        return Sizes(least=count, most=max(count, 1), first=count, is_scaled=False)
    return Sizes(least=scale.least, most=scale.most, first=scale.first, is_scaled=True)


def written(site: Site, key: str, sizes: Sizes) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the fields of spec.forProvider of the group of a key, and its spec.initProvider."""
    if not sizes.is_scaled:
        return _config(sizes, sizes.first), None
    there = dig_fields(site.seen(key, "scalingConfig"))
    bounds = there.get("minSize"), there.get("maxSize")
    if None in bounds or bounds == (sizes.least, sizes.most):
        return {}, _config(sizes, sizes.first)
    desired = int(dig_number(there, "desiredSize", otherwise=sizes.first))
    return _config(sizes, _within(desired, sizes.least, sizes.most)), None


def _config(sizes: Sizes, desired: int) -> dict[str, Any]:
    return {"scalingConfig": {"minSize": sizes.least, "maxSize": sizes.most, "desiredSize": desired}}


def _within(count: int, least: int, most: int) -> int:
    return min(max(count, least), most)
