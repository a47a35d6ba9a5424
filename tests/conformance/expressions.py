"""Expressions at random: most of them well typed, some on purpose not.

An expression is a tree of templates, so that one that shows a difference can be made smaller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.conformance.grammar import ANY, LEAVES, MADE, TEMPLATES

DEEPEST = 5
_STRAY = 0.04
"""How often a hole is filled with some other sort."""
_MADE_UP = 0.4
_HOLE = re.compile(r"\{(\w+)(?:@([\w,]+))?\}")
_ATOM = re.compile(r"[\w.\"\[\]]+")


@dataclass(frozen=True, slots=True)
class Tree:
    """A template, and what fills its holes."""

    template: str
    parts: tuple[Tree, ...] = ()
    sort: str = field(default="bool", compare=False)

    def __str__(self) -> str:
        parts = iter(self.parts)
        if not self.parts:
            return self.template
        return _HOLE.sub(lambda hole: _wrapped(self.template, hole, str(next(parts))), self.template)

    def smaller(self) -> Iterator[Tree]:
        """What may be tried in its place: a part of it, a leaf, or itself with one part smaller."""
        yield from self.parts
        if self.parts:
            yield from (Tree(leaf, (), self.sort) for leaf in LEAVES.get(self.sort, ("true",))[:2])
        for at, part in enumerate(self.parts):
            for less in part.smaller():
                yield Tree(self.template, (*self.parts[:at], less, *self.parts[at + 1 :]), self.sort)


def _wrapped(template: str, hole: re.Match[str], text: str) -> str:
    """In parentheses where an operator stands beside it."""
    before, after = template[: hole.start()], template[hole.end() :]
    inside = before.endswith(("(", "[", ", ", ": ", "? ")) or before == ""
    alone = inside and (after == "" or after.startswith((")", "]", ",", "}", " :", ":")))
    return text if alone or _ATOM.fullmatch(text) else f"({text})"


def expression(random: Random, sort: str = "bool", depth: int = DEEPEST, scope: tuple[str, ...] = ()) -> Tree:
    """An expression of a sort, no deeper than `depth` templates."""
    if sort == "name":
        return _leaf(random, sort)
    if sort == "any" or random.random() < _STRAY:
        sort = random.choice(ANY)
    if scope and random.random() < 0.3:
        return Tree(random.choice(scope), (), sort)
    if depth <= 0 or sort not in TEMPLATES or random.random() < 0.12:
        return _leaf(random, sort)
    template = random.choice(TEMPLATES[sort])
    parts = (_filled(random, hole, depth, scope) for hole in _HOLE.finditer(template))
    return Tree(template, tuple(parts), sort)


def _leaf(random: Random, sort: str) -> Tree:
    """One that is given, or one that is made up."""
    make = MADE.get(sort)
    text = make(random) if make is not None and random.random() < _MADE_UP else random.choice(LEAVES[sort])
    return Tree(text, (), sort)


def _filled(random: Random, hole: re.Match[str], depth: int, scope: tuple[str, ...]) -> Tree:
    seen = scope + tuple(hole[2].split(",") if hole[2] else ())
    return expression(random, hole[1], depth - random.choice((1, 1, 2)), seen)


def device(random: Random) -> dict[str, Any]:
    """A device as ResourceSlices publish it; now and then one that is faulty."""
    attributes: dict[str, Any] = {
        "model": {"string": random.choice(("H100", "NVIDIA A100", "", "é€", "a"))},
        "arch": {"string": random.choice(("Hopper", "Ada"))},
        "empty": {"string": ""},
        "n": {"int": random.choice((0, 1, 7))},
        "cores": {"int": random.choice((16896, -(2**63), 2**63 - 1))},
        "neg": {"int": -7},
        "ecc": {"bool": random.random() < 0.5},
        "mig": {"bool": False},
        "cc": {"version": random.choice(("9.0.0", "8.9.0", "1.2.3"))},
        "dv": {"version": random.choice(("550.54.15-rc.1+b", "550.54.15", *_faulty(random)))},
        "x.example.com/fam": {"string": "a"},
        "gpu.nvidia.com/model": {"string": "H100"},
        "a/b": {"int": 1},
    }
    amounts = {
        "memory": random.choice(("80Gi", "40Gi", "23034Mi")),
        "half": "500m",
        "frac": "1.5Gi",
        "huge": random.choice(("1e30", "16Ei", "9223372036854775807")),
        "neg": "-3",
        "x.example.com/slots": "7",
    }
    kept = {name: value for name, value in attributes.items() if random.random() < 0.85}
    if "model" in kept:
        kept.pop("gpu.nvidia.com/model", None)
    return {
        "driver": random.choice(("gpu.nvidia.com", "gpu.nvidia.com", "gpu.nvidia.com", "x.example.com")),
        "attributes": kept,
        "capacity": {name: {"value": amount} for name, amount in amounts.items() if random.random() < 0.95},
        **({"allowMultipleAllocations": random.random() < 0.5} if random.random() < 0.5 else {}),
    }


def _faulty(random: Random) -> tuple[str, ...]:
    """Seldom a version that is none, which fails the device."""
    return ("1.0",) if random.random() < 0.05 else ("1.0.0",)


def described(expression: str, device: dict[str, Any]) -> str:
    return f"{expression}\n  on {json.dumps(device)}"
