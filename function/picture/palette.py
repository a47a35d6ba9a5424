"""The colours and numbers of deployments.

A deployment's colour comes from its name. Two deployments that would get the same one get neighbours, as long as there
are colours left, so that the same fleet always looks the same. A number beside each colour tells them apart without
seeing colours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

COLOURS = 8
"""Colours of style.css: `--d0` and so on."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How a deployment is marked."""

    number: int
    colour: int


def marks(deployments: Iterable[str]) -> dict[str, Mark]:
    """The marks of deployments, numbered in order of their names."""
    used: list[int] = [0] * COLOURS
    found: dict[str, Mark] = {}
    for number, name in enumerate(sorted(set(deployments)), 1):
        own = int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:4], "big") % COLOURS
        colour = min(range(COLOURS), key=lambda one: (used[one], (one - own) % COLOURS))
        used[colour] += 1
        found[name] = Mark(number, colour)
    return found
