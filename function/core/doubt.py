"""An empty result that contradicts what is observed is believed only the second time.

A look-up can come back empty by mistake: a cache is stale, a label is being rewritten, a kind's definition is being
replaced. Acting on it would delete something (a guard, weights, a route) although an observed resource contradicts the
result. So the first empty pass keeps what exists, and notes on one observed resource what it did not find. The next
pass reads the note: if the result is still empty, it is believed.

The note is an annotation on a composed resource, because that is all that one pass can leave for the next without a
clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from function.core.hold import restate
from function.core.manifest import Manifest, dig, is_ready
from function.core.request import Request
from function.core.result import ComposedResource

NOTE = "modelplane.ai/found-nothing"
"""Annotation of a composed resource: what the last pass did not find, separated by commas."""


def is_believed(request: Request, what: str, on: str) -> bool:
    """Return whether an empty result for `what` is believed.

    It is believed if the resource with key `on` is not observed, or carries a note of it from the last pass.
    """
    observed = request.observed.get(on)
    return observed is None or what in str(dig(observed, "metadata", "annotations", NOTE) or "").split(",")


def keep(request: Request, on: str, *what: str) -> dict[str, ComposedResource]:
    """Desire an observed resource again, with a note of what was not found. Empty if it is not observed."""
    observed = request.observed.get(on)
    if observed is None:
        return {}
    return {on: with_note(ComposedResource(without_note(restate(observed)), is_ready(observed)), what)}


def with_note(resource: ComposedResource, what: Iterable[str]) -> ComposedResource:
    """Return a resource with a note of what was not found; unchanged if `what` is empty."""
    text = ",".join(sorted(what))
    if not text:
        return resource
    metadata = resource.manifest["metadata"]
    annotations = {**(metadata.get("annotations") or {}), NOTE: text}
    return replace(resource, manifest={**resource.manifest, "metadata": {**metadata, "annotations": annotations}})


def without_note(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest without the note of an earlier pass."""
    metadata = {**manifest["metadata"]}
    if NOTE in (metadata.get("annotations") or {}):
        annotations = {key: value for key, value in metadata.pop("annotations").items() if key != NOTE}
        metadata |= {"annotations": annotations} if annotations else {}
    return {**manifest, "metadata": metadata}
