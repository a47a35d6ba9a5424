"""Finds the entry of a class that describes a published device, and the facts in which both differ.

Terms:

- An *entry* is a device of a class: so many devices of a driver on each node, with declared facts.
- A *look* of a device is what it publishes of the facts that an entry of its driver declares. Devices with the same
  look are alike for a class: their other facts, such as a UUID, are not compared.
- A *difference* is a declared fact that a look lacks, or has with another value.

Phases for one node (`matched`):

1. Group the node's devices by their looks.
2. Give each look without differences to its entry.
3. Give each other look to the entry with the fewest differences that still lacks devices. A look that finds no such
   entry is unknown: partitions of a GPU that are published beside it, or devices that the class does not mention.

Coarse on purpose: a look is given to one entry as a whole, so a count can exceed what is declared. It then tells the
number that the node really has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from function.observe import amounts
from function.observe.declaration import Entry
from function.observe.records import Device, Fact

Look = tuple[Fact | None, ...]
"""A device's facts in the order of `Class.asked`; None for a fact that it does not publish."""


class Difference(NamedTuple):
    """A declared fact, and what is published instead; None if the fact is missing."""

    declared: Fact
    published: Fact | None


@dataclass(slots=True)
class Matched:
    """The devices of one node."""

    by_entry: dict[str, list[Device]] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)
    """The look of most devices of each entry that has differences."""
    unknown: list[tuple[str, str, int]] = field(default_factory=list)
    """Driver, name of one device, and number of devices that no entry describes."""


class Class:
    """The entries of a pool, with what is compared already."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.asked: Mapping[str, tuple[tuple[str, str], ...]] = {
            driver: tuple(sorted({fact[:2] for entry in entries if entry.driver == driver for fact in entry.facts}))
            for driver in {entry.driver for entry in entries}
        }
        """Kind and name of each fact that entries of a driver declare."""
        self._differences: dict[tuple[int, Look], tuple[Difference, ...]] = {}

    def look(self, driver: str, facts: Iterable[Fact]) -> Look:
        known = {fact[:2]: fact for fact in facts}
        return tuple(known.get(asked) for asked in self.asked.get(driver, ()))

    def differences(self, entry: int, look: Look) -> tuple[Difference, ...]:
        """The declared facts of an entry in which a look differs."""
        found = self._differences.get((entry, look))
        if found is None:
            found = self._differences[entry, look] = tuple(self._compared(self.entries[entry], look))
        return found

    def _compared(self, entry: Entry, look: Look) -> Iterable[Difference]:
        published = dict(zip(self.asked[entry.driver], look, strict=True))
        for fact in entry.facts:
            other = published[fact[:2]]
            if other is None or not is_equal(fact, other):
                yield Difference(fact, other)


def is_equal(one: Fact, other: Fact) -> bool:
    """Whether two facts of one name have the same type and value. Quantities are compared by their amount."""
    if one.type != other.type:
        return False
    return one.value == other.value or (
        one.kind == "capacity" and amounts.exact(one.value) == amounts.exact(other.value)
    )


def matched(class_: Class, devices: Iterable[tuple[Device, Look]]) -> Matched:
    """Give the devices of a node to the entries of its class. `devices` are in the order of their names."""
    groups: dict[tuple[str, Look], list[Device]] = {}
    for device, look in devices:
        groups.setdefault((device.driver, look), []).append(device)
    node, count = Matched(), Counter[str]()
    inexact: list[tuple[int, int, str, Look]] = []
    for (driver, look), group in groups.items():
        choices = sorted(_choices(class_, driver, look))
        if choices and choices[0][0] == 0:
            _give(node, count, class_.entries[choices[0][1]].name, group)
        else:
            inexact.append((*(choices[0] if choices else (0, 0)), driver, look))
    for _, _, driver, look in sorted(inexact, key=lambda one: one[:3]):
        group = groups[driver, look]
        lacking = (i for _, i in sorted(_choices(class_, driver, look)) if _lacks(class_.entries[i], count))
        entry = next(lacking, None)
        if entry is None:
            node.unknown.append((driver, group[0].name, len(group)))
        else:
            name = class_.entries[entry].name
            node.looks.setdefault(name, look)
            _give(node, count, name, group)
    return node


def _choices(class_: Class, driver: str, look: Look) -> Iterable[tuple[int, int]]:
    """Each entry of the driver: the number of differences, and its index."""
    for index, entry in enumerate(class_.entries):
        if entry.driver == driver:
            yield len(class_.differences(index, look)), index


def _lacks(entry: Entry, count: Counter[str]) -> bool:
    return count[entry.name] < entry.count


def _give(node: Matched, count: Counter[str], entry: str, group: Sequence[Device]) -> None:
    node.by_entry.setdefault(entry, []).extend(group)
    count[entry] += len(group)
