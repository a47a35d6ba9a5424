"""The Secrets of a request, of which no message repeats a part, whatever its form.

Servers quote what they could not read: a parser a line of a kubeconfig, an API server the value of a field, some of
them in base64, and most of them cut. So a text is compared with the Secrets by runs of a few characters.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from function.core.manifest import Manifest, dig, dig_fields, is_list
from function.core.redaction import NAMED, SENSITIVE, message, uncovered, without
from function.core.request import Request

_LEAST = 7
"""Characters that a text may share with a Secret. Go's YAML reader cuts a value that it quotes to seven."""
_LONGEST = 262_144
"""Characters of a Secret's value that are looked at."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_MOST = 4 * 2**20
"""Characters that are searched. Of more, no text is shown: the index would take too long, and too much memory."""
_BLOCK = 5
_STEP = _LEAST - _BLOCK + 1
"""Any run of _LEAST characters has a whole block that begins at a multiple of it."""
_MOST_SEARCHED = 64 * 2**20
"""Characters of all that is secret that are read for one text in vain. Then the text is hidden as a whole: somebody
wrote it to take long."""
_STRUCTURED = re.compile(r"[\s{}]")
_KEYS = re.compile(r"(?P<lead>(?:data|key|auth)[\"']?\s*[:=]\s*[\"']?)(?P<value>[\w+/=.~-]{7,})", re.IGNORECASE)
"""Further values of kubeconfigs and of credentials of registries and clouds."""
_PEM = re.compile(r"^[A-Za-z0-9+/=]{7,}$", re.MULTILINE)
_MIXED = re.compile(r"(?=[\w+/=~-]*[0-9])(?=[\w+/=~-]*[A-Z])[\w+/=~-]{12,}")


class Parts:
    """All that is secret, in pieces between which is a character that no message has, and an index of it.

    The index has the first place of every block of _BLOCK characters whose place is a multiple of _STEP. Any run of
    _LEAST characters contains such a block. So each run of a text of others is compared with the place of a block that
    both have. Only if it differs there, all that is secret is searched for it: a block can be at several places.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        text = "\0".join(dict.fromkeys(pieces))
        self.is_searchable = len(text) <= _MOST
        self._text = text if self.is_searchable else ""
        places = range(0, len(self._text) - _BLOCK + 1, _STEP)
        self._places = {self._text[place : place + _BLOCK]: place for place in reversed(places)}

    def __bool__(self) -> bool:
        return bool(self._text) or not self.is_searchable

    def hidden_from(self, value: str) -> str:
        """Hide every run of characters that a Secret has as well."""
        if not self:  # most calls have no Secrets
            return value
        if not self.is_searchable:
            return SENSITIVE
        shown: list[str] = []
        end = 0
        try:
            for start, stop in self._shared(value):
                shown += [value[end:start], SENSITIVE] if start > end or not shown else []
                end = stop
        except _TooLong:
            return SENSITIVE
        return "".join(shown) + value[end:]

    def _shared(self, value: str) -> Iterator[tuple[int, int]]:
        """Yield where a run that a Secret has begins and ends, in their order; they may overlap.

        Raises: _TooLong.
        """
        places = [self._places.get(value[at : at + _BLOCK], -1) for at in range(len(value) - _BLOCK + 1)]
        at, left = 0, _MOST_SEARCHED
        while at <= len(value) - _LEAST:
            known = [(offset, place) for offset, place in enumerate(places[at : at + _STEP]) if place >= 0]
            run = value[at : at + _LEAST]
            place = next((p - o for o, p in known if self._text.startswith(run, p - o)), -1) if known else -1
            if known and place < 0:
                place = self._text.find(run)
                left -= 0 if place >= 0 else len(self._text)
                if left < 0:
                    raise _TooLong
            if place < 0:
                at += 1
                continue
            stop = at + _common(value, at, self._text, place)
            yield at, stop
            at = stop - _LEAST + 1  # the runs before it are hidden, and the next one has a character more


class _TooLong(Exception):
    """A text takes too long to compare."""


def _common(one: str, at: int, other: str, place: int) -> int:
    """Return for how many characters two texts are alike from two places on."""
    end = min(len(one) - at, len(other) - place)
    return next((n for n in range(end) if one[at + n] != other[place + n]), end)


class _Known:
    """The secret parts of the Secrets of a request, collected when the first text is quoted."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._parts: Parts | None = None

    @property
    def parts(self) -> Parts:
        if self._parts is None:
            self._parts = Parts(_pieces_of(_secrets(self._request)))
        return self._parts


@contextmanager
def of(request: Request) -> Iterator[None]:
    """Hide parts of a request's Secrets in all that the enclosed code quotes."""
    token = _current.set(_Known(request))
    try:
        yield
    finally:
        _current.reset(token)


_current: ContextVar[_Known | None] = ContextVar("redaction", default=None)


def quoted(value: str) -> str:
    """Return a text of others without credentials, and without parts of the Secrets of the current request."""
    current = _current.get()
    known = current.parts if current is not None and value else Parts(())
    return without_parts(value, known)


def without_parts(value: str, known: Parts) -> str:
    """Return a text of others without credentials, and without what is known to be secret."""
    return uncovered(value, lambda text: known.hidden_from(message(text)))


def without_secrets(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return objects whose statuses tell no credentials, and no parts of the Secrets among the objects.

    Statuses in files and of live clusters have messages of Crossplane, of providers and of other releases.
    """
    known = Parts(_pieces_of(one for manifest in manifests if (one := _observed(manifest)) is not None))
    return [_quiet(manifest, known) for manifest in manifests]


def _quiet(manifest: Manifest, known: Parts) -> Manifest:
    status = manifest.get("status")
    told = _without_messages(status, known)
    return manifest if told is status else {**manifest, "status": told}


def _without_messages(value: Any, known: Parts, key: str = "") -> Any:
    """Return a value whose messages are clean: the same one if they were."""
    if isinstance(value, str):
        if key != "message":
            return value
        clean = without_parts(value, known)
        return value if clean == value else clean
    if isinstance(value, Mapping):
        fields = {name: _without_messages(child, known, name) for name, child in value.items()}
        return fields if any(fields[name] is not child for name, child in value.items()) else value
    if is_list(value):
        items = [_without_messages(child, known) for child in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _secrets(request: Request) -> Iterator[Manifest]:
    """Yield the Secrets that were looked up, and of those that are observed on clusters.

    A requirement is of one kind, so its first object tells whether it is for Secrets.
    """
    required = (one for found in request.required.values() if found and _is_secret(found[0]) for one in found)
    observed = (one for manifest in request.observed.values() if (one := _observed(manifest)) is not None)
    yield from (*required, *observed)


def _pieces_of(secrets: Iterable[Manifest]) -> Iterator[str]:
    """Yield all that is secret of some Secrets."""
    values = (v for one in secrets for field in ("data", "stringData") for v in dig_fields(one, field).values())
    texts = (text for value in values for text in _texts(value))
    return (piece for text in texts for piece in _pieces(text[:_LONGEST]))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value, which is one itself unless a file has something else there."""
    if isinstance(value, Mapping):
        yield from (text for pair in value.items() for one in pair for text in _texts(one))
    elif is_list(value):
        yield from (text for one in value for text in _texts(one))
    else:
        yield str(value)


def _observed(manifest: Manifest) -> Manifest | None:
    """Return the Secret that an observed resource is, or that it holds."""
    if _is_secret(manifest):
        return manifest
    held = dig_fields(manifest, "spec", "forProvider", "manifest") if manifest.get("kind") == "Object" else None
    return held if _is_secret(held) else None


def _is_secret(manifest: Any) -> bool:
    return bool(dig(manifest, "kind") == "Secret")


def _pieces(value: str) -> Iterator[str]:
    """Yield the secret parts of a value of a Secret, which is base64 if an API server wrote it.

    A value on one line is secret as a whole. Of a document, such as a kubeconfig, it is not every word: messages may
    name its server.
    """
    plain = value
    if _BASE64.fullmatch(value):
        plain = base64.b64decode(value[: len(value) // 4 * 4]).decode(errors="replace")
        yield value
    yield _encoded(value)
    if not _STRUCTURED.search(plain):
        yield plain
        return
    found: list[str] = []

    def keep(one: str) -> str:
        found.append(one)
        return SENSITIVE

    without(plain, (*NAMED, _KEYS), keep)
    for one in (*found, *_PEM.findall(plain), *_MIXED.findall(plain)):
        yield from (one, _encoded(one))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode().rstrip("=")
