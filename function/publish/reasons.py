"""Find the reasons that each kind's conditions can have, from the kind's code, for the API reference."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from function import clouds, registry
from function.contracts import cloud
from function.core import Reason
from function.core.condition import undecided
from function.publish.catalog import Kind
from function.vocabulary import conditions as declarations

_ALL = {name: value for name, value in vars(declarations).items() if isinstance(value, Reason)}


def of(kind: Kind) -> list[Reason]:
    """Return every reason of a kind's conditions, by condition, in order of declaration."""
    composer = registry.COMPOSERS.get((kind.api_version, kind.kind))
    conditions = (*composer.conditions, *composer.optional) if composer else ()
    declared = [condition.type for condition in conditions]
    named = set(_names(kind))
    own = [reason for name, reason in _ALL.items() if name in named and reason.type in declared]
    waiting = [undecided(condition) for condition in conditions if len(conditions) > 1]
    return sorted([*own, *waiting], key=lambda reason: declared.index(reason.type))


def _names(kind: Kind) -> Iterator[str]:
    """Yield the constants that a kind's code mentions.

    Two kinds share a condition type, and each has its own reasons for it. The kinds of clouds share code, too.
    """
    packages = [importlib.import_module(kind.code)]
    if any(kind.module == model.__name__ for model in clouds.kinds()):
        packages.append(cloud)
    folders = (Path(package.__path__[0]) for package in packages)
    model = Path(inspect.getfile(kind.spec))
    for path in (model, *(path for folder in folders for path in sorted(folder.glob("*.py")))):
        yield from re.findall(r"\b[A-Z][A-Z_]+\b", path.read_text(encoding="utf-8"))
