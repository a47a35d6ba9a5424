"""Run all checks: on each object first, then between objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from function.core import Manifest
from function.kinds.inferencecluster.inputs import Classes
from function.publish.catalog import BY_KIND
from function.schema import without_nulls
from function.validation import (
    attributes,
    cross_object,
    dangling,
    devices,
    given,
    objects,
    references,
    refusals,
    selectors,
    size,
    unused,
)
from function.validation.dangling import Unchecked
from function.validation.finding import Finding
from function.vocabulary import namespaces

Indexed = tuple[int, Manifest]


@dataclass(frozen=True, slots=True)
class _Objects:
    """The objects, and what is wrong with each by itself."""

    placed: Sequence[Indexed]
    """Objects of our kinds, each with its namespace."""
    sound: Sequence[Indexed]
    """Those that are valid."""
    others: Sequence[Manifest]
    single: Sequence[Finding]


def validate(manifests: Sequence[Manifest]) -> list[Finding]:
    """Return all errors and warnings about objects of our kinds, by object and field. None is about another kind."""
    return [finding for finding in report(manifests) if finding.severity != "note"]


def report(manifests: Sequence[Manifest], *, is_complete: bool = True) -> list[Finding]:
    """Return all errors, warnings and notes, by object and field.

    Args:
        manifests: The objects.
        is_complete: Whether these are all objects. If some cannot be read, references to them are not judged.
    """
    read = _read(manifests)
    across = [*cross_object.duplicates(read.placed), *cross_object.lint(read.sound, read.others)]
    if is_complete:
        across += _references(read)
    return sorted([*read.single, *across], key=lambda finding: finding.order)


def _read(manifests: Sequence[Manifest]) -> _Objects:
    ours = [(index, without_nulls(m)) for index, m in enumerate(manifests) if objects.is_ours(m)]
    classes = refusals.classes_of(manifest for _, manifest in ours)
    single = [finding for index, manifest in ours for finding in _single(index, manifest, classes)]
    broken = {finding.index for finding in single if finding.is_error}
    placed = [(index, _placed(manifest)) for index, manifest in ours]
    sound = [(index, manifest) for index, manifest in placed if index not in broken]
    return _Objects(placed, sound, [m for m in manifests if not objects.is_ours(m)], single)


def _references(read: _Objects) -> Iterator[Finding]:
    """Yield references that find nothing, and what nothing refers to."""
    known = given.of((manifest for _, manifest in read.placed), read.others)
    named = [one for index, manifest in read.sound for one in references.of(index, manifest)]
    found = [
        *dangling.judged(named, known),
        *dangling.gateways(read.sound, known),
        *selectors.judged(read.sound, read.placed),
        *attributes.judged(read.sound, read.placed),
    ]
    yield from (one for one in found if isinstance(one, Finding))
    yield from dangling.notes(one for one in found if isinstance(one, Unchecked))
    yield from unused.notes(read.placed)


def _single(index: int, manifest: Manifest, classes: Classes) -> Iterator[Finding]:
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    if kind is None:
        yield objects.unserved(index, manifest)
        return
    found = list(objects.findings(index, manifest, kind))
    yield from found
    yield from devices.findings(index, manifest)
    if not found:
        yield from devices.class_findings(index, manifest)
        yield from size.findings(index, manifest)
        yield from refusals.findings(index, manifest, classes)


def _placed(manifest: Manifest) -> Manifest:
    """Return an object with its namespace.

    All objects without one go to the same: that of the user who applies them.
    """
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    if kind is None or kind.scope == "Cluster" or manifest["metadata"].get("namespace"):
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespaces.UNSTATED}}
