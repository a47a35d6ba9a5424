"""The model names that a replica answers to, read from `spec.engines` of a ModelReplica or a ModelDeployment.

A request goes to any engine of a replica, and in PrefillDecode to two of them. So a name counts only if every engine
answers to it, and, of a gang whose workers serve, every member. If one engine's names are not known, or one takes any
name, the replica's names are not known.

The names are in the annotation SERVED_NAMES of a replica's ModelEndpoint, separated by commas. Users can set it on
ModelEndpoints of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from function import podspec
from function.core import MOST_DESCRIBED, Manifest, dig, enumerate_names, quote
from function.engines import injection, models, reading
from function.fleet.engines import takes_requests
from function.fleet.values import mappings
from function.vocabulary import labels

_LONGEST = 2048
"""Characters of the annotation. Longer ones are not written."""


def of_engines(engines: Any, repository: str | None) -> tuple[str, ...]:
    """Return the names that all engines answer to, the main one first; none if they are not known.

    `repository` is that of the ModelCache with the weights, and None without a cache. The engines need not be valid.
    """
    each = [names for engine in mappings(engines) for names in _of_engine(engine, repository)]
    return common(names or () for names in each) if each and all(each) else ()


def common(each: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return what all of several lists of names have in common, in the order of the first."""
    first, *others = each
    return tuple(name for name in first if all(name in other for other in others))


def differing(servers: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return which servers answer to which model names, if no name is answered by all; else "".

    `servers` are pairs of a server's name and the model names that it answers to, none if they are not known.
    """
    known = [(server, names) for server, names in servers if names]
    if not known or common(names for _, names in known):
        return ""
    by_names: dict[tuple[str, ...], list[str]] = {}
    for server, names in known:
        by_names.setdefault(tuple(names), []).append(server)
    told = [f"{enumerate_names(who)} to {listed(names)}" for names, who in by_names.items()]
    more = f" and {len(told) - MOST_DESCRIBED} more" if len(told) > MOST_DESCRIBED else ""
    return f"{', '.join(told[:MOST_DESCRIBED])}{more}"


def listed(names: Sequence[str]) -> str:
    """Return model names for a message, each in quotes."""
    return quote(enumerate_names([json.dumps(name, ensure_ascii=False) for name in names], MOST_DESCRIBED))


def annotation(names: Sequence[str]) -> dict[str, str]:
    """Return the annotation with the names; nothing if there are none, or if they cannot be written."""
    text = ",".join(names)
    is_plain = bool(names) and len(text) <= _LONGEST and all("," not in name for name in names)
    return {labels.SERVED_NAMES: text} if is_plain else {}


def of_endpoint(endpoint: Manifest) -> tuple[str, ...]:
    """Return the names in the annotation of a ModelEndpoint; none if it has none."""
    text = dig(endpoint, "metadata", "annotations", labels.SERVED_NAMES)
    return tuple(filter(None, map(str.strip, text.split(",")))) if isinstance(text, str) else ()


def _of_engine(engine: Manifest, repository: str | None) -> Iterator[tuple[str, ...] | None]:
    """Yield the names of each member that serves; None if they are not known."""
    runtime = engine.get("runtime")
    served = [container for member in mappings(engine.get("members")) if (container := _serving_container(member))]
    for container in served:
        yield _of_container(container, runtime if isinstance(runtime, str) else None, repository)
    if not served:
        yield None


def _serving_container(member: Manifest) -> Mapping[str, Any] | None:
    return _container(member) if takes_requests(member) else None


def _container(member: Manifest) -> Mapping[str, Any] | None:
    containers = list(mappings(dig(member, "template", "spec", "containers")))
    index = podspec.engine_index(containers)
    return None if index is None else containers[index]


def _of_container(container: Mapping[str, Any], runtime: str | None, repository: str | None) -> tuple[str, ...] | None:
    """Return the names of a container's engine, with the flags that it is given."""
    read = reading.read(container, runtime)
    if repository is None:
        return models.served_names(read)
    given = injection.of_weights(read, injection.WEIGHTS, repository)
    args = container.get("args")
    with_flags = {**container, "args": [*(args if isinstance(args, list | tuple) else ()), *given.args]}
    return models.served_names(reading.read(with_flags, runtime) if given.args else read)
