"""All checks over all objects: each by itself first, then what they say of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.core import Manifest
from function.publish.catalog import BY_KIND
from function.schema import without_nulls
from function.validation import cross_object, devices, objects, refusals, size
from function.validation.finding import Finding
from function.vocabulary import namespaces


def validate(manifests: Sequence[Manifest]) -> list[Finding]:
    """Everything that is wrong with our kinds among some objects, by object and field. Other kinds are passed over."""
    ours = [(index, without_nulls(m)) for index, m in enumerate(manifests) if objects.is_ours(m)]
    alone = [finding for index, manifest in ours for finding in _alone(index, manifest)]
    broken = {finding.index for finding in alone if finding.is_error}
    placed = [(index, _placed(manifest)) for index, manifest in ours]
    sound = [(index, manifest) for index, manifest in placed if index not in broken]
    return sorted([*alone, *cross_object.doubles(placed), *cross_object.lint(sound)], key=lambda finding: finding.order)


def _alone(index: int, manifest: Manifest) -> Iterator[Finding]:
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    if kind is None:
        yield objects.unserved(index, manifest)
        return
    said = list(objects.findings(index, manifest, kind))
    yield from said
    yield from devices.findings(index, manifest)
    if not said:
        yield from devices.unreadable(index, manifest)
        yield from size.findings(index, manifest)
        yield from refusals.findings(index, manifest)


def _placed(manifest: Manifest) -> Manifest:
    """An object in its namespace. All that name none go to the same one: that of the user who applies them."""
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    if kind is None or kind.scope == "Cluster" or manifest["metadata"].get("namespace"):
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespaces.UNSTATED}}
