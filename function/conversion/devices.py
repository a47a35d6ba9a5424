"""Resources of device plugins as device requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from function import podspec
from function.conversion import gpus
from function.conversion.notes import Notes, Path
from function.podspec import reserved

_MOST_SELECTORS = 8
"""Selectors of one device request."""
_MOST_DEVICES = 64
"""Devices of one request."""


class Asked(NamedTuple):
    """Devices that a container asks for by a resource."""

    path: Path
    """Path of the resource in the source object."""
    resource: str
    amount: str
    request: reserved.Request
    """The device request that replaces the resource."""

    @property
    def selector(self) -> str:
        return self.request.selector


def asks(container: Mapping[str, Any]) -> bool:
    """Whether a sound container asks for a device plugin's devices."""
    return any(True for _ in _resources(container))


def moved(spec: dict[str, Any], notes: Notes) -> list[Asked]:
    """Take the resources of device plugins out of a sound pod spec, and return those of the engine."""
    found: list[Asked] = []
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field, ())):
            at = notes.at((field, index))
            taken = _taken(container, at)
            if container["name"] == podspec.ENGINE and field == "containers":
                found += taken
            else:
                for asked in taken:
                    notes.of(()).lost(asked.path, "only the engine's container gets devices")
    return found


def _taken(container: dict[str, Any], notes: Notes) -> list[Asked]:
    found: dict[str, Asked] = {}
    for field, resource, amount in list(_resources(container)):
        request = reserved.device_request(resource)
        assert request is not None
        del container["resources"][field][resource]
        path = (*notes.source, "resources", field, resource)
        found.setdefault(resource, Asked(path, resource, amount, request))
    resources = container.get("resources", {})
    for field in [field for field, amounts in resources.items() if not amounts]:
        del resources[field]
    if "resources" in container and not resources:
        del container["resources"]
    return [asked for asked in found.values() if asked.amount != "0"]


def _resources(container: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield field, name and amount of each resource of a device plugin, limits first."""
    for field in ("limits", "requests"):
        for name, amount in container.get("resources", {}).get(field, {}).items():
            if reserved.device_request(name):
                yield field, name, amount


def requests(
    asked: Sequence[Asked], selected: Sequence[tuple[Path, gpus.Selects]], notes: Notes
) -> list[dict[str, Any]]:
    """Return the device requests for resources, with the selectors for labels of nodes.

    Args:
        asked: The resources.
        selected: The labels, each with its path in the source object.
        notes: Notes whose target is the member.
    """
    written: list[dict[str, Any]] = []
    for one in asked:
        at: Path = ("nodeSelector", "devices", len(written))
        own = [entry for entry in selected if f'"{entry[1].driver}"' in one.selector]
        labels = [entry[1].cel for entry in own if entry[1].cel != gpus.IMPLIED]
        texts = [_selector(one, labels), *labels]
        texts = list(dict.fromkeys(texts))[:_MOST_SELECTORS]
        about = notes.of(())
        about.changed(one.path, at, _said(one))
        for path, label in own:
            where = (*at, "selectors", texts.index(label.cel)) if label.cel in texts else at
            about.changed(path, where, "selects devices, not nodes")
        written.append(
            {
                "name": one.request.name,
                "count": _count(one, about),
                "selectors": [{"cel": text} for text in texts],
            }
        )
    _without_resource(asked, selected, notes)
    return written


def _selector(one: Asked, labels: Sequence[str]) -> str:
    """Return the selector for a resource. Where labels name the profile of a slice, it is no whole GPU."""
    are_slices = one.selector == reserved.WHOLE_NVIDIA and any(gpus.PROFILE in text for text in labels)
    return reserved.NVIDIA if are_slices else one.selector


def distinct(given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return device requests with a name for each."""
    written: list[dict[str, Any]] = []
    for one in given:
        written.append({**one, "name": _name(one["name"], written)})
    return written


def _said(one: Asked) -> str:
    shared = "" if one.request.is_whole else "; shares or cores of a device become one whole device"
    return f"is a device request{shared}"


def _count(one: Asked, notes: Notes) -> int:
    if not one.request.is_whole:
        return 1
    if re.fullmatch("[0-9]{1,9}", one.amount) and 0 < int(one.amount) <= _MOST_DEVICES:
        return int(one.amount)
    notes.lost(one.path, f"must be a whole number of up to {_MOST_DEVICES} devices; the request asks for 1")
    return 1


def _name(name: str, written: Sequence[Mapping[str, Any]]) -> str:
    taken = {one["name"] for one in written}
    return next(one for one in (name, *(f"{name}-{i}" for i in range(2, 99))) if one not in taken)


def _without_resource(asked: Sequence[Asked], selected: Sequence[tuple[Path, gpus.Selects]], notes: Notes) -> None:
    """Note labels of GPUs of which no resource asks for a device."""
    for path, label in selected:
        if not any(f'"{label.driver}"' in one.selector for one in asked):
            notes.of(()).lost(path, f"no container asks for a device of {label.driver}")
