"""All checks over all objects: each by itself first, then what they say of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.core import Manifest
from function.publish.catalog import BY_KIND
from function.schema import without_nulls
from function.validation import devices, objects, refusals, size, together
from function.validation.flaw import Flaw
from function.vocabulary import namespaces


def validate(manifests: Sequence[Manifest]) -> list[Flaw]:
    """Everything that is wrong with our kinds among some objects, by object and field. Other kinds are passed over."""
    ours = [(index, without_nulls(m)) for index, m in enumerate(manifests) if objects.is_ours(m)]
    flawed = [flaw for index, manifest in ours for flaw in _alone(index, manifest)]
    broken = {flaw.index for flaw in flawed if flaw.is_error}
    placed = [(index, _placed(manifest)) for index, manifest in ours]
    sound = [(index, manifest) for index, manifest in placed if index not in broken]
    return sorted([*flawed, *together.doubles(placed), *together.lint(sound)], key=lambda flaw: flaw.order)


def _alone(index: int, manifest: Manifest) -> Iterator[Flaw]:
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    if kind is None:
        yield objects.unserved(index, manifest)
        return
    said = list(objects.flaws(index, manifest, kind))
    yield from said
    yield from devices.flaws(index, manifest)
    if not said:
        yield from devices.unreadable(index, manifest)
        yield from size.flaws(index, manifest)
        yield from refusals.flaws(index, manifest)


def _placed(manifest: Manifest) -> Manifest:
    """An object in its namespace. All that name none go to the same one: that of the user who applies them."""
    kind = BY_KIND.get((manifest["apiVersion"], manifest["kind"]))
    if kind is None or kind.scope == "Cluster" or manifest["metadata"].get("namespace"):
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespaces.UNSTATED}}
