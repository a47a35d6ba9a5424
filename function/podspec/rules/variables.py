"""Rules of environment variables, and of the fields of a pod that variables and files are made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec import field_paths
from function.podspec.fault import Fault, Path, must_be


def faults(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's variables."""
    for index, variable in enumerate(container.get("env", ())):
        at, source = (*path, "env", index), variable.get("valueFrom", {})
        if variable.get("value") and "valueFrom" in variable:
            yield Fault(at, "has a value and a valueFrom; a variable has one of them", "rule")
        yield from of_field((*at, "valueFrom"), source, in_file=False)
        if "fileKeyRef" in source:
            yield from _of_file((*at, "valueFrom", "fileKeyRef"), source["fileKeyRef"], template["spec"])


def of_field(path: Path, source: Mapping[str, Any], *, in_file: bool) -> Iterator[Fault]:
    """Yield faults of a fieldRef or resourceFieldRef, for a variable or for a file of a downwardAPI volume."""
    field = source.get("fieldRef", {})
    if field:
        if field.get("apiVersion", "v1") != "v1":
            yield must_be((*path, "fieldRef", "apiVersion"), "v1", field["apiVersion"])
        if not field_paths.is_field_path(field["fieldPath"], in_file=in_file):
            yield must_be((*path, "fieldRef", "fieldPath"), field_paths.words(in_file=in_file), field["fieldPath"])
    resource = source.get("resourceFieldRef", {})
    if resource:
        at = (*path, "resourceFieldRef")
        if in_file and "containerName" not in resource:
            yield Fault((*at, "containerName"), "is required in a file", "required")
        if not field_paths.is_resource(resource["resource"]):
            yield must_be((*at, "resource"), field_paths.RESOURCE_WORDS, resource["resource"])
        divisors = field_paths.divisors(resource["resource"])
        if resource.get("divisor", "0") not in divisors:
            yield must_be((*at, "divisor"), f"one of {', '.join(divisors[1:])}", resource["divisor"])


def _of_file(path: Path, source: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a variable from a file that an init container writes."""
    name = source["volumeName"]
    if not any("emptyDir" in volume for volume in spec.get("volumes", ()) if volume["name"] == name):
        yield Fault((*path, "volumeName"), f"must be an emptyDir of spec.volumes, and {name} is none", "rule")
    if ".." in source["path"].split("/"):
        yield must_be((*path, "path"), "a path without ..", source["path"])
