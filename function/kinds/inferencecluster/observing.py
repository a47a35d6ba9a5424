"""Whether what an observer reports of a cluster counts, and what an InferenceCluster publishes of it.

An observation counts if

1. it can be read (`fleet.observations`),
2. the observer's Deployment is available and all Objects are in sync, so that the observation follows the nodes,
3. it compares the nodes with what the pools declare now, and
4. it does not contradict what is known: replicas that are ready claim no more devices than the nodes have.

Otherwise the last one is kept and marked as stale, and the declared capacity counts. There is no clock: an observation
that did not change for a day counts as long as the observer watches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from function.core import (
    Condition,
    Manifest,
    Request,
    condition,
    dig,
    is_ready,
    last,
    plain,
    plural,
    quote,
    quote_condition,
)
from function.fleet import observations
from function.fleet.replicas import CLAIMED
from function.fleet.values import mappings, whole
from function.kinds.inferencecluster import capacity, compose, inputs
from function.manifests import observer, reached
from function.scheduling.observed import Observation, ObservedPool, Unbelieved
from function.vocabulary import conditions as c
from function.vocabulary import names
from function.vocabulary.observation import NodeState

_DEPLOYMENT = f"Deployment {observer.NAMESPACE}/{observer.NAME}"
_WORDS = (
    (NodeState.READY, "ready"),
    (NodeState.CORDONED, "cordoned"),
    (NodeState.NOT_READY, "not ready"),
    (NodeState.TAINTED, "tainted"),
)
_MOST_DIFFERENCES = 4
"""Differences that a message tells."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What is observed of the nodes."""

    verdict: Condition
    """CapacityObserved."""
    observation: Observation | None = None
    """The last observation; None if there is none that can be read."""

    @property
    def counts(self) -> bool:
        return self.verdict.status == "True"


def read(request: Request, pools: Collection[Mapping[str, Any]], declared: Any) -> Observed:
    """Return what is observed.

    Args:
        request: The request.
        pools: The published pools.
        declared: What the pools declare, as it is told to the observer; None if it is not known.
    """
    told = observations.read(request.observed.get(capacity.OBSERVATION))
    if told is None:
        return Observed(_waiting(request))
    if isinstance(told, Unbelieved):
        reason = c.OBSERVER_UNAVAILABLE if told.is_blind else c.MALFORMED_OBSERVATION
        return Observed(reason(why=quote(told.why)))
    cluster = request.identity.name
    if told.cluster != cluster:
        return Observed(c.MALFORMED_OBSERVATION(why=f"cluster must be {cluster}, not {quote(told.cluster)}"))
    published = {pool["name"] for pool in pools}
    kept = replace(told, pools={name: pool for name, pool in told.pools.items() if name in published})
    return Observed(_verdict(request, pools, declared, kept), kept)


def _verdict(request: Request, pools: Iterable[Mapping[str, Any]], declared: Any, told: Observation) -> Condition:
    fault = _fault(request)
    if fault:
        return c.OBSERVER_UNAVAILABLE(why=fault)
    if declared is None or told.declared != names.content_hash(declared):
        return c.STALE_OBSERVATION(why="The nodes were compared with an earlier declaration of the pools")
    replicas = None if compose.is_doubted(request) else inputs.replicas(request)
    if replicas is None:
        return _last_stale(request) or c.OBSERVED(why=_totals(told))
    contradiction = _contradiction(replicas, pools, told)
    return c.STALE_OBSERVATION(why=contradiction) if contradiction else c.OBSERVED(why=_totals(told))


def held(request: Request) -> tuple[dict[str, Any], tuple[Condition, ...]]:
    """Return the status and the conditions of a pass on which the spec is not read: an observer can die meanwhile."""
    before = dig(request.xr, "status", "capacity")
    if dig(before, "source") != "Observed":
        return {}, ()
    pools = inputs.published_pools(request.xr).values()
    found = read(request, pools, capacity.declared_on_cluster(request))
    return status(request, found), conditions(found)


# Whether it counts


def _fault(request: Request) -> str:
    """Return why an observation would not follow the nodes at the moment; empty if it would."""
    for what, key in (("declaration", capacity.DECLARATION), ("observation", capacity.OBSERVATION)):
        why = _unsynced(request, key)
        if why:
            return f"The Object of the {what} is not in sync: {why}"
    return _fault_of_observer(request)


def _fault_of_observer(request: Request) -> str:
    why = _unsynced(request, capacity.OBSERVER)
    if why:
        return f"{_DEPLOYMENT} cannot be seen on the cluster: {why}"
    there = _deployment(request)
    if there is None:
        return f"{_DEPLOYMENT} was not seen on the cluster yet"
    available = condition(there, "Available")
    if dig(available, "status") == "True":
        return ""
    why = quote_condition(available).rstrip(".")
    return f"{_DEPLOYMENT} is not available{f': {why}' if why else ''}"


def _deployment(request: Request) -> Manifest | None:
    """Return the observer's Deployment as it was last seen on the cluster."""
    found = dig(request.observed.get(capacity.OBSERVER), "status", "atProvider", "manifest")
    return found if isinstance(found, Mapping) else None


def _unsynced(request: Request, key: str) -> str:
    """Return why the provider cannot reconcile an Object; empty if it can, or has not tried yet."""
    found = request.observed.get(key)
    return (reached.lost(found) or observations.lost(found) or "") if found else ""


def _waiting(request: Request) -> Condition:
    """Return why there is no observation yet. One that was never written is not an error."""
    declaration = _unsynced(request, capacity.DECLARATION)
    if _deployment(request) is not None and (fault := _fault_of_observer(request)):
        return c.OBSERVER_UNAVAILABLE(why=fault)
    if declaration:
        return c.WAITING_FOR_OBSERVATION(why=f"The Object of the declaration is not in sync: {declaration}")
    if _deployment(request) is None:
        return c.WAITING_FOR_OBSERVATION(why=f"Waiting for {_DEPLOYMENT} on the cluster")
    return c.WAITING_FOR_OBSERVATION(why=f"Waiting for the first observation by {_DEPLOYMENT}")


def _last_stale(request: Request) -> Condition | None:
    """Return the last CapacityObserved if it was Stale: without the replicas, nothing tells that it is better now."""
    before = last(request.xr, c.CAPACITY_OBSERVED)
    return before if before and before.reason == c.STALE_OBSERVATION.reason else None


def _contradiction(replicas: Iterable[Manifest], pools: Iterable[Mapping[str, Any]], told: Observation) -> str:
    """Return what replicas that run and an observation cannot both have; empty if there is nothing.

    A lower bound: pods of one replica may share a node, whatever the pool counts. A device that the driver keeps new
    claims off may still be held, so that a node is taken to have at least the devices of its class.
    """
    claimed, places = Counter[str](), set[str]()
    for replica in replicas:
        if is_ready(replica) and "deletionTimestamp" not in replica["metadata"]:
            found = CLAIMED(replica)
            claimed.update(found)
            places.update(found)
    for pool in sorted(pools, key=lambda pool: str(pool["name"])):
        seen = told.pools.get(pool["name"])
        if seen is None or pool["name"] not in places:
            continue
        most = _most_devices(pool, seen)
        if not seen.number or claimed[pool["name"]] > most:
            what = f"{plural(seen.number, 'node')} with {plural(most, 'device')}" if seen.number else "no nodes"
            problem = f"Pool {pool['name']} is observed to have {what}, but there are ready replicas"
            return f"{problem} that claim {plural(claimed[pool['name']], 'device')}"
    return ""


def _most_devices(pool: Mapping[str, Any], seen: ObservedPool) -> int:
    declared = sum(whole(device.get("count"), default=1) for device in mappings(pool.get("devices")))
    there = ((like.count, sum(like.devices.values())) for like in seen.nodes)
    return sum(count * max(declared, devices) for count, devices in there) + seen.left * declared


# The status


def status(request: Request, found: Observed) -> dict[str, Any]:
    """Return status.capacity. Its totals change only when nodes come, go or change their state: each change of an
    InferenceCluster wakes all deployments."""
    kept = plain(dig(request.xr, "status", "capacity", "pools")) or []
    told = found.observation
    pools = [_pool(name, pool) for name, pool in told.pools.items()] if told else kept
    is_there = bool(told or kept)
    published = {
        "source": "Observed",
        **({"object": names.capacity_object(request.identity.name)} if is_there else {}),
        **({"stale": True} if is_there and not found.counts else {}),
        **({"pools": pools} if pools else {}),
    }
    return {"capacity": published}


def _pool(name: str, pool: ObservedPool) -> dict[str, Any]:
    number = {state: sum(like.count for like in pool.in_state(state)) for state in NodeState}
    others = {
        "cordoned": number[NodeState.CORDONED],
        "notReady": number[NodeState.NOT_READY],
        "tainted": number[NodeState.TAINTED],
        "foreign": _foreign(pool),
    }
    return {
        "pool": name,
        "ready": number[NodeState.READY],
        **{field: count for field, count in others.items() if count},
        **({"outOfStock": True} if pool.out_of_stock is not None else {}),
    }


def _foreign(pool: ObservedPool) -> int:
    return sum(like.count for like in pool.nodes if any(like.foreign.values()))


def _totals(told: Observation) -> str:
    return "; ".join(f"{name}: {_sentence(pool)}" for name, pool in told.pools.items()) or "no pools"


def _sentence(pool: ObservedPool) -> str:
    counted = ((sum(like.count for like in pool.in_state(state)), word) for state, word in _WORDS)
    parts = [f"{count} {word}" for count, word in counted if count]
    held = _foreign(pool)
    return ", ".join(
        (
            *(parts or ["no nodes"]),
            *([f"{pool.left} not told"] if pool.left else []),
            *([f"{held} with devices that others hold"] if held else []),
            *([f"out of stock ({quote(pool.out_of_stock)})"] if pool.out_of_stock is not None else []),
        )
    )


# The conditions


def conditions(found: Observed) -> tuple[Condition, ...]:
    """Return CapacityObserved and ClassMatchesNodes."""
    return found.verdict, _class_matches(found)


def declared_counts(request: Request) -> tuple[Condition, ...]:
    """Return the conditions of a cluster that is not observed: none, unless it was observed before."""
    said = (t for t in (c.CAPACITY_OBSERVED, c.CLASS_MATCHES_NODES) if condition(request.xr, t.type) is not None)
    return (c.DECLARED_COUNTS(), c.NOTHING_OBSERVED(why="spec.capacity.source is Declared")) if any(said) else ()


def _class_matches(found: Observed) -> Condition:
    told = found.observation
    if told is None or not found.counts:
        why = f"Waiting for condition {found.verdict.type}, whose reason is {found.verdict.reason}"
        return c.NOTHING_OBSERVED(why=why)
    number = sum(pool.number for pool in told.pools.values())
    if not number:
        return c.NOTHING_OBSERVED(why="The pools have no nodes")
    facts, counts, unknown = (list(of(told)) for of in (_facts, _counts, _unknown))
    if not (facts or counts or unknown):
        return c.CLASS_MATCHES(why=f"What the classes declare is published on {plural(number, 'node')}")
    reason = c.FACTS_DIFFER if facts else c.COUNTS_DIFFER if counts else c.UNKNOWN_DEVICES
    return reason(why=_joined([*facts, *counts, *unknown]))


def _joined(problems: list[str]) -> str:
    more = len(problems) - _MOST_DIFFERENCES
    return "; ".join((*problems[:_MOST_DIFFERENCES], *([f"{more} more"] if more > 0 else [])))


def _facts(told: Observation) -> Iterator[str]:
    for name, pool in told.pools.items():
        for one in pool.differs:
            value = "not published" if one.published is None else f"published as {quote(one.published)}"
            what = f"{one.fact} is declared as {quote(one.declared)}, and {value} on {plural(one.nodes, 'node')}"
            yield f"pool {name}, device {one.device}: {what}"


def _counts(told: Observation) -> Iterator[str]:
    for name, pool in told.pools.items():
        for one in pool.counts:
            what = f"{one.declared} are declared, and {one.published} are published on {plural(one.nodes, 'node')}"
            yield f"pool {name}, device {one.device}: {what}"


def _unknown(told: Observation) -> Iterator[str]:
    for name, pool in told.pools.items():
        for one in pool.unknown:
            what = f"{one.on_node} of driver {one.driver} such as {one.device}"
            yield f"pool {name}: devices are not declared: {what}, published on {plural(one.nodes, 'node')}"
