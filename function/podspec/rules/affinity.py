"""Rules of affinity and of topology spread constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.fault import Fault, Path, must_be
from function.podspec.rules import selectors
from function.vocabulary import patterns

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_TERMS: Mapping[str, Any] = {"nodeSelectorTerms": ()}


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a pod's affinity and spread constraints."""
    spec = template["spec"]
    given, at = spec.get("affinity", {}), ("spec", "affinity")
    yield from _nodes((*at, "nodeAffinity"), given.get("nodeAffinity", {}))
    for step, term in pod_terms(given):
        path = (*at, *step)
        yield from selectors.label_selector((*path, "labelSelector"), term.get("labelSelector", {}))
        yield from selectors.label_selector((*path, "namespaceSelector"), term.get("namespaceSelector", {}))
        yield from selectors.key_lists(path, term)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        path = ("spec", "topologySpreadConstraints", index)
        yield from selectors.label_selector((*path, "labelSelector"), constraint.get("labelSelector", {}))
        yield from selectors.key_lists(path, constraint)
        if "minDomains" in constraint and constraint["whenUnsatisfiable"] != "DoNotSchedule":
            yield Fault((*path, "minDomains"), "needs whenUnsatisfiable: DoNotSchedule", "rule")


def node_terms(nodes: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the terms of a node affinity with their paths in it."""
    for index, term in enumerate(nodes.get(REQUIRED, _NO_TERMS)["nodeSelectorTerms"]):
        yield (REQUIRED, "nodeSelectorTerms", index), term
    for index, weighted in enumerate(nodes.get(PREFERRED, ())):
        yield (PREFERRED, index, "preference"), weighted["preference"]


def pod_terms(affinity: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the terms about other pods of a pod's affinity with their paths in it."""
    for field in ("podAffinity", "podAntiAffinity"):
        for index, term in enumerate(affinity.get(field, {}).get(REQUIRED, ())):
            yield (field, REQUIRED, index), term
        for index, weighted in enumerate(affinity.get(field, {}).get(PREFERRED, ())):
            yield (field, PREFERRED, index, "podAffinityTerm"), weighted["podAffinityTerm"]


def _nodes(path: Path, nodes: Mapping[str, Any]) -> Iterator[Fault]:
    for step, term in node_terms(nodes):
        at = (*path, *step)
        for index, requirement in enumerate(term.get("matchExpressions", ())):
            yield from selectors.requirement_faults((*at, "matchExpressions", index), requirement)
            if step[0] == REQUIRED:
                yield from _values((*at, "matchExpressions", index, "values"), requirement.get("values", ()))
        for index, requirement in enumerate(term.get("matchFields", ())):
            yield from _field((*at, "matchFields", index), requirement)


def _values(path: Path, values: Any) -> Iterator[Fault]:
    for index, value in enumerate(values):
        if not selectors.is_value(value):
            yield selectors.no_value((*path, index), value)


def _field(path: Path, requirement: Mapping[str, Any]) -> Iterator[Fault]:
    if requirement["key"] != "metadata.name":
        yield must_be((*path, "key"), "metadata.name, the only field of nodes that can be matched", requirement["key"])
    if requirement["operator"] not in ("In", "NotIn"):
        yield must_be((*path, "operator"), "In or NotIn", requirement["operator"])
    if (count := len(requirement.get("values", ()))) != 1:
        yield Fault((*path, "values"), f"must have exactly 1 item, not {count}", "rule")
    for index, name in enumerate(requirement.get("values", ())):
        if not re.fullmatch(patterns.SUBDOMAIN, name):
            yield must_be((*path, "values", index), patterns.SUBDOMAIN_WORDS, name)
