"""Finding nothing where something was is believed the second time.

A look-up that finds nothing may be wrong for a moment: a cache that is behind, a label that is being rewritten, a kind
whose definition is being replaced. What would go on such an answer (a guard, weights, a route) has something observed
that speaks against it. So the first pass that finds nothing keeps what is there, and notes on one of the observed
resources what it did not find. The pass after it reads the note: if it finds nothing either, there is nothing.

A note is an annotation of a composed resource, since that is all that one pass can leave to the next without a clock.
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
"""Annotation of a composed resource: what the last pass looked for and did not find, with commas between."""


def is_believed(request: Request, what: str, on: str) -> bool:
    """Whether finding nothing is believed: the resource with key `on` is not observed, or has the note."""
    observed = request.observed.get(on)
    return observed is None or what in str(dig(observed, "metadata", "annotations", NOTE) or "").split(",")


def kept(request: Request, on: str, *what: str) -> dict[str, ComposedResource]:
    """An observed resource, desired again, with a note of what was not found; nothing where it is not observed."""
    observed = request.observed.get(on)
    if observed is None:
        return {}
    return {on: noted(ComposedResource(without_note(restate(observed)), is_ready(observed)), what)}


def noted(resource: ComposedResource, what: Iterable[str]) -> ComposedResource:
    """A resource with a note of what was not found; as it is where that is nothing."""
    text = ",".join(sorted(what))
    if not text:
        return resource
    metadata = resource.manifest["metadata"]
    annotations = {**(metadata.get("annotations") or {}), NOTE: text}
    return replace(resource, manifest={**resource.manifest, "metadata": {**metadata, "annotations": annotations}})


def without_note(manifest: Manifest) -> dict[str, Any]:
    """A manifest without the note of an earlier pass."""
    metadata = {**manifest["metadata"]}
    if NOTE in (metadata.get("annotations") or {}):
        annotations = {key: value for key, value in metadata.pop("annotations").items() if key != NOTE}
        metadata |= {"annotations": annotations} if annotations else {}
    return {**manifest, "metadata": metadata}
