"""Writes the observation of an InferenceCluster: what its nodes really have, beside what it declares.

Phases (`observed`):

1. Find the nodes of each declared pool by their label.
2. Match the devices of each node with the entries of the pool's class (`matching`).
3. Describe each node, and merge the descriptions of like nodes into one record.
4. Tell in which facts and counts the nodes differ from the class.

The texts are stable: sorted, without times and counters. While nothing changes, the same text is written.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from function.observe.declaration import Declaration, Pool
from function.observe.inventory import Inventory, Place
from function.observe.matching import Class, Difference, Look, Matched, matched
from function.observe.records import Device, Fact, Node, NodeTaint
from function.vocabulary import labels
from function.vocabulary.observation import MOST_DEVICES, MOST_HOLDERS, MOST_UNKNOWN, VERSION, NodeState

_MOST_DIFFERENCES = 16
_MOST_UNKNOWN_KINDS = 16
_MOST_UNASSIGNED = 8
_ALWAYS_TOLERATED = (labels.GPU_TAINT, "NoSchedule")
"""Key and effect of the taint that every engine pod tolerates."""


def observed(
    inventory: Inventory,
    declaration: Declaration,
    stock: Mapping[str, str] | None = None,
    assigned: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The observation of a cluster.

    Args:
        inventory: What the cluster has.
        declaration: What the InferenceCluster declares.
        stock: Messages of the autoscaler for the pools that it failed to scale up.
        assigned: Pools of nodes without the label of a pool, by the names of the nodes.
    """
    places: dict[str, list[Place]] = defaultdict(list)
    for place in inventory.places.values():
        pool = place.node.labels.get(labels.POOL) or (assigned or {}).get(place.node.name, "")
        places[pool].append(place)
    pools = {
        name: _pool(pool, places.get(name, []), inventory, (stock or {}).get(name))
        for name, pool in declaration.pools.items()
    }
    unassigned = [place.node.name for place in places[""] if place.devices]
    return {
        "version": VERSION,
        "cluster": declaration.cluster,
        "declared": declaration.hash,
        "pools": pools,
        "unassigned": unassigned[:_MOST_UNASSIGNED],
    }


def _pool(pool: Pool, places: Sequence[Place], inventory: Inventory, out_of_stock: str | None) -> dict[str, Any]:
    class_ = Class(pool.entries)
    nodes = [(place, _matched(class_, place)) for place in places]
    differs, published = _differences(class_, [node for _, node in nodes])
    return {
        "nodes": _merged((place.node.name, _record(pool, place, node, inventory)) for place, node in nodes),
        "differs": differs,
        "counts": _counts(pool, [node for _, node in nodes]),
        "unknown": _unknown([node for _, node in nodes]),
        "published": published,
        **({"outOfStock": out_of_stock} if out_of_stock else {}),
    }


def _matched(class_: Class, place: Place) -> Matched:
    return matched(class_, ((device, class_.look(device.driver, facts)) for device, facts in place.devices))


# Nodes


def _merged(records: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """One record for the nodes that are alike, sorted by the first of their names."""
    alike: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for name, record in records:
        alike.setdefault(json.dumps(record, sort_keys=True), (record, []))[1].append(name)
    merged = ({"names": sorted(names), "count": len(names), **record} for record, names in alike.values())
    return sorted(merged, key=lambda record: record["names"])


def _record(pool: Pool, place: Place, matched_: Matched, inventory: Inventory) -> dict[str, Any]:
    """The description of a node, without its name."""
    devices = {name: _told(found, inventory.holders) for name, found in sorted(matched_.by_entry.items())}
    foreign, ours = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for entry, told in devices.items():
        for holder in (inventory.holders[device] for device in told if device in inventory.holders):
            (ours[holder] if holder else foreign)[entry] += 1
    state, taint = _state(pool, place.node)
    return {
        "state": state.value,
        **({"taint": str(taint)} if taint else {}),
        "devices": {entry: len(told) for entry, told in devices.items()},
        **({"foreign": _sorted(foreign)} if foreign else {}),
        **({"ours": {holder: _sorted(held) for holder, held in sorted(ours.items())}} if ours else {}),
        **({"pods": _sorted(_bounded(place.engines))} if place.engines else {}),
        "allocatable": place.node.allocatable.texts(),
        "requested": place.requested.texts(),
        **({"oursRequested": place.of_engines.texts()} if any(place.of_engines) else {}),
    }


def _told(devices: Sequence[Device], holders: Mapping[Device, str]) -> Sequence[Device]:
    """The devices that are told of an entry: those that claims hold first, if there are too many."""
    if len(devices) <= MOST_DEVICES:
        return devices
    return sorted(devices, key=lambda device: (device not in holders, device))[:MOST_DEVICES]


def _bounded(counts: Mapping[str, int]) -> dict[str, int]:
    return {holder: min(count, MOST_HOLDERS) for holder, count in sorted(counts.items())[:MOST_HOLDERS]}


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _state(pool: Pool, node: Node) -> tuple[NodeState, NodeTaint | None]:
    if not node.is_ready:
        return NodeState.NOT_READY, None
    if node.is_cordoned:
        return NodeState.CORDONED, None
    taint = next((taint for taint in node.taints if not _is_tolerated(taint, pool.taints)), None)
    return (NodeState.TAINTED, taint) if taint else (NodeState.READY, None)


def _is_tolerated(taint: NodeTaint, declared: Iterable[NodeTaint]) -> bool:
    """Whether pods of replicas tolerate a taint, as they are composed (manifests.pods.taint_toleration)."""
    if (taint.key, taint.effect) == _ALWAYS_TOLERATED:
        return True
    return any(
        (taint.key, taint.effect) == (one.key, one.effect) and one.value in ("", taint.value) for one in declared
    )


# Differences from the class


def _differences(class_: Class, nodes: Iterable[Matched]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """`differs` and `published` of a pool."""
    looks: dict[str, Counter[Look]] = defaultdict(Counter)
    for node in nodes:
        for name, look in node.looks.items():
            looks[name][look] += 1
    told: list[tuple[str, str, int, str, Mapping[str, str | None]]] = []
    published = {}
    for index, entry in enumerate(class_.entries):
        if entry.name not in looks:
            continue
        usual = sorted(looks[entry.name].items(), key=lambda one: (-one[1], repr(one[0])))
        counted = Counter[Difference]()
        for look, count in usual:
            for difference in class_.differences(index, look):
                counted[difference] += count
        told += [
            (entry.name, difference.declared.label, -count, str(values["published"]), values)
            for difference, count in counted.items()
            for values in (_values(difference),)
        ]
        published[entry.name] = _notation(fact for fact in usual[0][0] if fact)
    told.sort(key=lambda one: one[:4])
    differs = [
        {"device": device, "fact": fact, **values, "nodes": -count}
        for device, fact, count, _, values in told[:_MOST_DIFFERENCES]
    ]
    return differs, published


def _values(difference: Difference) -> dict[str, str | None]:
    """The two values as texts, with their types if those differ."""
    declared, published = difference
    if published is None:
        return {"declared": _text(declared), "published": None}
    if declared.type == published.type:
        return {"declared": _text(declared), "published": _text(published)}
    return {"declared": f"{declared.type} {_text(declared)}", "published": f"{published.type} {_text(published)}"}


def _text(fact: Fact) -> str:
    return str(fact.value).lower() if fact.type == "bool" else str(fact.value)


def _notation(facts: Iterable[Fact]) -> dict[str, Any]:
    """Facts as an InferenceClass has them."""
    notation: dict[str, Any] = {"attributes": {}, "capacity": {}}
    for fact in facts:
        if fact.kind == "attribute":
            notation["attributes"][fact.name] = {fact.type: fact.value}
        else:
            notation["capacity"][fact.name] = {"value": fact.value}
    return notation


def _counts(pool: Pool, nodes: Sequence[Matched]) -> list[dict[str, Any]]:
    counted = Counter(
        (entry.name, entry.count, min(len(node.by_entry.get(entry.name, ())), MOST_DEVICES))
        for node in nodes
        for entry in pool.entries
    )
    return [
        {"device": device, "declared": declared, "published": published, "nodes": count}
        for (device, declared, published), count in sorted(counted.items())
        if declared != published
    ]


def _unknown(nodes: Iterable[Matched]) -> list[dict[str, Any]]:
    """Devices that no entry describes, by driver and number on a node, with the name of one."""
    counted, samples = Counter[tuple[str, int]](), dict[tuple[str, int], str]()
    for node in nodes:
        for driver, devices in groupby(sorted(node.unknown), key=lambda one: one[0]):
            those = list(devices)
            key = driver, min(MOST_UNKNOWN, sum(count for _, _, count in those))
            counted[key] += 1
            samples[key] = min(those[0][1], samples.get(key, those[0][1]))
    return [
        {"driver": driver, "device": samples[driver, count], "count": count, "nodes": number}
        for (driver, count), number in sorted(counted.items())
    ][:_MOST_UNKNOWN_KINDS]
