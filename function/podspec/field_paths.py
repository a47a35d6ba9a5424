"""The fields of a pod that an environment variable or a file can be set from.

Source: kubernetes v1.34, pkg/apis/core/validation, validateObjectFieldSelector and
validateContainerResourceFieldSelector.
"""

from __future__ import annotations

import re

from function.scheduling import RESOURCES
from function.vocabulary import patterns

_EVERYWHERE = ("metadata.name", "metadata.namespace", "metadata.uid")
_VARIABLES = (
    *_EVERYWHERE,
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_FILES = (*_EVERYWHERE, "metadata.labels", "metadata.annotations")
_BY_KEY = re.compile(r"metadata\.(labels|annotations)\['([^\[\]]+)'\]")
_RESOURCE = re.compile(rf"(limits|requests)\.({'|'.join(RESOURCES)}|hugepages-.*)")
RESOURCE_WORDS = f"limits. or requests. and {', '.join(RESOURCES)} or hugepages-SIZE"
_OF_CPU = ("0", "1m", "1")
_OF_BYTES = ("0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def is_field_path(path: str, *, in_file: bool) -> bool:
    """Return whether a variable, or a file, can be set from a field of its pod."""
    found = _BY_KEY.fullmatch(path)
    if found is None:
        return path in (_FILES if in_file else _VARIABLES)
    return patterns.is_key(found[2].lower() if found[1] == "annotations" else found[2])


def words(*, in_file: bool) -> str:
    """Return the fields that are accepted, in words."""
    plain = _FILES if in_file else _VARIABLES
    return f"metadata.labels['<key>'], metadata.annotations['<key>'], {', '.join(plain[:-1])} or {plain[-1]}"


def is_resource(name: str) -> bool:
    """Return whether a variable, or a file, can be set from a resource of a container."""
    return _RESOURCE.fullmatch(name) is not None


def divisors(resource: str) -> tuple[str, ...]:
    """Return the units in which a resource can be written. The first, 0, stands for the default."""
    return _OF_CPU if resource.endswith(".cpu") else _OF_BYTES
