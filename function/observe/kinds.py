"""The kinds of objects that the observer reads, and why a kind cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from function.observe import reading

Reader = Callable[[Any], Any]
"""Makes a record of an object; None if it is of no use."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind, or some objects of a kind."""

    plural: str
    """As RBAC and kubectl name it."""
    path: str
    """Of the list, below the API server's address."""
    read: Reader
    selectors: Mapping[str, str]
    """Parameters that restrict the list."""
    is_optional: bool = False
    """Whether clusters may lack the kind's API."""

    def __str__(self) -> str:
        return self.plural


def _kind(
    plural: str, path: str, read: Reader, selectors: Mapping[str, str] | None = None, *, is_optional: bool = False
) -> Kind:
    return Kind(plural, path, read, selectors or {}, is_optional=is_optional)


NODES = _kind("nodes", "/api/v1/nodes", reading.node)
PODS = _kind("pods", "/api/v1/pods", reading.pod)
SLICES = _kind("resourceslices", "/apis/resource.k8s.io/v1/resourceslices", reading.resource_slice, is_optional=True)
CLAIMS = _kind("resourceclaims", "/apis/resource.k8s.io/v1/resourceclaims", reading.claim, is_optional=True)
