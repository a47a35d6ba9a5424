"""Keeps an observation within its size: the texts of 5,000 nodes must fit in a ConfigMap.

What is left out, in this order, until the rest fits:

1. Names of nodes: 8 of each record, then 1, then none. Their number is exact.
2. Precision: what pods request is rounded up, and what nodes can allocate down, in steps that grow, so that the
   records of more nodes are alike. A reader then sees less free than there is, never more.
3. Records: those of the fewest nodes of each pool. `left` is the number of their nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function.observe import amounts
from function.observe.amounts import Amounts
from function.vocabulary.observation import MOST_OBSERVED

_NAMES = (8, 1, 0)
_REQUESTED = ("requested", "oursRequested")
_STEPS = (Amounts(1000, 2**30, 2**30), *(Amounts(1000 << n, 2**30 << n, 2**32 << n) for n in (2, 4, 6)))
"""Steps of rounding: thousandths of a cpu, and bytes."""


def text(observed: Mapping[str, Any], most: int = MOST_OBSERVED) -> str:
    """An observation as JSON of at most so many bytes."""
    shown = next((shown for shown in map(dump, _unnamed(observed)) if len(shown) <= most), None)
    if shown is not None:
        return shown
    coarsest = _imprecise(observed, _STEPS[-1])
    if len(dump(coarsest)) > most:  # asked first: nodes that differ in who holds their devices never become alike
        return _cut(coarsest, most)
    finer = (dump(_imprecise(observed, step)) for step in _STEPS[:-1])
    return next((shown for shown in finer if len(shown) <= most), dump(coarsest))


def dump(value: Any) -> str:
    """JSON that is the same for equal values, and has as many bytes as characters."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _unnamed(observed: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield observed
    for most in _NAMES:
        yield _each(observed, lambda records, most=most: [_named(record, most) for record in records])


def _imprecise(observed: Mapping[str, Any], step: Amounts) -> Mapping[str, Any]:
    return _each(observed, lambda records: _merged(_rounded(_named(record, 0), step) for record in records))


def _each(observed: Mapping[str, Any], change: Any) -> dict[str, Any]:
    """An observation with other records of nodes."""
    pools = {name: {**pool, "nodes": change(pool["nodes"])} for name, pool in observed["pools"].items()}
    return {**observed, "pools": pools}


def _named(record: Mapping[str, Any], most: int) -> dict[str, Any]:
    return {**record, "names": record["names"][:most]}


def _rounded(record: Mapping[str, Any], step: Amounts) -> dict[str, Any]:
    has = amounts.read(record["allocatable"])
    return {
        **record,
        "allocatable": Amounts(*(amount // unit * unit for amount, unit in zip(has, step, strict=True))).texts(),
        **{field: _rounded_up(record[field], step) for field in _REQUESTED if field in record},
    }


def _rounded_up(given: Any, step: Amounts) -> dict[str, str]:
    return Amounts(*(-(-amount // unit) * unit for amount, unit in zip(amounts.read(given), step, strict=True))).texts()


def _merged(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    alike: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        alike.setdefault(dump({**record, "count": 0}), []).append(record)
    return [{**those[0], "count": sum(one["count"] for one in those)} for _, those in sorted(alike.items())]


def _cut(observed: Mapping[str, Any], most: int) -> str:
    """The records of most nodes that fit, pools sharing the room equally."""
    empty = _each(observed, lambda _: [])
    pools = observed["pools"]
    share = (most - len(dump(empty)) - 32 * len(pools)) // max(1, len(pools))
    if share < 0:
        return dump({**empty, "pools": {}})
    for name, pool in pools.items():
        kept, room = [], share
        for record in sorted(pool["nodes"], key=lambda one: (-one["count"], dump(one))):
            room -= len(dump(record)) + 1
            if room < 0:
                break
            kept.append(record)
        left = sum(one["count"] for one in pool["nodes"]) - sum(one["count"] for one in kept)
        empty["pools"][name] = {**pool, "nodes": kept, **({"left": left} if left else {})}
    return dump(empty)
