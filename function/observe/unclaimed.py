"""Observes a cluster that no InferenceCluster declares: its own nodes are the declaration.

Each pool's class is the shape that most of its nodes have. Nodes without the label of a pool are grouped by shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from function.observe import inventory, observation, shapes
from function.observe.declaration import Declaration, Entry, Pool
from function.observe.inventory import Place
from function.observe.once import Seen
from function.observe.shapes import Shape
from function.vocabulary import labels


def observed(seen: Seen) -> dict[str, Any]:
    """The observation, with `labelled` for each pool, `without` (nodes without devices) and `missing` kinds."""
    stock = inventory.of(seen.snapshot)
    labelled: dict[str, list[Place]] = defaultdict(list)
    for place in stock.places.values():
        labelled[place.node.labels.get(labels.POOL, "")].append(place)
    unlabelled = labelled.pop("", [])
    pools = {name: Pool(name, _entries(shapes.shapes(places)[:1])) for name, places in labelled.items()}
    groups = {_free(shape.name, pools): shape for shape in shapes.shapes(unlabelled)}
    pools |= {name: Pool(name, _entries([shape])) for name, shape in groups.items()}
    assigned = {node: name for name, shape in groups.items() for node in shape.nodes}
    found = observation.observed(stock, Declaration("", dict(sorted(pools.items()))), assigned=assigned)
    for name, pool in found["pools"].items():
        pool["labelled"] = name in labelled
    return {
        "pools": found["pools"],
        "without": sum(not place.devices for place in unlabelled),
        "missing": list(seen.missing),
    }


def _entries(found: Iterable[Shape]) -> tuple[Entry, ...]:
    return tuple(Entry(kind.name, kind.driver, kind.count, kind.facts) for shape in found for kind in shape.kinds)


def _free(name: str, taken: Mapping[str, Pool]) -> str:
    return f"{name}-unlabelled" if name in taken else name
