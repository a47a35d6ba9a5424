"""Warnings about ModelCallers: keys that two of them name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.api.modelcaller import DEFAULT_KEY, KIND
from function.core import Manifest, identity
from function.validation.finding import Finding

Indexed = tuple[int, Manifest]

_Key = tuple[str, str, str]
"""Namespace and name of a Secret, and a key of it."""


def findings(objects: Sequence[Indexed]) -> Iterator[Finding]:
    """Return the warnings about valid callers, among each other."""
    yield from _shared([(index, manifest) for index, manifest in objects if manifest["kind"] == KIND])


def _shared(callers: Sequence[Indexed]) -> Iterator[Finding]:
    first: dict[_Key, Indexed] = {}
    for index, manifest in callers:
        for position, (namespace, secret, key) in enumerate(_keys(manifest)):
            other, owner = first.setdefault((namespace, secret, key), (index, manifest))
            if identity(owner) != identity(manifest):
                problem = (
                    f"names key {key} of Secret {secret}, as ModelCaller {identity(owner).name} does; only one of them"
                    " is accepted"
                )
                yield Finding(index, _path(position), problem, "shared-key", other=other)


def _keys(manifest: Manifest) -> list[_Key]:
    namespace = identity(manifest).namespace
    refs = [item["secretRef"] for item in manifest["spec"]["keys"]]
    return [(namespace, ref["name"], ref.get("key", DEFAULT_KEY)) for ref in refs]


def _path(position: int) -> tuple[str | int, ...]:
    return "spec", "keys", position, "secretRef"
