"""Reads: what a selector takes from a device, where in the text, and with which values it compares it.

A read is *certain* if the selector cannot match without it: not in an alternative, such as `||`, `?:` or a loop, and
not where the selector tests first whether the value is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from function.cel.language.limits import REFERENCED_TEXTS
from function.cel.language.syntax.parser import parse
from function.cel.language.syntax.tree import Call, Fold, Ident, ListLiteral, Literal, Node, Select, below, parts

_MAPS = ("attributes", "capacity")
_INDEX, _ALTERNATIVES = "_[_]", ("_||_", "_?_:_", "!_")
_EQUAL, _IN = "_==_", "@in"


@dataclass(frozen=True, slots=True)
class Word:
    """A name or a value, with its place in the text."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Read:
    """`device.attributes["domain"].name`, the same of `capacity`, or `device.driver` with neither domain nor name."""

    where: str
    """attributes, capacity or driver."""
    domain: Word | None
    name: Word | None
    values: tuple[Word, ...] = ()
    """The strings of which it must be one; none if it is not compared with strings alone."""
    is_certain: bool = True

    @property
    def path(self) -> tuple[str, str, str]:
        return self.where, self.domain.text if self.domain else "", self.name.text if self.name else ""


@lru_cache(maxsize=REFERENCED_TEXTS)
def reads(text: str) -> tuple[Read, ...]:
    """Return what a selector reads, in the order of the text; of two equal reads at one place, the compared one.

    Raises: Fault where the text does not parse.
    """
    root = parse(text)
    tested = {path for node in below(root) if (path := _tested(node))}
    found: dict[tuple[int, tuple[str, str, str]], Read] = {}
    for read in _reads(root):
        if read.path not in tested:
            found.setdefault((read.name.at if read.name else -1, read.path), read)
    return tuple(found.values())


def _reads(root: Node) -> Iterator[Read]:
    """Yield the reads of a tree, from the outside in."""
    waiting = [(root, True)]
    while waiting:
        node, is_certain = waiting.pop()
        if (found := _compared(node)) is not None:
            yield replace(found, is_certain=is_certain)
        elif (found := _read(node)) is not None:
            yield replace(found, is_certain=is_certain)
            continue
        inside = is_certain and not _is_alternative(node)
        waiting.extend((part, inside) for part in reversed([*parts(node)]))


def _is_alternative(node: Node) -> bool:
    return isinstance(node, Fold) or (isinstance(node, Call) and node.function in _ALTERNATIVES)


def _compared(node: Node) -> Read | None:
    """Return a read that must be equal to one of some strings."""
    match node:
        case Call(function=f, args=[one, Literal(value=str())] | [Literal(value=str()), one]) if f == _EQUAL:
            literal = next(arg for arg in node.args if isinstance(arg, Literal))
            values: tuple[Word, ...] = (Word(str(literal.value), literal.at),)
        case Call(function=f, args=[one, ListLiteral(items=items)]) if f == _IN and all(map(_is_text, items)):
            values = tuple(Word(str(item.value), item.at) for item in items if isinstance(item, Literal))
        case _:
            return None
    read = _read(one)
    return read and Read(read.where, read.domain, read.name, values)


def _is_text(node: Node) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, str)


def _read(node: Any) -> Read | None:
    match node:
        case Select(operand=Ident(name="device"), field="driver", is_test=False):
            return Read("driver", None, None)
        case Select(operand=inner, field=name, is_test=False) if (found := _domain(inner)) is not None:
            return Read(found[0], found[1], Word(name, node.at))
        case Call(function=f, args=[inner, Literal(value=str(name), at=at)]) if (
            f == _INDEX and (found := _domain(inner)) is not None
        ):
            return Read(found[0], found[1], Word(name, at))
    return None


def _domain(node: Any) -> tuple[str, Word] | None:
    match node:
        case Call(
            function=f, args=[Select(operand=Ident(name="device"), field=where), Literal(value=str(name), at=at)]
        ):
            return (where, Word(name, at)) if f == _INDEX and where in _MAPS else None
        case Select(operand=Select(operand=Ident(name="device"), field=where), field=name) if where in _MAPS:
            return where, Word(name, node.at)
    return None


def _tested(node: Any) -> tuple[str, str, str] | None:
    """Return the path that a node tests: `has(device.attributes["domain"].name)`, or `"name" in …`."""
    match node:
        case Select(operand=inner, field=name, is_test=True) if (found := _domain(inner)) is not None:
            return found[0], found[1].text, name
        case Call(function=f, args=[Literal(value=str(name)), inner]) if (
            f == _IN and (found := _domain(inner)) is not None
        ):
            return found[0], found[1].text, name
    return None
