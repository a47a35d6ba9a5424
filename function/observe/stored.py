"""The ConfigMaps in the observer's own namespace: declarations to read, and texts to write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from function.core import dig
from function.observe import declaration
from function.observe.declaration import Declaration, MalformedDeclaration
from function.observe.kinds import Kind
from function.vocabulary import labels, names
from function.vocabulary.observation import MOST_REASONS, REASONS_KEY


@dataclass(frozen=True, slots=True)
class Stored:
    """A ConfigMap of an observation."""

    name: str
    uid: str
    role: str
    """Value of its label OBSERVATION."""
    digest: str
    """Identifies its data."""
    declared: Declaration | None = None
    problem: str = ""
    """Why its declaration cannot be used."""
    space: str = ""
    """The namespace of which it has the pod reasons."""


def kind(namespace: str) -> Kind:
    return Kind(
        "configmaps",
        f"/api/v1/namespaces/{namespace}/configmaps",
        read,
        {"labelSelector": labels.OBSERVATION},
        namespace,
    )


def read(config_map: Any) -> Stored | None:
    name, uid = dig(config_map, "metadata", "name"), dig(config_map, "metadata", "uid")
    role = dig(config_map, "metadata", "labels", labels.OBSERVATION)
    if not isinstance(name, str) or not isinstance(role, str):
        return None
    declared, problem = None, ""
    if role == labels.DECLARATION:
        try:
            declared = _declared(name, config_map)
        except MalformedDeclaration as malformed:
            problem = str(malformed)
    data = dig(config_map, "data")
    told = digest(data if isinstance(data, Mapping) else {})
    return Stored(name, str(uid or ""), role, told, declared, problem, _space(name, config_map))


def _declared(name: str, config_map: Any) -> Declaration:
    """Raises: MalformedDeclaration; also if it has another name: two of one cluster would write over each other."""
    declared = declaration.read(config_map)
    wanted = names.declared(declared.cluster)
    if name != wanted:
        raise MalformedDeclaration(f"the declaration of {declared.cluster} must be named {wanted}")
    return declared


def _space(name: str, config_map: Any) -> str:
    """The namespace in pod reasons, if they have the name that belongs to it."""
    text = dig(config_map, "data", REASONS_KEY)
    if not isinstance(text, str) or len(text) > MOST_REASONS:
        return ""
    try:
        space = dig(json.loads(text), "namespace")
    except (ValueError, RecursionError):
        return ""
    return space if isinstance(space, str) and names.pod_reasons(space) == name else ""


def digest(data: Mapping[str, Any]) -> str:
    total = hashlib.sha256()
    for key, value in sorted(data.items()):
        for text in (str(key), str(value)):
            encoded = text.encode(errors="replace")
            total.update(f"{len(encoded)}:".encode())
            total.update(encoded)
    return total.hexdigest()


def config_map(
    *, name: str, namespace: str, role: str, data: Mapping[str, str], owners: Iterable[Stored]
) -> dict[str, Any]:
    """A ConfigMap that the cluster deletes when all of its owners are gone, as an observation without a declaration."""
    references = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": owner.name, "uid": owner.uid} for owner in owners if owner.uid
    ]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {labels.OBSERVATION: role},
            **({"ownerReferences": references} if references else {}),
        },
        "data": dict(data),
    }
