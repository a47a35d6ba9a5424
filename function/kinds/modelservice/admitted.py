"""Which callers the configuration of a service's proxy knows, and by which keys.

A caller is known as it was published. It is refused once it is deleted, or not selected any more. The configuration
records whose each key is: of two callers that have published one key, it stays with the one that has it, and if neither
has, neither gets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from function.api.modelservice import Spec
from function.core import Manifest, Request, dig, identity
from function.fleet import callers
from function.fleet.callers import Caller
from function.fleet.upstreams import SecretKey
from function.kinds.modelservice import notes, reads
from function.vocabulary import settings

RECORD = "callers.json"
"""Key of the proxy's ConfigMap: the caller of each key, as secret/key. Envoy does not read it."""
MOST = 200
"""Callers of a service: each of their Secrets is a volume of the pods, and each key is read once a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The callers of a service that knows callers."""

    callers: tuple[Caller, ...]
    """Those who can call, by name, with the keys that are theirs."""
    pending: tuple[str, ...] = ()
    """Callers that are selected, and have no key yet."""
    left_out: tuple[str, ...] = ()
    """Callers that the configuration has no room for."""
    unlimited: tuple[str, ...] = ()
    """Callers whose limits are not kept, because there is no rate-limit server."""

    @property
    def secrets(self) -> tuple[SecretKey, ...]:
        """What the pods must mount."""
        return tuple(sorted(key for one in self.callers for key in one.keys))

    @property
    def record(self) -> dict[str, str]:
        """The caller of each key, as RECORD has it."""
        return {str(key): one.name for one in self.callers for key in one.keys}


def of(request: Request, spec: Spec, record: Mapping[str, str]) -> Admitted | None:
    """Return who can call; None if everybody can. `record` is that of the last pass."""
    if spec.callers is None:
        return None
    found = _found(request)
    published = [one for one in map(callers.of_manifest, found) if one is not None]
    owned = [one for one in _owned(published, record) if one.keys]
    first = sorted(owned, key=lambda one: (one.name not in record.values(), one.name))
    there = sorted(first[:MOST], key=lambda one: one.name)
    is_kept = settings.rate_limit_server() is not None
    return Admitted(
        callers=tuple(one if is_kept else replace(one, limits=()) for one in there),
        pending=tuple(sorted({identity(one).name for one in found} - {one.name for one in owned})),
        left_out=tuple(sorted(one.name for one in first[MOST:])),
        unlimited=tuple(one.name for one in there if one.limits and not is_kept),
    )


def _found(request: Request) -> list[Manifest]:
    """Return the selected callers of the namespace that are not being deleted."""
    found = (one for required in reads.callers(request) for one in request.resolved(required) or ())
    return [
        one
        for one in sorted(found, key=identity)
        if identity(one).namespace == request.identity.namespace and dig(one, "metadata", "deletionTimestamp") is None
    ]


def _owned(published: Sequence[Caller], record: Mapping[str, str]) -> Iterable[Caller]:
    """Yield the callers with the keys that are theirs."""
    claims: dict[SecretKey, set[str]] = {}
    for one in published:
        for key in one.keys:
            claims.setdefault(key, set()).add(one.name)
    for one in published:
        mine = (key for key in one.keys if len(claims[key]) == 1 or record.get(str(key)) == one.name)
        yield replace(one, keys=tuple(mine))


def record(config: Manifest | None) -> dict[str, str]:
    """Return the caller of each key of a configuration; nothing if it is not legible."""
    found = notes.read(dig(config, "data", RECORD))
    return {key: name for key, name in found.items() if isinstance(name, str)}


def vanished(request: Request, record: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the requirements that found nobody, although the configuration has callers."""
    return tuple(one.name for one in reads.callers(request) if record and not request.resolved(one))
