"""Finds what a deployment names and no cluster has: labels in selectors of clusters, attributes, values and domains in
selectors of devices.

Such a *mistake* is the cause of many rejections. It is one only if it explains them: a selector that some device of the
fleet satisfies is right, and so is a request that some device satisfies as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import cast

from function import cel
from function.core import closest, enumerate_names
from function.kinds.modeldeployment.decide import Decision
from function.scheduling import (
    CACHES_SELECTOR,
    DEPLOYMENTS_SELECTOR,
    Change,
    ClusterBreakdown,
    Deselect,
    DeviceRequest,
    Engine,
    Member,
    Reselect,
    Reword,
    Selector,
    conflict,
    selecting,
)
from function.scheduling.rejection import LabelMismatch, NoDevice, SelectorError, TooFewDevices
from function.vocabulary import crossplane

_Path = tuple[str, str, str]
_IS = {"attributes": "attribute", "capacity": "capacity"}


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that does not exist, and why clusters therefore reject."""

    message: str
    clusters: frozenset[str]
    """The clusters that reject because of it."""
    fix: Change | None = None
    """What names the nearest thing that exists."""


def causes(decision: Decision, found: Iterable[ClusterBreakdown]) -> tuple[Cause, ...]:
    """Return the mistakes of a deployment, those in its selectors of clusters first."""
    rejected = tuple(found)
    return (*_conflict(decision, rejected), *_labels(decision, rejected), *_devices(decision, rejected))


# Selectors of clusters


def _conflict(decision: Decision, rejected: tuple[ClusterBreakdown, ...]) -> Iterator[Cause]:
    """Two selectors that no cluster can satisfy together."""
    found = conflict(decision.job)
    if found is None:
        return
    key, ours, caches = found
    there = frozenset(b.cluster.name for b in rejected if isinstance(b.reason, LabelMismatch) and b.reason.key == key)
    problem = f"{DEPLOYMENTS_SELECTOR} wants {key}={ours}, and {CACHES_SELECTOR} {key}={caches}"
    yield Cause(f"no cluster can satisfy both selectors: {problem}", there, Deselect(key, (DEPLOYMENTS_SELECTOR,)))


def _labels(decision: Decision, rejected: tuple[ClusterBreakdown, ...]) -> Iterator[Cause]:
    reasons = {b.cluster.name: b.reason for b in rejected if isinstance(b.reason, LabelMismatch)}
    there = [cluster.labels for cluster in decision.inputs.fleet.clusters.values()]
    keys = {known for has in there for known in has} - {crossplane.COMPOSITE}
    for key, wanted in sorted({(reason.key, reason.wanted) for reason in reasons.values()}):
        if any(has.get(key) == wanted for has in there):
            continue
        values = {has[key] for has in there if key in has}
        fix = _reselect(decision, (key, wanted), values, keys)
        clusters = frozenset(name for name, r in reasons.items() if (r.key, r.wanted) == (key, wanted))
        known = _known(wanted, values) if values else _known(key, keys)
        hint = f"did you mean {'='.join(fix.label)}?" if fix else known
        where = " and ".join(selecting(decision.job, key))
        yield Cause(f"no cluster has label {key}={wanted}, which {where} requires; {hint}", clusters, fix)


def _reselect(decision: Decision, label: tuple[str, str], values: set[str], keys: set[str]) -> Reselect | None:
    key, wanted = label
    meant = (key, closest(wanted, values)) if values else (closest(key, keys), wanted)
    if meant[0] is None or meant[1] is None:
        return None
    return Reselect(key, wanted, (meant[0], meant[1]), selecting(decision.job, key))


# Selectors of devices


@dataclass(frozen=True, slots=True)
class _Mistake:
    """Something that a selector reads and no device has."""

    problem: str
    hint: str
    fix: Change | None


def _devices(decision: Decision, rejected: tuple[ClusterBreakdown, ...]) -> Iterator[Cause]:
    devices = _published(decision)
    if not devices:
        return
    told: dict[_Mistake, Cause] = {}
    for engine, member, request in _requests(decision.job.engines):
        there = _rejecting(rejected, engine, request)
        if _is_met(request, devices):
            continue
        where = f"which request {request.name} of engine {engine.name} ({member.role}) reads"
        for one in dict.fromkeys(found for selector in request.selectors for found in _mistakes(selector, devices)):
            before = told.get(one, Cause(f"{one.problem}, {where}; {one.hint}", frozenset(), one.fix))
            told[one] = replace(before, clusters=before.clusters | there)
    yield from told.values()


def _published(decision: Decision) -> tuple[cel.Device, ...]:
    """Every distinct device of the fleet."""
    pools = (pool for cluster in decision.inputs.fleet.clusters.values() for pool in cluster.pools)
    found = {device.published: None for pool in pools for device in pool.shape.devices}
    return tuple(cast("cel.Device", device) for device in found)


def _requests(engines: Iterable[Engine]) -> Iterator[tuple[Engine, Member, DeviceRequest]]:
    return ((engine, member, r) for engine in engines for member in engine.members for r in member.requests)


def _rejecting(rejected: Iterable[ClusterBreakdown], engine: Engine, request: DeviceRequest) -> set[str]:
    """The clusters that reject because of a request."""
    kinds = (NoDevice, SelectorError, TooFewDevices)
    return {
        b.cluster.name
        for b in rejected
        if isinstance(b.reason, kinds) and (b.reason.engine, b.reason.request) == (engine.name, request.name)
    }


def _is_met(request: DeviceRequest, devices: Iterable[cel.Device]) -> bool:
    return any(all(selector.judge(device) is True for selector in request.selectors) for device in devices)


def _mistakes(selector: Selector, devices: tuple[cel.Device, ...]) -> Iterator[_Mistake]:
    """Yield what a selector reads and no device has, and what to write instead."""
    if any(selector.judge(device) is True for device in devices):
        return
    paths = {path for device in devices for path in cel.names(device)}
    missing = [path for path in cel.references(selector.text) if path not in paths]
    yield from (_unknown(selector.text, path, paths) for path in missing)
    for read in cel.reads(selector.text):
        has = {value for device in devices if (value := cel.published(device, *read.path)) is not None}
        values = [word.text for word in read.values]
        if values and read.path not in missing and not has & {*values}:
            yield from (_unequal(selector.text, read.path, value, has) for value in values)


def _unknown(text: str, path: _Path, paths: set[_Path]) -> _Mistake:
    where, domain, name = path
    domains = {known for _, known, _ in paths}
    if domain not in domains:
        problem = f"no device in the fleet has attributes or capacities of domain {domain}"
        return _mistake(text, problem, domain, domains)
    problem = f"no device in the fleet has {_IS[where]} {name} of {domain}"
    other = next(iter(_IS.keys() - {where}))
    if (other, domain, name) in paths:
        return _Mistake(problem, f"{name} is in device.{other}", None)
    return _mistake(text, problem, name, {known for there, of, known in paths if (there, of) == (where, domain)})


def _unequal(text: str, path: _Path, value: str, has: set[str]) -> _Mistake:
    what = "driver" if path == cel.DRIVER else f"{_IS[path[0]]} {path[2]}"
    return _mistake(text, f"no device in the fleet has {what} {value}", value, has)


def _mistake(text: str, problem: str, name: str, known: set[str]) -> _Mistake:
    return _Mistake(problem, _known(name, known), _rewrite(text, name, _nearest(name, known)))


def _rewrite(text: str, old: str, new: str | None) -> Reword | None:
    """Return the selector with another word; None if there is no such word, or the text would not compile."""
    if new is None:
        return None
    changed = re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w.-])|(?<=\.){re.escape(old)}(?![\w-])", lambda _: new, text)
    try:
        cel.facts(changed)
    except cel.InvalidSelector:
        return None
    return Reword(text, changed, f"write {new} instead of {old} in the selector")


def _known(name: str, known: set[str]) -> str:
    """The names that exist, the nearest first; a question if one is near."""
    meant = _nearest(name, known)
    near = sorted(known, key=lambda one: (one != meant, -SequenceMatcher(None, name.lower(), one.lower()).ratio(), one))
    told = enumerate_names(near) or "none"
    return f"did you mean {meant}? There are: {told}" if meant else f"there are: {told}"


def _nearest(name: str, known: set[str]) -> str | None:
    """The known name that is meant: a similar one, or the only one that a name abbreviates."""
    longer = [one for one in known if one.lower().startswith(name.lower())]
    return longer[0] if len(longer) == 1 else closest(name, known)
