"""What Kubernetes validates between the fields of a pod template.

A rule takes a template whose types are right, and yields faults. Source: k8s.io/kubernetes v1.34,
pkg/apis/core/validation/validation.go (ValidatePodTemplateSpec), and pkg/apis/apps/validation for what the owner of the
pods, a Deployment or a LeaderWorkerSet, allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.fault import Fault
from function.podspec.rules import (
    affinity,
    containers,
    metadata,
    mounts,
    pod,
    probes,
    resources,
    security,
    variables,
    volumes,
)

_OF_TEMPLATE = (
    metadata.faults,
    pod.faults,
    security.of_pod,
    resources.of_pod,
    affinity.faults,
    containers.faults,
    volumes.faults,
)
_OF_CONTAINER = (
    containers.of_container,
    variables.faults,
    mounts.faults,
    probes.faults,
    resources.faults,
    security.of_container,
)


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield all faults between fields of a template whose types are right."""
    for rule in _OF_TEMPLATE:
        yield from rule(template)
    for path, container in containers.each(template):
        for rule_of_one in _OF_CONTAINER:
            yield from rule_of_one(template, path, container)
