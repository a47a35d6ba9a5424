"""Warnings about the model names to which the endpoints of a service answer.

Without a proxy, requests are divided by weight only, so each name must be answered by all. With one, a request goes to
the endpoints that answer to the name it asks for. An endpoint whose requests get another name (`model`), or whose names
are not known, can be asked for any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from function.core import Manifest, NamespacedName, dig, identity
from function.fleet import served_names
from function.schema import Path
from function.validation import engines

_AT: Path = ("spec", "endpoints")
_REMEDY = "set model of the entries to the name that their endpoints know"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a service."""

    at: int
    spec: Manifest
    servers: tuple[Manifest, ...]
    """The endpoints that belong to it, and the deployments whose endpoints will."""

    @property
    def priority(self) -> int:
        return int(self.spec.get("priority") or 0)


@dataclass(frozen=True, slots=True)
class _Named:
    """An entry, and the names that its servers answer to."""

    entry: Entry
    names: tuple[tuple[str, tuple[str, ...]], ...]
    """By server; no names if it can be asked for any."""

    @property
    def answered(self) -> frozenset[str]:
        """All names; none if one of the servers can be asked for any name, or there are no servers."""
        is_open = not all(names for _, names in self.names)
        return frozenset() if is_open else frozenset(name for _, names in self.names for name in names)


def problems(
    entries: Sequence[Entry], caches: Mapping[NamespacedName, Manifest], *, is_proxied: bool
) -> Iterator[tuple[Path, str, str]]:
    """Yield field, problem and code."""
    yield from _refused(entries, caches)
    named = [_named(entry, caches) for entry in entries]
    if is_proxied:
        yield from _undivided(named)
        yield from _untaken(named)
    elif differing := served_names.differing(sorted(one for found in named for one in found.names)):
        problem = f"select no model name that all of them answer, so a part of the requests fails: {differing}"
        yield _AT, f"{problem}; {_REMEDY}", "model-names"


def of_engines(deployment: Manifest, caches: Mapping[NamespacedName, Manifest]) -> Iterator[tuple[Path, str, str]]:
    """Yield field, problem and code of the engines of a deployment, if no model name is answered by all of them.

    A request goes to any engine, so that a service in front of the deployment cannot tell them apart.
    """
    each = [
        (engine["name"], engines.names(_alone(deployment, engine), caches)) for engine in deployment["spec"]["engines"]
    ]
    if engines.is_cache_known(deployment, caches) and (differing := served_names.differing(each)):
        problem = f"answer to no common model name, so a part of the requests fails: {differing}"
        yield ("spec", "engines"), f"{problem}; give all of them the same name", "model-names"


def _alone(deployment: Manifest, engine: Manifest) -> Manifest:
    return {**deployment, "spec": {**deployment["spec"], "engines": [engine]}}


def _named(entry: Entry, caches: Mapping[NamespacedName, Manifest]) -> _Named:
    def answered(server: Manifest) -> tuple[str, ...]:
        is_renamed = entry.spec.get("model") or dig(server, "spec", "model")
        return () if is_renamed else engines.names(server, caches)

    return _Named(entry, tuple((identity(server).name, answered(server)) for server in entry.servers))


def _refused(entries: Sequence[Entry], caches: Mapping[NamespacedName, Manifest]) -> Iterator[tuple[Path, str, str]]:
    """A name in place of the client's that an endpoint is known not to answer to."""
    for entry in entries:
        model = entry.spec.get("model")
        known = [(identity(server).name, engines.names(server, caches)) for server in entry.servers if model]
        for server, names in known:
            if names and model not in names:
                problem = f"is a name that {server} refuses with 404: it answers to {served_names.listed(names)} only"
                yield (*_AT, entry.at, "model"), problem, "override"


def _undivided(named: Sequence[_Named]) -> Iterator[tuple[Path, str, str]]:
    """Weighted entries of one priority that share no name, so that no request can go to either."""
    for position, later in enumerate(named):
        for earlier in named[:position]:
            is_weighted = any("weight" in one.entry.spec for one in (earlier, later))
            is_same = earlier.entry.priority == later.entry.priority
            if is_weighted and is_same and _are_apart(earlier.answered, later.answered):
                other = f"spec.endpoints[{earlier.entry.at}]"
                told = served_names.differing((*earlier.names, *later.names))
                problem = f"shares no model name with {other}: {told}. Each gets the requests for its own names"
                problem = f"{problem}, whatever the weights; to divide those for one name, {_REMEDY}"
                yield (*_AT, later.entry.at), problem, "model-names"
                break


def _untaken(named: Sequence[_Named]) -> Iterator[tuple[Path, str, str]]:
    """Priorities that answer to none of the names of those before them."""
    for priority in sorted({one.entry.priority for one in named} - {0}):
        earlier = [one for one in named if one.entry.priority < priority and one.names]
        own = [one for one in named if one.entry.priority == priority and one.names]
        if not all(one.answered for one in (*earlier, *own)):
            continue
        before, after = (frozenset(name for one in found for name in one.answered) for found in (earlier, own))
        if _are_apart(before, after):
            problem = (
                f"has priority {priority}, which takes over nothing: it answers to {served_names.listed(sorted(after))}"
            )
            problem = f"{problem}, and what comes before it to {served_names.listed(sorted(before))}; {_REMEDY}"
            yield (*_AT, own[0].entry.at), problem, "model-names"


def _are_apart(some: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two known sets of names have none in common."""
    return bool(some) and bool(others) and some.isdisjoint(others)
