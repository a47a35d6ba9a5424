"""Amounts of cpu, memory and ephemeral storage, as whole numbers that add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from function import cel, podspec
from function.vocabulary.observation import MOST_AMOUNT

_MILLI = 1000
_LONGEST = 64
"""Characters of an amount. A longer text is no amount of a node or a pod."""
_LARGEST_SCALE = 30
"""Digits that are computed with. The suffixes of Kubernetes need 18."""
_BINARY = (("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10))


class Amounts(NamedTuple):
    """Amounts of one node or pod: thousandths of a cpu, and bytes."""

    cpu: int = 0
    memory: int = 0
    storage: int = 0

    def plus(self, other: Amounts) -> Amounts:
        return Amounts(self.cpu + other.cpu, self.memory + other.memory, self.storage + other.storage)

    def less(self, other: Amounts) -> Amounts:
        """The difference, and nothing where it is negative."""
        return Amounts(*(max(0, one - two) for one, two in zip(self, other, strict=True)))

    def least(self, other: Amounts) -> Amounts:
        return Amounts(*map(min, self, other))

    def most(self, other: Amounts) -> Amounts:
        return Amounts(*map(max, self, other))

    def texts(self) -> dict[str, str]:
        """The amounts as quantities, by the names of Kubernetes."""
        cpu, memory, storage = (min(amount, MOST_AMOUNT) for amount in self)
        return {"cpu": _cpu(cpu), "memory": _bytes(memory), "ephemeral-storage": _bytes(storage)}


NOTHING = Amounts()


def read(resources: Any) -> Amounts:
    """The amounts in a list of resources, such as `allocatable`. What cannot be read counts as nothing."""
    given = resources if isinstance(resources, Mapping) else {}
    return _bounded(_quantity(name, str(given.get(name, ""))[: _LONGEST + 1]) for name in podspec.RESOURCES)


def requested(spec: Mapping[str, Any]) -> Amounts:
    """What a pod requests of its node."""
    return _bounded(podspec.requested(spec))


def _bounded(amounts: Iterable[int]) -> Amounts:
    return Amounts(*(min(amount, MOST_AMOUNT) for amount in amounts))


@lru_cache(maxsize=65_536)  # nodes of a pool have the same amounts
def _quantity(resource: str, text: str) -> int:
    return podspec.quantity(resource, text) or 0 if len(text) <= _LONGEST else 0


def exact(given: Any) -> Fraction | None:
    """The value of a quantity, or None if it is none."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    text = str(given) if isinstance(given, str) or abs(given) < MOST_AMOUNT else ""
    return _exact(text) if 0 < len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)  # nodes of a pool have the same amounts
def _exact(text: str) -> Fraction | None:
    try:
        number = cel.quantity.parse(text.strip())
    except ValueError:
        return None
    decimal = number.decimal
    value, scale = (decimal.unscaled, -decimal.scale) if decimal else (number.value, number.scale)
    return Fraction(value) * Fraction(10) ** scale if abs(scale) <= _LARGEST_SCALE else None


def _cpu(milli: int) -> str:
    return f"{milli}m" if milli % _MILLI else str(milli // _MILLI)


def _bytes(amount: int) -> str:
    for suffix, power in _BINARY:
        if amount and amount % 2**power == 0:
            return f"{amount >> power}{suffix}"
    return str(amount)
