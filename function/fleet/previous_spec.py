"""The spec that a replica served with before it was given more nodes, noted on it as long as it may have to go back."""

from __future__ import annotations

import json
from typing import Any

from function.core import Manifest, dig, restate, restate_spec
from function.fleet.engines import engines
from function.scheduling import PreviousSpec
from function.vocabulary import labels

_LONGEST = 128 * 1024
"""Bytes. Kubernetes takes 256 KiB of annotations on one object (k8s.io/apimachinery v0.36, ValidateAnnotations)."""


def read(metadata: Manifest) -> PreviousSpec | None:
    """Of a replica's metadata. A note that somebody has spoilt says nothing."""
    text = dig(metadata, "annotations", labels.FORMER_SPEC)
    if not isinstance(text, str) or not text:
        return None
    try:
        noted = json.loads(text)
    except ValueError:
        return None
    spec = dig(noted, "spec")
    if not isinstance(spec, dict):
        return None
    return PreviousSpec(engines(spec.get("engines")), str(dig(noted, "specHash") or ""), text)


def note(previous: PreviousSpec, observed: Manifest) -> str:
    """What is to be noted on a replica that is observed with its former spec, or has the note. Empty for a spec too
    long for an annotation: such a replica keeps what it was given."""
    if previous.noted:
        return previous.noted
    noted = {"spec": restate_spec(observed), "specHash": previous.spec_hash}
    text = json.dumps(noted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text if len(text.encode()) <= _LONGEST else ""


def spec(previous: PreviousSpec) -> dict[str, Any]:
    """The whole spec, as it was noted."""
    found: dict[str, Any] = json.loads(previous.noted)["spec"]
    return found


def restored(observed: Manifest, previous: PreviousSpec) -> dict[str, Any]:
    """A replica as it was before it grew."""
    manifest = restate(observed)
    notes = {**manifest["metadata"].get("annotations", {}), labels.SPEC_HASH: previous.spec_hash}
    notes.pop(labels.FORMER_SPEC, None)
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}, "spec": spec(previous)}
