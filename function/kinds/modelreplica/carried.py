"""Secrets and ConfigMaps that the templates refer to, under their names on the replica's cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from function.core import NamespacedName, NotYet, Request, doubt, plain
from function.kinds.modelreplica import inputs, readiness
from function.kinds.modelreplica.inputs import Source
from function.manifests import copies
from function.vocabulary import conditions as c
from function.vocabulary import names

_ABSENT = "absent"


def name(replica: NamespacedName, source: Source) -> str:
    """Return the name of a copy.

    It contains a hash of the content, so a changed value rolls the pods that refer to it.
    """
    content = [source.type, dict(source.data), dict(source.binary)]
    return names.part(replica, source.kind.lower(), source.name, content=content)


def absent(replica: NamespacedName, kind: str, source: str) -> str:
    """Return the name used for an optional object that does not exist. It never changes."""
    return names.part(replica, kind.lower(), source, _ABSENT)


def check_absent(request: Request) -> None:
    """Raise NotYet on the first empty look-up of an optional object that running pods have."""
    workloads = sorted(filter(readiness.is_workload, request.observed))
    named = {absent(request.identity, kind, name): f"{kind} {name}" for kind, name in inputs.absent(request)}
    if not workloads or not named:
        return
    running = "".join(json.dumps(plain(request.observed[key])) for key in workloads)
    vanished = [called for called in sorted(named) if called not in running]
    if any(not doubt.is_believed(request, called, workloads[0]) for called in vanished):
        found = ", ".join(sorted(named[called] for called in vanished))
        why = f"{found} in namespace {request.identity.namespace}, to be looked up once more"
        raise NotYet(c.WAITING_FOR_SOURCES(why=why), decided=doubt.keep(request, workloads[0], *vanished))


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
