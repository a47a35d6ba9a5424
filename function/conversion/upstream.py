"""ModelDeployments of Modelplane v0.3, whose spec is one level deeper.

There, spec has `replicas` and a `template`. `template.metadata.labels` are those of the replicas and their endpoints,
and everything else is below `template.spec`. Here, endpoints have the labels of the ModelDeployment itself.

Source: modelplane v0.3, apis/modeldeployments/definition.yaml.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from function.api.leader_worker_set import is_of_workload
from function.conversion import deployment
from function.conversion.notes import NotConvertible, Notes, Path, items, mapping, texts
from function.core import dig, dig_list
from function.schema import without_nulls

_NESTED: Path = ("spec", "template", "spec")
_LABELS: Path = ("spec", "template", "metadata", "labels")
_SERVED_NAME = "MODELPLANE_SERVED_MODEL_NAME"
"""Variable in which v0.4 passes the name that the gateway routes to."""
_GROVE = "GROVE_PCLQ_POD_INDEX"
"""Variable of Grove, which v0.3 used for gangs on clusters with the Dynamo stack."""


def is_nested(source: Mapping[str, Any]) -> bool:
    """Whether a ModelDeployment has the shape of v0.3."""
    return dig(source, "spec", "template") is not None and dig(source, "spec", "engines") is None


def converted(source: Mapping[str, Any], notes: Notes) -> list[dict[str, Any]]:
    """Return the ModelDeployment in the shape of today. Raises NotConvertible."""
    meta = deployment.metadata(source, notes)
    _note_unread(source, notes)
    given = texts(source, *_LABELS)
    if given:
        meta["labels"] = {**meta.get("labels", {}), **given}
        notes.changed(_LABELS, ("metadata", "labels"), "endpoints have the labels of the ModelDeployment")
    spec = copy.deepcopy(without_nulls(mapping(source, *_NESTED)))
    for name in spec:
        notes.changed((*_NESTED, name), ("spec", name), "is one level up")
    for name in mapping(source, "spec"):
        if name not in ("template", "replicas"):
            notes.lost(("spec", name), "is not a field of a ModelDeployment")
    for path, container in _containers(spec):
        _set_served_name(container, meta["name"], notes.at((*_NESTED, *path), ("spec", *path)))
    replicas = mapping(source, "spec").get("replicas")
    if replicas is not None:
        notes.carried(("spec", "replicas"))
        spec = {"replicas": replicas, **spec}
    return [{"apiVersion": source["apiVersion"], "kind": source["kind"], "metadata": meta, "spec": spec}]


def _note_unread(source: Mapping[str, Any], notes: Notes) -> None:
    for field in ("labels", "annotations"):
        for key in filter(is_of_workload, texts(source, "metadata", field)):
            notes.lost(("metadata", field, key), "is not read there: set it in leaderWorkerSet of the engine")


def _containers(spec: Mapping[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for number, engine in enumerate(items(spec, "engines", at=_NESTED)):
        for index, member in enumerate(items(engine, "members", at=(*_NESTED, "engines", number))):
            path: Path = ("engines", number, "members", index, "template", "spec", "containers")
            at = (*_NESTED, "engines", number, "members", index)
            for position, container in enumerate(items(member, "template", "spec", "containers", at=at)):
                if not isinstance(container, dict):
                    raise NotConvertible((*_NESTED, *path, position), "must be a map of fields")
                yield (*path, position), container


def _set_served_name(container: dict[str, Any], name: str, notes: Notes) -> None:
    """Set the variable that v0.4 sets, if the command line refers to it."""
    words = " ".join(str(word) for field in ("command", "args") for word in dig_list(container, field))
    if _GROVE in words:
        notes.left(("args",), ("args",), f"uses {_GROVE}, which nothing sets here: use MODELPLANE_RANK")
    variables = dig_list(container, "env")
    is_set = any(isinstance(one, dict) and one.get("name") == _SERVED_NAME for one in variables)
    if _SERVED_NAME in words and not is_set:
        container["env"] = [{"name": _SERVED_NAME, "value": name}, *variables]
        notes.changed(
            ("args",), ("env", 0), f"uses {_SERVED_NAME}, which Modelplane does not set here: it is {name} now"
        )
