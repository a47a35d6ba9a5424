"""What the templates name of the control cluster, as it is called on the replica's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import names
from function.core import NamespacedName
from function.kinds.modelreplica.inputs import Source
from function.manifests import copies

_ABSENT = "absent"


def name(replica: NamespacedName, source: Source) -> str:
    """Its content is in its name: a new value is a new object, and the pods that refer to it roll."""
    content = [source.type, dict(source.data), dict(source.binary)]
    return names.part(replica, source.kind.lower(), source.name, content=content)


def absent(replica: NamespacedName, kind: str, source: str) -> str:
    """What is optional and not there, under a name that stays so."""
    return names.part(replica, kind.lower(), source, _ABSENT)


def manifest(replica: NamespacedName, source: Source, labels: Mapping[str, str]) -> dict[str, Any]:
    called = name(replica, source)
    if source.kind == "Secret":
        return copies.secret(
            name=called, namespace=replica.namespace, type_=source.type, data=source.data, labels=labels
        )
    return copies.config_map(
        name=called,
        namespace=replica.namespace,
        data=source.data,
        binary_data=source.binary,
        immutable=True,
        labels=labels,
    )
