"""Writes the InferenceClasses that the nodes of a cluster need: one for each shape of its nodes.

What a class says must hold for every node of the shape: facts that all devices share, the least cpu and memory, less
what DaemonSets request. The notes tell what was left out, and what a person has to check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function import cel
from function.api import inferenceclass
from function.core import InvalidSpec, enumerate_names, plural
from function.observe.records import DeviceClass, Fact
from function.observe.shapes import Kind, Shape
from function.vocabulary import versions

_MOST_COUNT = 64
_MOST_KINDS = 16
_LONGEST_TEXT = 64
"""Bounds of an InferenceClass (api.inferenceclass)."""
_KEPT_FIRST = ("productName", "type", "architecture", "memory")


@dataclass(frozen=True, slots=True)
class Written:
    """An InferenceClass, and what its reader should know."""

    manifest: Mapping[str, Any]
    notes: tuple[str, ...]
    fault: str | None
    """Why Modelplane would not accept it."""


def written(shapes: Sequence[Shape], device_classes: Sequence[DeviceClass], name: str = "") -> list[Written]:
    """The class of each shape.

    Args:
        shapes: Shapes of nodes.
        device_classes: DeviceClasses of the cluster.
        name: Name of the class, or the beginning of the names of several.
    """
    several = len(shapes) > 1
    names = [f"{name}-{index}" if name and several else name or shape.name for index, shape in enumerate(shapes, 1)]
    return [_written(shape, device_classes, own) for shape, own in zip(shapes, names, strict=True)]


def _written(shape: Shape, device_classes: Sequence[DeviceClass], name: str) -> Written:
    kinds = shape.kinds[:_MOST_KINDS]
    room = {name: text for name, text in shape.room.texts().items() if text != "0"}
    manifest = {
        "apiVersion": versions.MODELPLANE,
        "kind": inferenceclass.KIND,
        "metadata": {"name": name},
        "spec": {
            "devices": [_device(kind, _guess(kind, device_classes)) for kind in kinds],
            **({"node": room} if room else {}),
        },
    }
    fault = None
    try:
        inferenceclass.parse(manifest)
    except InvalidSpec as invalid:
        fault = str(invalid)
    return Written(manifest, tuple(_notes(shape, kinds, device_classes)), fault)


def _device(kind: Kind, device_class: str | None) -> dict[str, Any]:
    kept = _kept(kind.facts)
    attributes = {fact.name: {fact.type: fact.value} for fact in kept if fact.kind == "attribute"}
    capacity = {fact.name: {"value": fact.value} for fact in kept if fact.kind == "capacity"}
    return {
        "name": kind.name,
        "driver": kind.driver,
        "deviceClassName": device_class or kind.driver,
        "count": min(kind.count, _MOST_COUNT),
        **({"attributes": attributes} if attributes else {}),
        **({"capacity": capacity} if capacity else {}),
    }


def _kept(facts: Iterable[Fact]) -> list[Fact]:
    """The facts that a class can have, the telling ones first where there are too many."""
    fit = [fact for fact in facts if fact.type != "string" or len(str(fact.value).encode()) <= _LONGEST_TEXT]
    fit.sort(key=lambda fact: (fact.name.rpartition("/")[2] not in _KEPT_FIRST, fact.kind, fact.name))
    kept = fit[: inferenceclass.MOST_FACTS]
    return sorted(kept, key=lambda fact: (fact.kind, fact.name))


# DeviceClasses


def _guess(kind: Kind, device_classes: Iterable[DeviceClass]) -> str | None:
    """The DeviceClass whose selectors all match the devices: the most selective one, then the first by name."""
    device = _sample(kind)
    fits = [
        (-sum(map(len, one.selectors)), one.name)
        for one in device_classes
        if one.selectors and all(_matches(text, device) for text in one.selectors)
    ]
    return min(fits)[1] if fits else None


def _matches(text: str, device: cel.Device) -> bool:
    try:
        return cel.compiled(text).evaluate(device) is cel.MATCH
    except cel.InvalidSelector:
        return False


def _sample(kind: Kind) -> cel.Device:
    facts = kind.sample
    return cel.Device(
        kind.driver,
        tuple(
            (fact.name, cel.Version(str(fact.value)) if fact.type == "version" else fact.value)
            for fact in facts
            if fact.kind == "attribute"
        ),
        tuple((fact.name, str(fact.value)) for fact in facts if fact.kind == "capacity"),
    )


# Notes


def _notes(shape: Shape, kinds: Sequence[Kind], device_classes: Sequence[DeviceClass]) -> Iterator[str]:
    yield f"{plural(len(shape.nodes), 'node')}: {enumerate_names(shape.nodes)}"
    for kind in kinds:
        yield from (f"{kind.name}: {note}" for note in _notes_of_kind(kind, device_classes))
    if len(kinds) > 1:
        yield f"{len(kinds)} kinds of devices on one node: an engine's selectors decide which it claims"
    if len(shape.kinds) > len(kinds):
        yield f"{len(shape.kinds)} kinds of devices, and {_MOST_KINDS} is the most of a class"


def _notes_of_kind(kind: Kind, device_classes: Sequence[DeviceClass]) -> Iterator[str]:
    if _guess(kind, device_classes) is None:
        yield "no DeviceClass of the cluster matches its devices; check deviceClassName"
    if kind.count > _MOST_COUNT:
        yield f"{kind.count} devices on a node, and {_MOST_COUNT} is the most of a class"
    if kind.varying:
        yield f"left out, since it differs between devices: {enumerate_names(kind.varying)}"
    kept = _kept(kind.facts)
    lost = [fact.label for fact in kind.facts if fact not in kept]
    if lost:
        yield f"left out, since a class cannot have it: {enumerate_names(lost)}"
    if kind.is_partition:
        yield "partitions of GPUs. Their number holds while nobody partitions the GPUs anew"
