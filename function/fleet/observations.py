"""Reads what the observer on an inference cluster reports, from the observe-only Object that brings it back.

The text is written on another cluster, by a program that may be older, broken or replaced, so that it is checked like
the input of a stranger. A report of the wrong version, shape or size, or with an amount that no node has, is not
believed at all: its reader gets the reason, and counts what is declared. Nothing here raises for a bad report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

from function import podspec
from function.core import ContentCache, Manifest, condition, dig, quote_condition, redaction, shortened
from function.scheduling.observed import (
    ByDevice,
    CountDiffers,
    FactDiffers,
    Observation,
    ObservedNodes,
    ObservedPool,
    Unbelieved,
    UnknownDevices,
)
from function.scheduling.packing import Resources
from function.vocabulary.observation import (
    MOST_AMOUNT,
    MOST_DEVICES,
    MOST_HOLDERS,
    MOST_MESSAGE,
    MOST_OBSERVED,
    MOST_UNKNOWN,
    OBSERVED_KEY,
    VERSION,
    NodeState,
)

V = TypeVar("V")

MOST_NODES = 5_000
"""Nodes of a cluster. Kubernetes supports no more (kubernetes.io, "Considerations for large clusters")."""
_MOST_DECLARED = 1_024
"""Devices of one entry that a class declares for a node."""
_MOST_POOLS = 64
_MOST_ENTRIES = 64
_MOST_DIFFERENCES = 64
_MOST_UNASSIGNED = 8
_MOST_STOCK = 256
"""Characters of the autoscaler's message."""
_LONGEST_NAME = 253
_LONGEST_HOLDER = 2 * _LONGEST_NAME + 1
"""Characters of `namespace/workload`."""
_LONGEST_AMOUNT = 64
_NOTHING = {"cpu": "0", "memory": "0", "ephemeral-storage": "0"}
_ESSENTIAL = {"nodes", "pods", "resourceslices", "resourceclaims"}
"""Kinds without which the numbers of a report are wrong."""
_SHOWN = 60
"""Characters of a wrong value that a message repeats."""


def read(capacity: Manifest | None) -> Observation | Unbelieved | None:
    """Return what the Object of an observation brings back; None if nothing is observed yet.

    The last text is kept in the Object even if the provider cannot read it any more. `lost` tells whether that is so.
    """
    return None if capacity is None else READ(capacity)


def lost(capacity: Manifest) -> str | None:
    """Return why the provider cannot read the observation any more; None if it can, or has not tried yet."""
    synced = condition(capacity, "Synced")
    return quote_condition(synced) or "not synced" if dig(synced, "status") == "False" else None


def _read(capacity: Manifest) -> Observation | Unbelieved | None:
    found = dig(capacity, "status", "atProvider", "manifest")
    if not isinstance(found, Mapping):
        return None
    return parse(dig(found, "data", OBSERVED_KEY))


READ = ContentCache("status", make=_read, most=512, name="observations")


def parse(text: Any) -> Observation | Unbelieved:
    """Return the observation in a text."""
    try:
        return _observation(_decoded(text))
    except _Malformed as malformed:
        return Unbelieved(f"{OBSERVED_KEY}: {malformed}", isinstance(malformed, _Blind))
    except RecursionError:
        return Unbelieved(f"{OBSERVED_KEY}: must be JSON")


class _Malformed(Exception):
    """A value that is not accepted."""


class _Blind(_Malformed):
    """The observer cannot read what it needs."""


def _refuse(at: str, wanted: str, value: Any) -> NoReturn:
    shown = redaction.message(value if isinstance(value, str) else json.dumps(value, default=str))
    raise _Malformed(f"{at} must be {wanted}, not {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'}")


def _decoded(text: Any) -> Any:
    if not isinstance(text, str):
        raise _Malformed("the ConfigMap has no such key")
    size = len(text.encode(errors="replace")) if len(text) <= MOST_OBSERVED else len(text)
    if size > MOST_OBSERVED:
        raise _Malformed(f"must have at most {MOST_OBSERVED:,} bytes, not {size:,}")
    try:
        value = json.loads(text)
        if "\\ud" in text.lower():  # half of a surrogate pair, which no message can repeat
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        raise _Malformed("must be JSON") from None
    return value


def _observation(given: Any) -> Observation:
    version = _map("the text", given, 64).get("version")
    if type(version) is not int or version != VERSION:
        _refuse("version", str(VERSION), version)
    unreadable = sorted(_ESSENTIAL.intersection(_texts("missing", given.get("missing"), 64, _LONGEST_NAME)))
    if unreadable:
        raise _Blind(f"the observer cannot read {', '.join(unreadable)}")
    pools = _map("pools", given.get("pools"), _MOST_POOLS)
    observation = Observation(
        cluster=_text("cluster", given.get("cluster"), _LONGEST_NAME),
        declared=_text("declared", given.get("declared"), _LONGEST_NAME),
        pools={name: _pool(f"pools.{name}", pool) for name, pool in sorted(pools.items())},
        unassigned=_texts("unassigned", given.get("unassigned"), _MOST_UNASSIGNED, _LONGEST_NAME),
    )
    _check_nodes(observation)
    return observation


def _check_nodes(observation: Observation) -> None:
    """Check what no record can tell alone: how many nodes there are, and that none is counted twice."""
    number = sum(pool.number for pool in observation.pools.values())
    if number > MOST_NODES:
        _refuse("the number of nodes", f"at most {MOST_NODES:,}", number)
    seen: set[str] = set()
    for pool in observation.pools.values():
        for name in (name for like in pool.nodes for name in like.names):
            if name in seen:
                raise _Malformed(f"node {name} is reported twice")
            seen.add(name)


def _pool(at: str, given: Any) -> ObservedPool:
    pool = _map(at, given, 64)
    return ObservedPool(
        nodes=_each(f"{at}.nodes", pool.get("nodes"), MOST_NODES, _nodes),
        left=_number(f"{at}.left", pool.get("left", 0), 0, MOST_NODES),
        out_of_stock=_line(f"{at}.outOfStock", pool.get("outOfStock"), _MOST_STOCK),
        differs=_each(f"{at}.differs", pool.get("differs", []), _MOST_DIFFERENCES, _differs),
        counts=_each(f"{at}.counts", pool.get("counts", []), _MOST_DIFFERENCES, _counts),
        unknown=_each(f"{at}.unknown", pool.get("unknown", []), _MOST_DIFFERENCES, _unknown),
        published={
            name: _facts(f"{at}.published.{name}", facts)
            for name, facts in _map(f"{at}.published", pool.get("published", {}), _MOST_ENTRIES).items()
        },
    )


# Nodes


def _nodes(at: str, given: Any) -> ObservedNodes:
    record = _map(at, given, 64)
    count = _number(f"{at}.count", record.get("count"), 1, MOST_NODES)
    names = _texts(f"{at}.names", record.get("names"), MOST_NODES, _LONGEST_NAME)
    if len(names) > count:
        _refuse(f"{at}.names", f"at most {count} names, as count is", len(names))
    nodes = ObservedNodes(
        names=tuple(sorted(names)),
        count=count,
        state=_state(f"{at}.state", record.get("state")),
        taint=_line(f"{at}.taint", record.get("taint"), MOST_MESSAGE) or "",
        devices=_devices(f"{at}.devices", record.get("devices")),
        foreign=_devices(f"{at}.foreign", record.get("foreign", {})),
        ours=_held(f"{at}.ours", record.get("ours", {})),
        pods=_pods(f"{at}.pods", record.get("pods", {})),
        allocatable=_amounts(f"{at}.allocatable", record.get("allocatable")),
        requested=_amounts(f"{at}.requested", record.get("requested")),
        ours_requested=_amounts(f"{at}.oursRequested", record.get("oursRequested", _NOTHING)),
    )
    for device in {*nodes.devices, *nodes.foreign, *(name for held in nodes.ours.values() for name in held)}:
        if nodes.free(device) < 0:
            held = nodes.devices.get(device, 0) - nodes.free(device)
            _refuse(f"{at}.devices.{device}", f"at least {held}, as claims hold", nodes.devices.get(device, 0))
    return nodes


def _state(at: str, given: Any) -> NodeState:
    try:
        return NodeState(given)
    except ValueError:
        _refuse(at, ", ".join(NodeState), given)


def _devices(at: str, given: Any) -> ByDevice:
    counted = _map(at, given, _MOST_ENTRIES)
    return {name: _number(f"{at}.{name}", number, 0, MOST_DEVICES) for name, number in counted.items()}


def _held(at: str, given: Any) -> Mapping[str, ByDevice]:
    holders = _map(at, given, MOST_HOLDERS, _LONGEST_HOLDER)
    return {holder: _devices(f"{at}.{holder}", held) for holder, held in holders.items()}


def _pods(at: str, given: Any) -> Mapping[str, int]:
    counted = _map(at, given, MOST_HOLDERS, _LONGEST_HOLDER)
    return {holder: _number(f"{at}.{holder}", number, 1, MOST_HOLDERS) for holder, number in counted.items()}


def _amounts(at: str, given: Any) -> Resources:
    amounts = _map(at, given, 64)
    cpu, memory, storage = (_amount(f"{at}.{name}", name, amounts.get(name)) for name in podspec.RESOURCES)
    return cpu, memory, storage


def _amount(at: str, resource: str, given: Any) -> int:
    amount = _quantity(resource, given) if isinstance(given, str) and len(given) <= _LONGEST_AMOUNT else None
    if amount is None or amount > MOST_AMOUNT:
        _refuse(at, "a quantity that a node can have", given)
    return amount


@lru_cache(maxsize=4_096)  # nodes of a pool have the same amounts
def _quantity(resource: str, text: str) -> int | None:
    return None if text.lstrip().startswith("-") else podspec.quantity(resource, text)


# Differences from the class


def _differs(at: str, given: Any) -> FactDiffers:
    record = _map(at, given, 64)
    return FactDiffers(
        device=_text(f"{at}.device", record.get("device"), _LONGEST_NAME),
        fact=_text(f"{at}.fact", record.get("fact"), _LONGEST_NAME),
        declared=_line(f"{at}.declared", record.get("declared"), _MOST_STOCK) or "",
        published=_line(f"{at}.published", record.get("published"), _MOST_STOCK),
        nodes=_number(f"{at}.nodes", record.get("nodes"), 1, MOST_NODES),
    )


def _counts(at: str, given: Any) -> CountDiffers:
    record = _map(at, given, 64)
    return CountDiffers(
        device=_text(f"{at}.device", record.get("device"), _LONGEST_NAME),
        declared=_number(f"{at}.declared", record.get("declared"), 0, _MOST_DECLARED),
        published=_number(f"{at}.published", record.get("published"), 0, MOST_DEVICES),
        nodes=_number(f"{at}.nodes", record.get("nodes"), 1, MOST_NODES),
    )


def _unknown(at: str, given: Any) -> UnknownDevices:
    record = _map(at, given, 64)
    return UnknownDevices(
        driver=_text(f"{at}.driver", record.get("driver"), _LONGEST_NAME),
        device=_text(f"{at}.device", record.get("device"), _LONGEST_NAME),
        on_node=_number(f"{at}.count", record.get("count"), 1, MOST_UNKNOWN),
        nodes=_number(f"{at}.nodes", record.get("nodes"), 1, MOST_NODES),
    )


def _facts(at: str, given: Any) -> Mapping[str, Any]:
    """Facts in the notation of an InferenceClass: `{attributes: {name: {type: value}}, capacity: {name: {value}}}`."""
    return {
        kind: {
            name: _map(f"{at}.{kind}.{name}", value, 1)
            for name, value in _map(f"{at}.{kind}", facts, _MOST_ENTRIES).items()
        }
        for kind, facts in _map(at, given, 2).items()
    }


# Values


def _map(at: str, given: Any, most: int, longest: int = _LONGEST_NAME) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        _refuse(at, "an object", given)
    if len(given) > most:
        _refuse(at, f"an object of at most {most} fields", len(given))
    for name in given:
        if not 0 < len(name) <= longest:
            _refuse(f"a name in {at}", f"1 to {longest} characters", name)
    return given


def _each(at: str, given: Any, most: int, make: Callable[[str, Any], V]) -> tuple[V, ...]:
    if not isinstance(given, list):
        _refuse(at, "a list", given)
    if len(given) > most:
        _refuse(at, f"a list of at most {most:,}", len(given))
    return tuple(make(f"{at}[{index}]", item) for index, item in enumerate(given))


def _texts(at: str, given: Any, most: int, longest: int) -> tuple[str, ...]:
    return _each(at, [] if given is None else given, most, lambda where, item: _text(where, item, longest))


def _text(at: str, given: Any, longest: int) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= longest:
        _refuse(at, f"a text of 1 to {longest} characters", given)
    return given


def _line(at: str, given: Any, most: int) -> str | None:
    """A text for people, cut and without credentials. It may be missing."""
    if given is None:
        return None
    if not isinstance(given, str):
        _refuse(at, "a text", given)
    return shortened(redaction.opening(given, most), most)


def _number(at: str, given: Any, least: int, most: int) -> int:
    if type(given) is not int or not least <= given <= most:
        _refuse(at, f"a whole number from {least} to {most:,}", given)
    return given
