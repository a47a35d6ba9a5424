"""Calls the function until its requirements settle (crossplane v2.4, internal/xfn/required_resources.go).

The function returns *requirements*, objects that it wants to read. It is called again with the objects found for them,
until two consecutive calls have equal requirements, or six calls were made.

An XR that was reconciled before starts with the *seeds*, the answers to its last requirements. It keeps them in every
call, whatever it requires now; what it requires again is looked up again. If the seeds answer all that the first call
requires, there is no second one: a steady XR takes a single call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from function.core import Manifest, Request, Requirement, Result
from function.sandbox.errors import Unsettled
from function.sandbox.extensions import CompositionFunction

MOST_CALLS = 6
"""A first call, and five more for changed requirements."""

Find = Callable[[tuple[Requirement, ...]], Mapping[str, tuple[Manifest, ...]]]


def settle(function: CompositionFunction, request: Request, objects: Sequence[Manifest]) -> Result:
    """Call a function until its requirements settle, and look them up among some objects. Raises Unsettled."""
    return settle_with(function, request, lambda asked: resolve(asked, objects))


def settle_with(
    function: CompositionFunction, request: Request, find: Find, asked: tuple[Requirement, ...] | None = None
) -> Result:
    """Call a function until its requirements settle.

    Args:
        function: The composition function.
        request: The XR and its observed resources.
        find: Looks requirements up.
        asked: The requirements of the XR's last reconcile, whose answers are the seeds (since Crossplane 2.4).

    Returns:
        The result of the last call.

    Raises:
        Unsettled: The requirements still differ after MOST_CALLS calls.
        Fatal, Unreachable: The function raised it.
    """
    seeds = {**request.required, **find(asked or ())}
    request = replace(request, required=seeds)
    for call in range(MOST_CALLS):
        result = function(request)
        if result.requirements == asked:
            return result
        asked = result.requirements
        found = {**seeds, **find(asked)}
        if call == 0 and found == seeds:
            return result
        request = replace(request, required=found)
    raise Unsettled(f"requirements of {request.xr.get('kind')} {request.identity} did not settle in {MOST_CALLS} calls")


def resolve(requirements: Iterable[Requirement], objects: Iterable[Manifest]) -> dict[str, tuple[Manifest, ...]]:
    """The objects that each requirement matches, by its name. A requirement without any has an empty answer."""
    pool = sorted(objects, key=_namespaced_name)
    return {r.name: tuple(m for m in pool if matches(r, m)) for r in requirements}


def matches(requirement: Requirement, manifest: Manifest) -> bool:
    """Whether a requirement matches an object."""
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
