"""Whose key it is, if several callers of a namespace name one Secret and key.

A key belongs to one caller, because services could not tell two apart. It belongs to the caller that has published it,
so that no edit of another caller takes a key away that works. If none has, or several have because they were composed
at the same time, it belongs to the oldest of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.api.modelcaller import DEFAULT_KEY
from function.core import Manifest, NotYet, Request, dig, identity
from function.fleet import callers
from function.fleet.upstreams import SecretKey
from function.fleet.values import mappings
from function.vocabulary import conditions as c


def others(request: Request) -> tuple[Manifest, ...]:
    """Return the other callers of the namespace.

    Raises NotYet until they are looked up. A look-up that does not find the caller itself is not believed.
    """
    found = _found(request)
    if found is None:
        raise NotYet(c.WAITING_FOR_CALLERS(why="Crossplane has not looked up the other ModelCallers yet"))
    rest = tuple(manifest for manifest in found if identity(manifest) != request.identity)
    if len(rest) == len(found):
        why = "The look-up of ModelCallers did not find this one, so it may have missed others"
        raise NotYet(c.WAITING_FOR_CALLERS(why=why))
    return rest


def yielded(request: Request) -> frozenset[SecretKey]:
    """Return the keys that the caller has published and an older one as well, as far as callers were found."""
    older = [manifest for manifest in _found(request) or () if callers.age(manifest) < callers.age(request.xr)]
    return frozenset(key for manifest in older for key in published(manifest)).intersection(published(request.xr))


def _found(request: Request) -> list[Manifest] | None:
    """Return the callers of the namespace. None until they are looked up."""
    found = request.resolved(callers.required(request.identity.namespace))
    if found is None:
        return None
    return [manifest for manifest in found if identity(manifest).namespace == request.identity.namespace]


def holder(key: SecretKey, mine: Manifest, theirs: Sequence[Manifest]) -> str | None:
    """Return the name of the other caller that a key belongs to. None if it belongs to `mine`."""
    claiming = [manifest for manifest in theirs if key in published(manifest) or key in _named(manifest)]
    first = min((mine, *claiming), key=lambda manifest: (key not in published(manifest), callers.age(manifest)))
    return None if first is mine else identity(first).name


def published(manifest: Manifest) -> tuple[SecretKey, ...]:
    """Return the keys by which services know a caller."""
    found = callers.of_manifest(manifest)
    return found.keys if found else ()


def _named(manifest: Manifest) -> Iterator[SecretKey]:
    """Yield the keys that a spec names, which may be invalid."""
    for item in mappings(dig(manifest, "spec", "keys")):
        found = callers.secret_key(dig(item, "secretRef", "name"), dig(item, "secretRef", "key") or DEFAULT_KEY)
        if found:
            yield found
