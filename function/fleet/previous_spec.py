"""The annotation that records the spec that a replica served with before it was given more nodes.

The replica has the annotation until it is ready with its new spec. Until then it may lose the nodes that it grows into,
and return to the recorded spec.

If the replica is edited again meanwhile, and has pods on shared nodes, the annotation also records the engines that it
had between: pods of each may run, and are charged.

What returns is the spec, and not the rendering (see renderings.py): the workloads of the recorded spec are gone, and
this version of the function can compose them only by its own rules.
"""

from __future__ import annotations

import json
from typing import Any

from function.core import Manifest, dig, dig_list, dig_text, json_text, restate, restate_spec
from function.fleet import renderings
from function.fleet.engines import engines
from function.scheduling import PreviousSpec
from function.vocabulary import labels, versions

_BETWEEN = "between"
_LONGEST = 128 * 1024
"""Bytes of the annotation. Kubernetes accepts 256 KiB of annotations on one object (k8s.io/apimachinery v0.36,
ValidateAnnotations)."""


def read(metadata: Manifest) -> PreviousSpec | None:
    """Return the previous spec from a replica's metadata; None if there is no annotation, or it cannot be read."""
    text = dig_text(metadata, "annotations", labels.FORMER_SPEC)
    noted = json_text.parse(text)
    spec = dig(noted, "spec")
    if text is None or not isinstance(spec, dict):
        return None
    between = tuple(engines(given) for given in dig_list(noted, _BETWEEN))
    return PreviousSpec(engines(spec.get("engines")), str(dig(noted, "specHash") or ""), text, between)


def note(previous: PreviousSpec, observed: Manifest) -> str:
    """Return the text of the annotation for a replica.

    `observed` is the replica as it is, with the previous spec, unless `previous` was read from an annotation. The text
    is empty if the spec is too long for an annotation. Such a replica keeps its new spec even if it loses its nodes.
    """
    if previous.noted:
        return _with_between(previous, observed)
    return _text({"spec": restate_spec(observed), "specHash": previous.spec_hash})


def _with_between(previous: PreviousSpec, observed: Manifest) -> str:
    """Return the text of an annotation, with the observed engines if they are to be replaced."""
    if not previous.between:
        return previous.noted
    noted = json.loads(previous.noted)
    known, replaced = dig_list(noted, _BETWEEN), dig(restate_spec(observed), "engines")
    if len(previous.between) <= len(known) or replaced in known:
        return previous.noted
    return _text({**noted, _BETWEEN: [*known, replaced]}) or previous.noted


def _text(noted: dict[str, Any]) -> str:
    text = json.dumps(noted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text if len(text.encode()) <= _LONGEST else ""


def spec(previous: PreviousSpec) -> dict[str, Any]:
    """Return the whole previous spec, which must have been read from an annotation."""
    found: dict[str, Any] = json.loads(previous.noted)["spec"]
    return found


def restored(observed: Manifest, previous: PreviousSpec) -> dict[str, Any]:
    """Return the manifest of a replica with its previous spec and without the annotation."""
    manifest = restate(observed)
    given = {labels.SPEC_HASH: renderings.spec_hash(previous.spec_hash), labels.RENDERING: str(versions.RENDERING)}
    notes = {**manifest["metadata"].get("annotations", {}), **given}
    notes.pop(labels.FORMER_SPEC, None)
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}, "spec": spec(previous)}
