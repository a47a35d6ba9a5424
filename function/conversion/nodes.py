"""Nodes that a pod selects, as devices, clusters and node affinity.

A pod selects nodes by `nodeSelector` and by node affinity, which both name labels. Modelplane picks the pool, so:

- A label that tells the type of GPU becomes a selector of the device request (`gpus`).
- The region becomes a label of the cluster.
- The architecture, operating system and zone become node affinity, which Modelplane adds to the pool's.
- Other labels of a nodeSelector belong to one cluster's pools, and are not carried. Those of an affinity are carried,
  unless Modelplane refuses them.

A node must match one of the terms of a required affinity. GPU labels of several terms become one selector, if every
term has such a label. Otherwise nodes without them match too, and the labels are not carried.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.conversion import gpus
from function.conversion.gpus import IMPLIED, Selects
from function.conversion.notes import Notes, Path
from function.podspec import reserved
from function.vocabulary import labels

_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_OF_NODES = re.compile(r"(beta\.)?kubernetes\.io/(arch|os)|topology\.kubernetes\.io/zone")
"""Labels that mean the same on every cluster."""
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_PICKS = "Modelplane picks the pool: select devices in nodeSelector.devices, or clusters in spec.clusterSelector"


@dataclass(slots=True)
class Selected:
    """What a pod's node selection became."""

    devices: list[tuple[Path, Selects]] = field(default_factory=list)
    """The devices that its pods need, with the path of the label in the source. Selectors may be IMPLIED."""
    clusters: dict[str, str] = field(default_factory=dict)
    """Labels that the cluster must have."""


def moved(spec: dict[str, Any], notes: Notes) -> Selected:
    """Take a sound pod spec's node selection out of it, except the node affinity that it may have."""
    found = Selected()
    kept = [
        expression
        for key, value in spec.pop("nodeSelector", {}).items()
        if (expression := _moved_label(key, value, found, notes.at(("nodeSelector", key)))) is not None
    ]
    nodes = spec.get("affinity", {}).get("nodeAffinity", {})
    _move_required(nodes, found, notes.at(("affinity", "nodeAffinity", _REQUIRED)))
    _move_preferred(nodes, notes.at(("affinity", "nodeAffinity", _PREFERRED)))
    if kept:
        _require(spec, kept)
    _drop_empty(spec)
    return found


def _moved_label(key: str, value: str, found: Selected, notes: Notes) -> dict[str, Any] | None:
    """Note where a label of a nodeSelector goes. Return the expression if it goes into the node affinity."""
    selects = gpus.selects(key, "In", [value])
    if selects:
        found.devices.append((notes.source, selects))
    elif key in _REGION:
        found.clusters[labels.REGION] = value
        at = ("spec", "clusterSelector", "matchLabels", labels.REGION)
        notes.into(()).changed((), at, "selects clusters: give them the label")
    elif _OF_NODES.fullmatch(key):
        notes.changed((), ("affinity", "nodeAffinity"), "is a node affinity now")
        return {"key": key, "operator": "In", "values": [value]}
    else:
        notes.lost((), _PICKS)
    return None


def _move_required(nodes: dict[str, Any], found: Selected, notes: Notes) -> None:
    terms: list[dict[str, Any]] = nodes.get(_REQUIRED, {}).get("nodeSelectorTerms", [])
    selected = [list(_selecting(term)) for term in terms]
    if terms and all(selected) and (either := _either(selected)):
        found.devices.append((notes.source, either))
        told = True
    else:
        told = False
    for index, term in enumerate(terms):
        at = notes.at(("nodeSelectorTerms", index))
        _strip(term, at, told_by_devices=told, only_term=len(terms) == 1, found=found)
    if any(_is_empty(term) for term in terms):
        if len(terms) > 1 and not all(_is_empty(term) for term in terms):
            notes.lost((), "is left out: with the GPU labels taken out, one of its terms matches every node")
        nodes.pop(_REQUIRED, None)


def _selecting(term: Mapping[str, Any]) -> Iterator[Selects]:
    for expression in term.get("matchExpressions", ()):
        if selects := gpus.selects(expression["key"], expression["operator"], expression.get("values", [])):
            yield selects


def _either(terms: list[list[Selects]]) -> Selects | None:
    """Return what is selected by one term or another; None if they select devices of several drivers."""
    drivers = {one.driver for term in terms for one in term}
    if len(drivers) != 1:
        return None
    texts = [" && ".join(one.cel for one in term if one.cel != IMPLIED) or IMPLIED for term in terms]
    [driver] = drivers
    if IMPLIED in texts:
        return Selects(driver, IMPLIED)
    distinct = list(dict.fromkeys(texts))
    return Selects(driver, distinct[0] if len(distinct) == 1 else " || ".join(f"({text})" for text in distinct))


def _strip(term: dict[str, Any], notes: Notes, *, told_by_devices: bool, only_term: bool, found: Selected) -> None:
    """Take the labels out of a term that cannot stay in it."""
    kept = []
    for index, expression in enumerate(term.pop("matchExpressions", [])):
        key, values = expression["key"], expression.get("values", [])
        at: Path = ("matchExpressions", index)
        is_gpus = gpus.selects(key, expression["operator"], values) is not None
        if is_gpus and told_by_devices:
            continue
        if key in _REGION and only_term and expression["operator"] == "In" and len(values) == 1:
            found.clusters[labels.REGION] = values[0]
            target = ("spec", "clusterSelector", "matchLabels", labels.REGION)
            notes.at(at).into(()).changed((), target, "selects clusters: give them the label")
        elif is_gpus or reserved.GPU_LABELS.match(key):
            notes.lost(at, f"{key} selects nodes by their GPUs or pool. {_PICKS}")
        else:
            kept.append(expression)
    if kept:
        term["matchExpressions"] = kept


def _move_preferred(nodes: dict[str, Any], notes: Notes) -> None:
    """A device request cannot prefer, so GPU labels of preferred terms are lost."""
    kept = []
    for index, weighted in enumerate(nodes.get(_PREFERRED, [])):
        expressions = weighted.get("preference", {}).get("matchExpressions", [])
        keys = [one["key"] for one in expressions if _tells_gpus(one)]
        if keys:
            notes.lost((index,), f"{keys[0]} selects nodes by their GPUs or pool, and device requests cannot prefer")
        else:
            kept.append(weighted)
    if _PREFERRED in nodes:
        nodes[_PREFERRED] = kept


def _tells_gpus(expression: Mapping[str, Any]) -> bool:
    key = expression["key"]
    selects = gpus.selects(key, expression["operator"], expression.get("values", []))
    return selects is not None or reserved.GPU_LABELS.match(key) is not None


def _is_empty(term: Mapping[str, Any]) -> bool:
    return not term.get("matchExpressions") and not term.get("matchFields")


def _require(spec: dict[str, Any], expressions: list[dict[str, Any]]) -> None:
    """Add expressions to every term of the required node affinity."""
    required = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {})
    terms = required.setdefault("nodeSelectorTerms", []) or [{}]
    required["nodeSelectorTerms"] = [
        {**term, "matchExpressions": [*term.get("matchExpressions", []), *copy.deepcopy(expressions)]} for term in terms
    ]


def _drop_empty(spec: dict[str, Any]) -> None:
    """Drop an affinity in which nothing is left."""
    affinity = spec.get("affinity", {})
    nodes = affinity.get("nodeAffinity", {})
    for name in [name for name, value in nodes.items() if not value]:
        del nodes[name]
    if not nodes:
        affinity.pop("nodeAffinity", None)
    if not affinity:
        spec.pop("affinity", None)
