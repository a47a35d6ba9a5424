"""Run all checks: on each object first, then between objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.core import Manifest
from function.kinds.inferencecluster.inputs import Classes
from function.publish.catalog import BY_KIND
from function.schema import without_nulls
from function.validation import clusters, cross_object, devices, objects, refusals, size
from function.validation.finding import Finding
from function.vocabulary import namespaces


def validate(manifests: Sequence[Manifest]) -> list[Finding]:
    """Return all findings about objects of our kinds, by object and field. None is about an object of another kind."""
    ours = [(index, without_nulls(m)) for index, m in enumerate(manifests) if objects.is_ours(m)]
    classes = refusals.classes_of(manifest for _, manifest in ours)
    single = [finding for index, manifest in ours for finding in _single(index, manifest, classes)]
    broken = {finding.index for finding in single if finding.is_error}
    placed = [(index, _placed(manifest)) for index, manifest in ours]
    sound = [(index, manifest) for index, manifest in placed if index not in broken]
    others = [manifest for manifest in manifests if not objects.is_ours(manifest)]
    across = [*cross_object.duplicates(placed), *cross_object.lint(sound, others)]
    across += clusters.unknown_classes(sound, placed)
    return sorted([*single, *across], key=lambda finding: finding.order)


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
