"""Reads ModelCallers: the keys by which a caller is known, and its limits.

Both are read from the status, which repeats what was accepted last while an edit is refused. Keys are named, and never
read: two are the same if they are the same key of the same Secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from function.api.modelcaller import API_VERSION, KIND, MOST_TOKENS, Unit
from function.core import Manifest, Requirement, dig
from function.fleet.upstreams import SecretKey
from function.fleet.values import mappings

_UNITS = get_args(Unit)


@dataclass(frozen=True, slots=True)
class Limit:
    tokens: int
    per: str
    """Minute, Hour or Day."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller that services know."""

    name: str
    keys: tuple[SecretKey, ...]
    """At least one. No other caller of the namespace has any of them for longer than a reconcile takes."""
    limits: tuple[Limit, ...]
    """At most one for each unit of time; none if the caller has no limit."""


def required(namespace: str, labels: Mapping[str, str] | None = None) -> Requirement:
    """Require all ModelCallers of a namespace, or those with some labels."""
    return Requirement("callers", API_VERSION, KIND, match_labels=labels or {}, namespace=namespace)


def of_manifest(manifest: Manifest) -> Caller | None:
    """Return a caller as it was last accepted; None if it never was. What cannot be read is left out."""
    name, keys = dig(manifest, "metadata", "name"), tuple(dict.fromkeys(_keys(manifest)))
    if not isinstance(name, str) or not keys:
        return None
    limits = {limit.per: limit for limit in _limits(manifest)}
    return Caller(name, keys, tuple(limits.values()))


def age(manifest: Manifest) -> tuple[str, str]:
    """Return a key that sorts callers, the oldest first: the time of creation, and the name."""
    return _text(dig(manifest, "metadata", "creationTimestamp")), _text(dig(manifest, "metadata", "name"))


def secret_key(secret: Any, key: Any) -> SecretKey | None:
    """Return the key of a Secret; None if one of the names is none."""
    return SecretKey(secret, key) if _text(secret) and _text(key) else None


def _keys(manifest: Manifest) -> Iterator[SecretKey]:
    for item in mappings(dig(manifest, "status", "keys")):
        found = secret_key(item.get("secretName"), item.get("key"))
        if found:
            yield found


def _limits(manifest: Manifest) -> Iterator[Limit]:
    for item in mappings(dig(manifest, "status", "limits")):
        tokens, per = _count(item.get("tokens")), _text(item.get("per"))
        if tokens and per in _UNITS:
            yield Limit(tokens, per)


def _count(value: Any) -> int:
    """Return a number of tokens; 0 for anything else. Protobuf holds whole numbers as doubles."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 1 <= value <= MOST_TOKENS and value == int(value) else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
