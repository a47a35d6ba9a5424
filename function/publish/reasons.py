"""What the conditions of each kind can say, for the reference: read from the code that says it."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from function import registry
from function.core import Reason
from function.core.condition import undecided
from function.publish.catalog import Kind
from function.vocabulary import conditions as declarations

_ALL = {name: value for name, value in vars(declarations).items() if isinstance(value, Reason)}


def of(kind: Kind) -> list[Reason]:
    """Every reason that a kind's conditions can carry, by condition, in the order of their declaration."""
    composer = registry.COMPOSERS.get((kind.api_version, kind.kind))
    conditions = composer.conditions if composer else ()
    declared = [condition.type for condition in conditions]
    named = set(_names(kind))
    said = [reason for name, reason in _ALL.items() if name in named and reason.type in declared]
    waiting = [undecided(condition) for condition in conditions if len(conditions) > 1]
    return sorted([*said, *waiting], key=lambda reason: declared.index(reason.type))


def _names(kind: Kind) -> Iterator[str]:
    """The names that stand in a kind's code. Two kinds share a condition, and each says reasons of its own."""
    folder = Path(importlib.import_module(kind.code).__path__[0])
    model = Path(inspect.getfile(kind.spec))
    for path in (model, *sorted(folder.glob("*.py"))):
        yield from re.findall(r"\b[A-Z][A-Z_]+\b", path.read_text(encoding="utf-8"))
