"""The nodes of a cluster's pools, and whether pods fit on them: node selectors, device claims and shared nodes.

Terms:

- A pod that claims devices takes a *whole* node, unless the pool's nodes are *shared*. The fleet scheduler assigns them
  in the same way.
- On a shared node a pod takes the devices that it claims, and the cpu, memory and storage that it requests where the
  class says what a node has (see `shared_nodes.py`).

Deliberately coarse: taints of nodes are ignored, and so are cpu and memory of whole nodes. Device selectors are
evaluated by the scheduler's own matcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from function import cel, podspec
from function.core import Manifest, dig, dig_list, dig_number, dig_objects, dig_text
from function.fleet import clusters
from function.fleet.values import whole
from function.planning.shared_nodes import SharedNodes
from function.scheduling import Claimed, Demands, PodNeeds
from function.scheduling.devices import Matcher, Offer
from function.scheduling.fleet import NodeShape, Pool
from function.scheduling.job import DeviceRequest, Member
from function.vocabulary import labels


@dataclass(slots=True)
class PoolNodes:
    """Nodes of one shape, and how many of them are free."""

    shape: NodeShape
    nodes: int
    free: int
    shared: SharedNodes | None = None
    """What is left of each node, if pods share them."""
    is_published: bool = True
    """Whether the InferenceCluster has the pool. Of one that a cloud only keeps, it is not known what a node has."""
    still_shared: set[int] = field(default_factory=set)
    """Nodes on which pods are that came when nodes were shared."""

    def stay(self, node: int) -> int:
        """Leave a pod on a node that it shares with others, although nodes are not shared any more."""
        if node not in self.still_shared:
            self.still_shared.add(node)
            self.free = max(0, self.free - 1)
        return node


@dataclass(slots=True)
class Nodes:
    """The pools of one cluster while its pods are placed."""

    pools: dict[str, PoolNodes]
    matcher: Matcher

    @property
    def are_shared(self) -> bool:
        """Whether pods share the nodes of some pool."""
        return any(pool.shared is not None for pool in self.pools.values())

    def take(
        self, pod: Manifest, claims: Mapping[str, Manifest], *, runs: bool = False, at: int | None = None
    ) -> tuple[str, int | None]:
        """Place a pod on a node.

        Args:
            pod: The pod's spec.
            claims: ResourceClaimTemplates by name.
            runs: Whether the pod already runs. Then it has its devices, and only takes its node.
            at: The shared node on which it runs.

        Returns:
            Why the pod does not fit, which is empty if it was placed; and the node, if nodes are shared.
        """
        name = dig(pod, "nodeSelector", labels.POOL)
        if name is None and not pod.get("resourceClaims"):
            return "", None  # it runs on any node, also on one of no pool
        pool = self.pools.get(str(name))
        if pool is None or pool.nodes == 0:
            return f"no node has label {labels.POOL}={name}", None
        wanted = [r["resourceClaimTemplateName"] for r in pod.get("resourceClaims") or ()]
        missing = [w for w in wanted if w not in claims]
        if missing:
            return f'resourceclaimtemplate "{missing[0]}" not found', None
        asked = [claims[w] for w in wanted]
        if runs and not pool.is_published:
            return "", None
        if pool.shared is not None:
            return self._share(pool.shared, pod, asked, f"pool {name}", at=at, runs=runs)
        if runs and at is not None and at < pool.nodes:
            return "", pool.stay(at)
        return self._take_whole(pool, asked, f"pool {name}", runs=runs), None

    def _take_whole(self, pool: PoolNodes, claims: Sequence[Manifest], name: str, *, runs: bool) -> str:
        if not claims:
            return ""
        if pool.free == 0:
            return f"no node of {name} is free"
        if not runs and not self._allocates(pool.shape, claims):
            return f"no node of {name} has the devices that the pod claims"
        pool.free -= 1
        return ""

    def _share(
        self, nodes: SharedNodes, pod: Manifest, claims: Sequence[Manifest], name: str, *, at: int | None, runs: bool
    ) -> tuple[str, int | None]:
        if not runs and not self._allocates(nodes.shape, claims):
            return f"no node of {name} has the devices that the pod claims", None
        needs = PodNeeds(tuple(map(_claimed, _requests(claims))), podspec.requested(pod))
        node = nodes.take(Demands(lambda: self.matcher).of(needs, nodes.shape), at)
        return ("", node) if node is not None else (f"no node of {name} has enough left for the pod", None)

    def _allocates(self, shape: NodeShape, claims: Sequence[Manifest]) -> bool:
        asked = _requests(claims)
        requests = tuple(_request(r) for r in asked)
        wanted = tuple(dig_text(r, "exactly", "deviceClassName") or "" for r in asked)
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
        nodes = 0 if name in lost else max(pools[name].nodes if name in pools else 0, kept.get(name, 0))
        found[name] = _nodes(pools.get(name), nodes)
    return Nodes(found, matcher)


def _nodes(pool: Pool | None, nodes: int) -> PoolNodes:
    if pool is None:
        return PoolNodes(NodeShape(()), nodes, nodes, is_published=False)
    return PoolNodes(pool.shape, nodes, nodes, SharedNodes.empty(pool.shape, nodes) if pool.shared else None)


def _kept(made: Manifest) -> dict[str, int]:
    """The nodes of the pools that a cloud has made."""
    there = dig_list(made, "status", "pools")
    pools = (pool for pool in dig_objects(made, "spec", "nodePools") if pool["name"] in there)
    return {str(pool["name"]): whole(pool.get("maxNodeCount", pool.get("nodeCount")), 1) for pool in pools}


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


def _requests(claims: Iterable[Manifest]) -> list[Manifest]:
    return [r for claim in claims for r in dig_objects(claim, "spec", "spec", "devices", "requests")]


def _request(request: Manifest) -> DeviceRequest:
    return DeviceRequest(request["name"], _count(request), _selectors(request))


def _claimed(request: Manifest) -> Claimed:
    return Claimed(_count(request), str(dig(request, "exactly", "deviceClassName")), _selectors(request))


def _count(request: Manifest) -> int:
    return int(dig_number(request, "exactly", "count")) or 1


def _selectors(request: Manifest) -> tuple[_UncountedSelector, ...]:
    texts = (str(dig(s, "cel", "expression")) for s in dig_list(request, "exactly", "selectors"))
    return tuple(map(_UncountedSelector, texts))
