"""Installation part by part: each part is created once the parts it depends on are ready, and then kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import (
    ComposedResource,
    Manifest,
    Request,
    condition,
    dig,
    dig_texts,
    is_ready,
    quote_condition,
    restate,
    restate_resource,
)
from function.manifests.usage import usage_between
from function.vocabulary import versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A manifest, and the keys of the parts that must be ready before it."""

    key: str
    manifest: dict[str, Any]
    after: tuple[str, ...] = ()


def due(request: Request, wanted: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts that may be composed now.

    A part that exists stays, even if its dependencies are no longer ready.
    """
    there = {part.key for part in wanted}

    def is_due(part: Part) -> bool:
        return part.key in request.observed or all(map(request.is_ready, there.intersection(part.after)))

    return tuple(part for part in wanted if is_due(part))


def usages(
    request: Request, composed: Mapping[str, ComposedResource], outlives: Iterable[tuple[str, str]], namespace: str
) -> dict[str, ComposedResource]:
    """Return Usages that keep one resource until another is deleted.

    `outlives` has pairs of keys: kept, deleted first.
    """
    found = {}
    for of, by in outlives:
        if of in composed and by in composed:
            key = f"usage-{of}-{by}"
            pair, reason = (composed[of].manifest, composed[by].manifest), f"{by} needs {of} to be deleted"
            manifest = usage_between(*pair, namespace=namespace, reason=reason)
            found[key] = ComposedResource(manifest, request.is_ready(key))
    return found


def leaving(request: Request, composed: Mapping[str, ComposedResource]) -> dict[str, ComposedResource]:
    """Return what is no longer wanted, and must not go yet: what Usages protect, and the Usages by what is leaving.

    Crossplane stops at the first delete that a Usage refuses (crossplane v2.4, composition_functions.go). So nothing is
    left out while a Usage protects it: first goes what needs the others, then the Usages by it, then those.
    """
    observed = request.observed
    usages = {key: m for key, m in observed.items() if m["apiVersion"] == versions.PROTECTION}
    rest = {key: m for key, m in observed.items() if key not in composed and key not in usages}
    users = {(m["kind"], m["metadata"]["name"]) for m in rest.values()}
    used = {_end(manifest, "of") for manifest in usages.values()}
    kept = [key for key, m in usages.items() if key not in composed and _end(m, "by") in users]
    kept += [key for key, m in rest.items() if (m["kind"], m["metadata"]["name"]) in used]
    return {key: restate_resource(observed[key]) for key in sorted(kept)}


def deletable(
    request: Request, composed: Mapping[str, ComposedResource], keys: Iterable[str]
) -> dict[str, ComposedResource]:
    """Return Objects that leave, and would leave their remote objects behind: they are allowed to delete these first.

    It is for remote objects that are of no use once nothing asks for them. Once an Object may delete, it is left out.
    """
    leaving = {key: request.observed[key] for key in keys if key in request.observed and key not in composed}
    return {key: _deleting(manifest) for key, manifest in leaving.items() if not may_delete(manifest)}


def may_delete(manifest: Manifest) -> bool:
    """Return whether an Object or a Release deletes on the cluster what it stands for, when it is deleted."""
    policies = dig_texts(manifest, "spec", "managementPolicies") or ("*",)
    return bool({"*", "Delete"} & set(policies))


def _deleting(manifest: Manifest) -> ComposedResource:
    wanted = restate(manifest)
    spec = {name: value for name, value in wanted["spec"].items() if name != "managementPolicies"}
    return ComposedResource({**wanted, "spec": spec}, is_ready(manifest))


def _end(usage: Manifest, end: str) -> tuple[str, str]:
    return str(dig(usage, "spec", end, "kind")), str(dig(usage, "spec", end, "resourceRef", "name"))


def describe_pending(request: Request, key: str) -> str:
    """Name a part that is not ready, with its provider's error if there is one."""
    synced = condition(request.observed.get(key) or {}, "Synced")
    if dig(synced, "status") != "False":
        return key
    return f"{key} ({quote_condition(synced)})"
