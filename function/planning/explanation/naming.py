"""Finds the object that a person means: `KIND/NAMESPACE/NAME`, `KIND/NAME`, `NAMESPACE/NAME`, or `NAME` alone.

A kind may be written as kubectl takes it: kind, plural, short name, with or without its group, in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from function.core import closest, controller, enumerate_names
from function.publish import catalog
from function.publish.catalog import Kind
from function.sandbox.store import Ref, Store

_MOST_PARTS = 3
_MOST_NAMED = 8


class Unclear(Exception):
    """The text names no object, or several. The message says which."""


class InvalidName(Unclear):
    """The text has the wrong form, or its kind does not exist."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a text may mean, before any object is known."""

    text: str
    kind: Kind | None
    namespace: str | None
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind.kind} {name}" if self.kind else name


def read(text: str) -> tuple[Named, ...]:
    """Return the readings of a text, the likeliest first. Raises InvalidName."""
    parts = text.split("/")
    if not all(parts) or len(parts) > _MOST_PARTS:
        raise InvalidName(
            f"{text or 'empty name'}: use KIND/NAMESPACE/NAME, such as ModelDeployment/ml-team/qwen, or NAME alone"
        )
    if len(parts) == 1:
        return (Named(text, None, None, text),)
    if len(parts) == _MOST_PARTS:
        return (Named(text, _kind(parts[0]), parts[1], parts[2]),)
    with_namespace = Named(text, None, *parts)
    kind = _words().get(parts[0].lower())
    return (Named(text, kind, None, parts[1]), with_namespace) if kind else (with_namespace,)


def find(store: Store, readings: tuple[Named, ...]) -> Ref:
    """Return the object of a store that one of the readings means. Raises Unclear.

    An object that another one composed is passed over where one matches that a person wrote.
    """
    for reading in readings:
        found = list(_matching(store, reading))
        written = [ref for ref in found if controller((store.get(ref) or {})["metadata"]) is None]
        if len(written or found) == 1:
            return (written or found)[0]
        if found:
            raise Unclear(f"{reading.text}: several objects match: {enumerate_names(_told(written or found))}")
    raise Unclear(_unknown(store, readings[0]))


def told(ref: Ref) -> str:
    """The name of an object in full."""
    return "/".join(part for part in ref[1:] if part)


def _told(refs: list[Ref]) -> list[str]:
    return [told(ref) for ref in refs]


def _matching(store: Store, reading: Named) -> Iterator[Ref]:
    for kind in (reading.kind,) if reading.kind else catalog.KINDS:
        for ref in store.refs(kind.api_version, kind.kind):
            if ref.name == reading.name and reading.namespace in (None, ref.namespace):
                yield ref


def _unknown(store: Store, reading: Named) -> str:
    kinds = (reading.kind,) if reading.kind else catalog.KINDS
    there = [ref for kind in kinds for ref in store.refs(kind.api_version, kind.kind)]
    first = reading.namespace
    if first and reading.kind is None and first not in {ref.namespace for ref in there}:
        kind = closest(first, [known.kind for known in catalog.KINDS])
        hint = f"; did you mean {kind}/{reading.name}?" if kind else ""
        return f"{reading.text}: {first} is neither a kind nor a namespace of the input{hint}"
    known = {(f"{ref.namespace}/{ref.name}" if reading.namespace else ref.name): ref for ref in reversed(there)}
    meant = closest(f"{reading.namespace}/{reading.name}" if reading.namespace else reading.name, known)
    hint = f"did you mean {told(known[meant])}?" if meant else f"known: {enumerate_names(sorted(known), _MOST_NAMED)}"
    return f"{reading} not found; {hint if known else 'there is no such object'}"


def _kind(word: str) -> Kind:
    found = _words().get(word.lower())
    if found is None:
        kinds = {kind.kind: kind for kind in catalog.KINDS}
        meant = closest(word, [*kinds, *_words()])
        hint = f"did you mean {_words()[meant.lower()].kind}?" if meant else f"known: {', '.join(sorted(kinds))}"
        raise InvalidName(f"unknown kind {word}; {hint}")
    return found


@cache
def _words() -> dict[str, Kind]:
    """Each kind by every word for it, in lower case."""
    found: dict[str, Kind] = {}
    for kind in catalog.KINDS:
        for word in (kind.kind, kind.plural, *kind.short_names):
            found[word.lower()] = found[f"{word.lower()}.{kind.group}"] = kind
    return found
