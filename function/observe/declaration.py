"""What an InferenceCluster declares of its pools: read from the ConfigMap that the control plane writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import dig, dig_list, redaction, visible
from function.observe import reading
from function.observe.records import Fact, NodeTaint
from function.vocabulary import names
from function.vocabulary.observation import DECLARED_KEY, VERSION

_MOST_POOLS = 64
_MOST_ENTRIES = 64
_MOST_DEVICES = 1024
_MOST_TAINTS = 64
_MOST_CHARACTERS = 1024 * 1024
_LONGEST = 64
"""Characters of a value that is told."""


class MalformedDeclaration(ValueError):
    """A declaration that cannot be used, with what is wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A device of a class: `count` devices of a driver on each node, with these facts."""

    name: str
    driver: str
    count: int
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    name: str
    entries: tuple[Entry, ...] = ()
    """Entries that pods claim. Synthetic ones are published by no driver."""
    taints: tuple[NodeTaint, ...] = ()
    """Taints that pods of replicas tolerate."""


@dataclass(frozen=True, slots=True)
class Declaration:
    cluster: str
    pools: Mapping[str, Pool] = field(default_factory=dict)
    hash: str = ""
    """Identifies the declared pools (names.content_hash)."""
    termination_messages: bool = False
    """Whether texts that containers wrote may be told."""


def read(config_map: Any) -> Declaration:
    """The declaration in a ConfigMap.

    Raises: MalformedDeclaration.
    """
    text = dig(config_map, "data", DECLARED_KEY)
    if not isinstance(text, str):
        raise MalformedDeclaration(f"data has no {DECLARED_KEY}")
    if len(text) > _MOST_CHARACTERS:
        raise MalformedDeclaration(f"{DECLARED_KEY} has {len(text):,} characters, and {_MOST_CHARACTERS:,} is the most")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedDeclaration(f"{DECLARED_KEY} is not JSON: {error}") from None
    return of(given)


def of(given: Any) -> Declaration:
    """The declaration in a JSON value.

    Raises: MalformedDeclaration.
    """
    version, cluster, pools = dig(given, "version"), reading.name_of(dig(given, "cluster")), dig(given, "pools")
    if version != VERSION:
        raise MalformedDeclaration(f"version must be {VERSION}, not {redaction.excerpt(str(version), _LONGEST)}")
    if not cluster:
        raise MalformedDeclaration("cluster must be the name of an InferenceCluster")
    if not isinstance(pools, Mapping) or len(pools) > _MOST_POOLS or not all(map(reading.name_of, pools)):
        raise MalformedDeclaration(f"pools must be a map of at most {_MOST_POOLS} pools by their names")
    return Declaration(
        cluster=cluster,
        pools={str(name): _pool(str(name), pool) for name, pool in sorted(pools.items())},
        hash=names.content_hash(pools),
        termination_messages=dig(given, "terminationMessages") is True,
    )


def _pool(name: str, given: Any) -> Pool:
    devices = dig(given, "devices")
    if not isinstance(devices, list) or len(devices) > _MOST_ENTRIES:
        raise MalformedDeclaration(f"pools.{name}.devices must be a list of at most {_MOST_ENTRIES} devices")
    return Pool(
        name,
        tuple(_entries(devices, f"pools.{name}.devices")),
        tuple(_taints(dig_list(given, "taints")[:_MOST_TAINTS])),
    )


def _entries(devices: Iterable[Any], at: str) -> Iterator[Entry]:
    for index, device in enumerate(devices):
        name, driver = (reading.name_of(dig(device, field)) for field in ("name", "driver"))
        count = dig(device, "count")
        if not (name and driver):
            raise MalformedDeclaration(f"{at}[{index}] must have a name and a driver")
        if type(count) is not int or not 0 < count <= _MOST_DEVICES:
            raise MalformedDeclaration(f"{at}[{index}].count must be a number from 1 to {_MOST_DEVICES}")
        if dig(device, "claim") != "Synthetic":
            yield Entry(name, driver, count, reading.facts(device, driver))


def _taints(given: Iterable[Any]) -> Iterator[NodeTaint]:
    for taint in given:
        key, value, effect = (dig(taint, field_) or "" for field_ in ("key", "value", "effect"))
        yield NodeTaint(_shown(key), _shown(value), _shown(effect))


def _shown(given: Any) -> str:
    return visible(str(given)[:_LONGEST])
