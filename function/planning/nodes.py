"""The nodes of a cluster's pools, and whether pods fit on them: node selectors and device claims.

Deliberately coarse: a pod that claims devices takes a whole node, because the fleet scheduler assigns whole nodes. CPU,
memory and taints of nodes are ignored. Device selectors are evaluated by the scheduler's own matcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from function import cel
from function.core import Manifest, dig, dig_list
from function.fleet import clusters
from function.scheduling.devices import Matcher, Offer
from function.scheduling.fleet import NodeShape
from function.scheduling.job import DeviceRequest, Member
from function.vocabulary import labels


@dataclass(slots=True)
class PoolNodes:
    """Nodes of one shape, and how many of them are free."""

    shape: NodeShape
    nodes: int
    free: int


@dataclass(slots=True)
class Nodes:
    """The pools of one cluster while its pods are placed."""

    pools: dict[str, PoolNodes]
    matcher: Matcher

    def take(self, pod: Manifest, claims: Mapping[str, Manifest], *, runs: bool = False) -> str:
        """Place a pod on a node.

        Args:
            pod: The pod's spec.
            claims: ResourceClaimTemplates by name.
            runs: Whether the pod already runs. Then it has its devices, and only takes its node.

        Returns:
            Why the pod does not fit; empty if it was placed.
        """
        name = dig(pod, "nodeSelector", labels.POOL)
        if name is None and not pod.get("resourceClaims"):
            return ""  # it runs on any node, also on one of no pool
        pool = self.pools.get(str(name))
        if pool is None or pool.nodes == 0:
            return f"no node has label {labels.POOL}={name}"
        wanted = [r["resourceClaimTemplateName"] for r in pod.get("resourceClaims") or ()]
        missing = [w for w in wanted if w not in claims]
        if missing:
            return f'resourceclaimtemplate "{missing[0]}" not found'
        if not wanted:
            return ""
        if pool.free == 0:
            return f"no node of pool {name} is free"
        if not runs and not self._allocates(pool.shape, [claims[w] for w in wanted]):
            return f"no node of pool {name} has the devices that the pod claims"
        pool.free -= 1
        return ""

    def _allocates(self, shape: NodeShape, claims: Iterable[Manifest]) -> bool:
        asked = [r for claim in claims for r in dig(claim, "spec", "spec", "devices", "requests") or ()]
        requests = tuple(_request(r) for r in asked)
        wanted = tuple(dig(r, "exactly", "deviceClassName") for r in asked)
        offer = self.matcher.offer(Member("pod", 1, requests), _claimable(shape, frozenset(wanted)))
        return isinstance(offer, Offer) and offer.classes == wanted


def read(cluster: Manifest | None, made: Manifest | None, lost: frozenset[str], matcher: Matcher) -> Nodes:
    """The nodes of an InferenceCluster, all free. A pool in `lost` has none, and neither has a cluster that is gone.

    Args:
        cluster: The InferenceCluster.
        made: The composite by which a cloud makes it; None for one that exists already. It keeps nodes that the
            InferenceCluster does not publish any more, until the replicas on them have moved.
        lost: Pools without any node.
        matcher: Evaluates device selectors.
    """
    pools = {pool.name: pool for pool in clusters.cluster(cluster).pools} if cluster else {}
    kept = _kept(made) if cluster and made else {}
    found = {}
    for name in {**pools, **kept}:
        shape = pools[name].shape if name in pools else NodeShape(())
        nodes = 0 if name in lost else max(pools[name].nodes if name in pools else 0, kept.get(name, 0))
        found[name] = PoolNodes(shape, nodes, nodes)
    return Nodes(found, matcher)


def _kept(made: Manifest) -> dict[str, int]:
    """The nodes of the pools that a cloud has made."""
    there = dig_list(made, "status", "pools")
    pools = (pool for pool in dig_list(made, "spec", "nodePools") if pool["name"] in there)
    return {pool["name"]: int(pool.get("maxNodeCount", pool.get("nodeCount", 1))) for pool in pools}


def _claimable(shape: NodeShape, classes: frozenset[str]) -> NodeShape:
    """The devices of a node that belong to the given DeviceClasses."""
    left = tuple(d for d in shape.devices if d.device_class in classes)
    return shape if left == shape.devices else NodeShape(left)


@dataclass(frozen=True, slots=True)
class _UncountedSelector:
    text: str
    price: int = 0
    """Plans have no step budget."""

    def judge(self, published: Any) -> bool | str:
        try:
            return cel.compiled(self.text).evaluate(cast("cel.Device", published)) is cel.MATCH
        except cel.InvalidSelector as error:
            return str(error)


def _request(request: Manifest) -> DeviceRequest:
    selectors = dig(request, "exactly", "selectors") or ()
    texts = (str(dig(s, "cel", "expression")) for s in selectors)
    return DeviceRequest(
        request["name"], int(dig(request, "exactly", "count") or 1), tuple(map(_UncountedSelector, texts))
    )
