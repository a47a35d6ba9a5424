"""Devices in files: those of InferenceClasses and of ResourceSlices, with their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function import cel
from function.cli.files import load, values
from function.conversion.selectors import NamedDevice
from function.core import dig


class NoDevice(ValueError):
    """A document that is not a device."""


def of_files(classes: Iterable[str], devices: Iterable[str] = ()) -> Iterator[NamedDevice]:
    """The devices in files.

    Args:
        classes: Files and folders with InferenceClasses. Other kinds in them are skipped.
        devices: Files and folders with devices or ResourceSlices.

    Raises:
        BrokenFile: A file cannot be read.
        NoDevice: A document is not a device.
    """
    for loaded in load(classes):
        if loaded.manifest["kind"] != "InferenceClass":
            continue
        owner = loaded.manifest["metadata"]["name"]
        for published in _mappings(dig(loaded.manifest, "spec", "devices"), f"{loaded.source.file}: spec.devices"):
            name = f"{owner}/{published.get('name', '')}"
            yield NamedDevice(name, _device(published, published.get("driver"), name))
    for file in devices:
        for document in values(file):
            yield from _published(document, file)


def _published(document: Any, file: str) -> Iterator[NamedDevice]:
    """The devices of a document: a device, a list of them, or the output of `kubectl get resourceslices -o yaml`."""
    if isinstance(document, list):
        for entry in document:
            yield from _published(entry, file)
    elif not isinstance(document, Mapping):
        raise NoDevice(f"{file}: not a device: {document!r}")
    elif "items" in document:
        yield from _published(document["items"] or [], file)
    elif document.get("kind") == "ResourceSlice":
        driver, owner = dig(document, "spec", "driver"), dig(document, "metadata", "name")
        for entry in _mappings(dig(document, "spec", "devices"), f"{file}: spec.devices of {owner}"):
            name = f"{owner}/{entry.get('name')}"
            yield NamedDevice(name, _device(entry.get("basic") or entry, driver, name))
    else:
        name = str(document.get("name") or file)
        yield NamedDevice(name, _device(document, document.get("driver"), name))


def _mappings(value: Any, where: str) -> list[Mapping[str, Any]]:
    if value is not None and not (isinstance(value, list) and all(isinstance(one, Mapping) for one in value)):
        raise NoDevice(f"{where} must be a list of devices")
    return value or []


def _device(published: Any, driver: Any, name: str) -> cel.Device:
    if not isinstance(published, Mapping) or not isinstance(driver, str):
        raise NoDevice(f"{name}: driver is missing")
    return cel.Device(
        driver=driver,
        attributes=tuple(
            (key, _value(f"{name}: attribute {key}", given)) for key, given in _of(published, "attributes", name)
        ),
        capacity=tuple(
            (key, _amount(f"{name}: capacity {key}", given)) for key, given in _of(published, "capacity", name)
        ),
        allow_multiple_allocations=bool(published.get("allowMultipleAllocations", False)),
    )


def _of(published: Mapping[str, Any], field: str, name: str) -> Iterable[tuple[str, Any]]:
    found = published.get(field) or {}
    if not isinstance(found, Mapping):
        raise NoDevice(f"{name}: {field} must be a map")
    return found.items()


def _value(where: str, given: Any) -> Any:
    if not isinstance(given, Mapping) or len(given) != 1:
        raise NoDevice(f"{where} must have exactly one of string, version, bool and int")
    ((kind, value),) = given.items()
    return cel.Version(str(value)) if kind == "version" else value


def _amount(where: str, given: Any) -> str:
    """The amount, from a mapping as in ResourceSlices or from the bare value."""
    found = given.get("value") if isinstance(given, Mapping) else given
    if not isinstance(found, str | int | float):
        raise NoDevice(f"{where} must have a value, such as 80Gi")
    return str(found)
