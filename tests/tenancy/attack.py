"""What an attack is: objects that a tenant writes in its own namespace, and what must become of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from function.core import Manifest

HARMLESS = ""
"""In place of a field: the objects are accepted, and reach nothing that is not the attacker's."""


@dataclass(frozen=True, slots=True)
class Attack:
    group: str
    what: str
    objects: tuple[Manifest, ...]
    refused: str
    """What the refusal of the first object says: the field, and possibly more. HARMLESS if it is accepted."""

    def __str__(self) -> str:
        return f"{self.group}: {self.what}"


def attacks(group: str, table: Mapping[str, tuple[Manifest | Iterable[Manifest], str]]) -> tuple[Attack, ...]:
    """The attacks of a group: by what is tried, the objects, and the field that is refused, or HARMLESS."""
    return tuple(
        Attack(group, what, (made,) if isinstance(made, Mapping) else tuple(made), refused)
        for what, (made, refused) in table.items()
    )
