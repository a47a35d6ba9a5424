"""All attacks, by group. A new attack is one line in the table of its group."""

from __future__ import annotations

from tests.tenancy.attack import Attack
from tests.tenancy.attacks import caches, crossplane, endpoints, labels, names, pods, references

ATTACKS: tuple[Attack, ...] = tuple(
    attack for group in (names, labels, endpoints, caches, crossplane, references, pods) for attack in group.ATTACKS
)
GROUPS = frozenset(attack.group for attack in ATTACKS)
