"""One reconcile, as Crossplane plays it: call, look up what was asked for, call again, until the questions settle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from function.core import Manifest, Request, Requirement, Result

MOST_CALLS = 6
"""A first call, and five more for requirements that change (crossplane v2.3, internal/xfn/required_resources.go)."""

CompositionFunction = Callable[[Request], Result]
Find = Callable[[tuple[Requirement, ...]], Mapping[str, tuple[Manifest, ...]]]


class Unreachable(RuntimeError):
    """Nobody is there to be asked; without an answer nothing can go on."""


class Unsettled(RuntimeError):
    """The composer still asked for something else after the last call; Crossplane gives up on it."""


def settle(compose: CompositionFunction, request: Request, objects: Sequence[Manifest]) -> Result:
    """The answer once all that it asks for was looked up among the given objects. Raises Unsettled."""
    return settle_with(compose, request, lambda asked: resolve(asked, objects))


def settle_with(
    compose: CompositionFunction, request: Request, find: Find, asked: tuple[Requirement, ...] | None = None
) -> Result:
    """The same with another way to look up.

    What was `asked` for in the reconcile before is looked up ahead of the first call, as Crossplane does since 2.4.
    Raises Unsettled.
    """
    request = replace(request, required=find(asked)) if asked else request
    for _ in range(MOST_CALLS):
        result = compose(request)
        if result.requirements == asked or (asked is None and not result.requirements):
            return result
        asked = result.requirements
        request = replace(request, required=find(asked))
    raise Unsettled(f"requirements of {request.xr.get('kind')} {request.identity} did not settle in {MOST_CALLS} calls")


def resolve(requirements: Iterable[Requirement], objects: Iterable[Manifest]) -> dict[str, tuple[Manifest, ...]]:
    """What each requirement finds. Found nothing is an answer too: the key is there."""
    pool = sorted(objects, key=_namespaced_name)
    return {r.name: tuple(m for m in pool if matches(r, m)) for r in requirements}


def matches(requirement: Requirement, manifest: Manifest) -> bool:
    metadata = manifest.get("metadata") or {}
    return (
        (manifest.get("apiVersion"), manifest.get("kind")) == (requirement.api_version, requirement.kind)
        and requirement.match_name in (None, metadata.get("name"))
        and requirement.namespace in (None, metadata.get("namespace"))
        and requirement.match_labels.items() <= dict(metadata.get("labels") or {}).items()
    )


def _namespaced_name(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest.get("metadata") or {}
    return metadata.get("namespace") or "", metadata.get("name") or ""
