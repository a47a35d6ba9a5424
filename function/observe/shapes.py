"""Finds the shapes of nodes: which kinds of devices they have, and how many of each.

Terms:

- A *kind* of devices is those of one driver that are alike for a selector: the same product, type, profile and
  capacities. Facts of single devices, such as a UUID or a PCI address, do not count.
- A *shape* is what nodes have in common: the number of devices of each kind, and about the same cpu and memory.

Phases (`shapes`):

1. Sort the devices of each node into kinds (`_key`).
2. Group the nodes with the same kinds and counts, and split each group where cpu or memory grow by more than a tenth.
3. Keep the facts of a kind that are equal on all devices of the shape. The others are left out, and named.

Which facts are those of single devices is known by their names (`_INDIVIDUAL`), because a cluster with one device of a
kind does not show it. A name that is not known costs little: its value varies, so phase 3 leaves it out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from function.observe.amounts import Amounts
from function.observe.inventory import Place
from function.observe.records import Fact
from function.vocabulary import names

_INDIVIDUAL = re.compile(
    r"uuid|guid|serial|index|minor|^id$|mac$|address|busid|pcieroot|numa|ifname|interfacename|ipv[46]|parent|hostname|slice\d",
    re.IGNORECASE,
)
"""Names of facts of single devices, without their domain. Sources: attributes of gpu.nvidia.com (dra-driver-nvidia-gpu
v0.4.1), gpu.amd.com (k8s-gpu-dra-driver v1.0.0), dra.net (dranet v1.4.0), and resource.kubernetes.io."""
_DEFINING = re.compile(
    r"^(type|kind|profile|product\w*|model\w*|family|architecture|brand|vendor\w*|rdma)$", re.IGNORECASE
)
"""Names of attributes that tell kinds apart. Capacities always do."""
_TYPES = ("type", "kind")
_PARTITION = "mig"
_WORDS = ("productName", "product", "model")
_TOLERANCE = 10
"""Percent by which the cpu and memory of nodes of one shape differ at most."""
_NAMES: Mapping[str, str] = {"gpu.nvidia.com": "gpu", "gpu.amd.com": "gpu", "dra.net": "nic"}
"""Names of devices whose driver publishes no type."""
_LONGEST_WORD = 24

_Key = tuple[str, tuple[Fact, ...]]
"""A driver, and the facts that tell its kinds apart."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of devices on the nodes of a shape."""

    name: str
    driver: str
    count: int
    facts: tuple[Fact, ...]
    """Equal on all of its devices."""
    varying: tuple[str, ...]
    """Facts that differ between its devices, though they are not known to be those of single devices."""
    sample: tuple[Fact, ...]
    """All facts of one device."""

    @property
    def is_partition(self) -> bool:
        """Whether its devices are parts of GPUs (MIG)."""
        return any(_bare(fact) in _TYPES and fact.value == _PARTITION for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    kinds: tuple[Kind, ...]
    nodes: tuple[str, ...]
    room: Amounts
    """What each of the nodes has for pods, after those of DaemonSets."""


def shapes(places: Iterable[Place]) -> list[Shape]:
    """The shapes of the nodes with devices, the most frequent one first."""
    groups: dict[tuple[tuple[_Key, int], ...], list[Place]] = defaultdict(list)
    for place in places:
        if place.devices:
            groups[_kinds(place)].append(place)
    found = [
        _shape(alike, [key for key, _ in kinds])
        for kinds, members in sorted(groups.items(), key=repr)
        for alike in _split(members)
    ]
    found.sort(key=lambda shape: (-len(shape.nodes), shape.name, shape.nodes))
    return [_renamed(shape, name) for shape, name in zip(found, _distinct([s.name for s in found]), strict=True)]


def _kinds(place: Place) -> tuple[tuple[_Key, int], ...]:
    """The kinds of a node's devices, each with its number."""
    counts: dict[_Key, int] = defaultdict(int)
    for device, facts in place.devices:
        counts[_key(device.driver, facts)] += 1
    return tuple(sorted(counts.items(), key=repr))


def _key(driver: str, facts: Iterable[Fact]) -> _Key:
    return driver, tuple(fact for fact in facts if not is_individual(fact) and _defines(fact))


def is_individual(fact: Fact) -> bool:
    return bool(_INDIVIDUAL.search(_bare(fact)))


def _defines(fact: Fact) -> bool:
    return fact.kind == "capacity" or bool(_DEFINING.match(_bare(fact)))


def _bare(fact: Fact) -> str:
    return fact.name.rpartition("/")[2]


def _split(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Nodes with about the same cpu and memory."""
    rest = sorted(places, key=lambda place: (place.node.allocatable, place.node.name))
    while rest:
        first = rest[0].node.allocatable
        alike = [place for place in rest if _is_near(first, place.node.allocatable)]
        yield alike
        rest = [place for place in rest if not _is_near(first, place.node.allocatable)]


def _is_near(one: Amounts, other: Amounts) -> bool:
    return all(abs(a - b) * 100 <= _TOLERANCE * max(a, b) for a, b in zip(one[:2], other[:2], strict=True))


def _shape(places: Sequence[Place], keys: Sequence[_Key]) -> Shape:
    devices: dict[_Key, list[tuple[Fact, ...]]] = defaultdict(list)
    for place in places:
        for device, facts in place.devices:
            devices[_key(device.driver, facts)].append(facts)
    words = _distinct([_kind_name(driver, facts) for driver, facts in keys], [_word(facts) for _, facts in keys])
    kinds = [
        _kind(word, key[0], len(devices[key]) // len(places), devices[key])
        for word, key in zip(words, keys, strict=True)
    ]
    room = _least(place.node.allocatable for place in places).less(_most(place.daemons for place in places))
    return Shape(
        name="-".join(f"{_word(kind.facts) or kind.name}-{kind.count}x" for kind in kinds[:2]),
        kinds=tuple(sorted(kinds, key=lambda kind: kind.name)),
        nodes=tuple(sorted(place.node.name for place in places)),
        room=room,
    )


def _kind(name: str, driver: str, count: int, devices: Sequence[tuple[Fact, ...]]) -> Kind:
    common = set(devices[0]).intersection(*devices[1:])
    every = {fact for facts in devices for fact in facts}
    varying = {fact.label for fact in every - common if not is_individual(fact)}
    facts = tuple(fact for fact in devices[0] if fact in common and not is_individual(fact))
    return Kind(name, driver, count, facts, tuple(sorted(varying)), devices[0])


def _least(amounts: Iterable[Amounts]) -> Amounts:
    first, *others = amounts
    for other in others:
        first = first.least(other)
    return first


def _most(amounts: Iterable[Amounts]) -> Amounts:
    total = Amounts()
    for other in amounts:
        total = total.most(other)
    return total


# Names


def _kind_name(driver: str, facts: Sequence[Fact]) -> str:
    """`gpu` as the driver calls it, `mig-1g-5gb` with a profile, `nic`, or the first word of the driver's name."""
    texts = _texts(facts)
    type_ = next((texts[word] for word in _TYPES if texts.get(word)), "")
    return _slug(f"{type_ or _NAMES.get(driver) or driver.partition('.')[0]} {texts.get('profile', '')}") or "device"


def _word(facts: Iterable[Fact]) -> str:
    """The product of a device, such as `nvidia-h100-80gb-hbm3`, with the profile of a partition."""
    texts = _texts(facts)
    product = _slug(next((texts[word] for word in _WORDS if texts.get(word)), ""))
    return "-".join(filter(None, (product, _slug(texts.get("profile", "")).removeprefix("x"))))


def _texts(facts: Iterable[Fact]) -> Mapping[str, str]:
    return {_bare(fact): str(fact.value) for fact in facts if fact.kind == "attribute"}


def _slug(text: str) -> str:
    dashed = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    return (
        dashed[:_LONGEST_WORD].rstrip("-") if dashed[:1].isalpha() else (f"x{dashed}"[:_LONGEST_WORD] if dashed else "")
    )


def _distinct(wanted: Sequence[str], more: Sequence[str] = ()) -> list[str]:
    """Names without repetitions: with the second word where there is one, and else with a number."""
    told = [
        f"{name}-{word}" if wanted.count(name) > 1 and word else name
        for name, word in zip(wanted, more or [""] * len(wanted), strict=True)
    ]
    return [
        f"{name}-{told[:index].count(name) + 1}" if told[:index].count(name) else name
        for index, name in enumerate(told)
    ]


def _renamed(shape: Shape, name: str) -> Shape:
    return Shape(_label(name), shape.kinds, shape.nodes, shape.room)


def _label(name: str) -> str:
    return name if len(name) <= names.DNS_LABEL else names.derived(name, name)
