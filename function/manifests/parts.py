"""What is installed part by part: each as soon as that on which it stands is ready, and then for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import ComposedResource, Request, condition, dig
from function.core.condition import shortened
from function.manifests.usage import usage
from function.vocabulary import names

_LONGEST_FAULT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A manifest, and on which keys it waits."""

    key: str
    manifest: dict[str, Any]
    after: tuple[str, ...] = ()


def due(request: Request, wanted: Sequence[Part]) -> tuple[Part, ...]:
    """Those whose turn has come. What is there stays, whatever has become of what it waited for."""
    there = {part.key for part in wanted}

    def is_due(part: Part) -> bool:
        return part.key in request.observed or all(map(request.is_ready, there.intersection(part.after)))

    return tuple(part for part in wanted if is_due(part))


def usages(
    request: Request, composed: Mapping[str, ComposedResource], outlives: Iterable[tuple[str, str]], namespace: str
) -> dict[str, ComposedResource]:
    """What keeps, on a deletion, whatever serves another until that other is gone; `outlives` pairs their keys."""
    found = {}
    for of, by in outlives:
        if of in composed and by in composed:
            key = f"usage-{of}-{by}"
            manifest = _usage(composed[of].manifest, composed[by].manifest, namespace, f"{by} needs {of} to be deleted")
            found[key] = ComposedResource(manifest, request.is_ready(key))
    return found


def _usage(of: Mapping[str, Any], by: Mapping[str, Any], namespace: str, reason: str) -> dict[str, Any]:
    of_name, by_name = of["metadata"]["name"], by["metadata"]["name"]
    return usage(
        name=names.derived(of_name, "usage", of["kind"], of_name, by["kind"], by_name),
        namespace=namespace,
        api_version=of["apiVersion"],
        kind=of["kind"],
        of=of_name,
        by=(by["apiVersion"], by["kind"], by_name),
        reason=reason,
    )


def describe_pending(request: Request, key: str) -> str:
    """A part that is waited for, and what its provider says against it."""
    synced = condition(request.observed.get(key) or {}, "Synced")
    if dig(synced, "status") != "False":
        return key
    return f"{key} ({shortened(str(dig(synced, 'message') or dig(synced, 'reason')), _LONGEST_FAULT)})"
