"""The explanation of a ModelDeployment, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from function.cli.shared_report import pods_that_fit
from function.core import enumerate_names, plain, plural

if TYPE_CHECKING:
    from function.kinds.modeldeployment.explain import PoolExplanation
    from function.planning.explanation.deployments import DeploymentExplanation, Rejecting
    from function.planning.explanation.remedies import Remedy


def data(what: str, found: DeploymentExplanation) -> dict[str, Any]:
    """The complete explanation as data."""
    own = asdict(found, dict_factory=_without_unshared)
    told: dict[str, Any] = plain({"object": what, "cause": own.pop("causes"), **own})
    return told


def _without_unshared(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A part of an explanation as data. What is empty for most deployments is left out."""
    found = {name: value for name, value in pairs if name not in ("devices", "waiting") or value}
    if "waiting" in found:
        found["waiting"] = [{"replica": replica, "message": words} for replica, words in found["waiting"]]
    if "guaranteed" in found:
        found["guaranteed"] = [{"count": count, "pods": pods} for count, pods in found["guaranteed"]]
    return found


def lines(what: str, found: DeploymentExplanation) -> Iterator[str]:
    """The explanation as text: the causes, then the clusters, those that reject for the same reason together."""
    yield f"{what}: {found.placed} of {found.wanted} replicas are placed."
    yield from (f"Cause: {cause.message}" for cause in found.causes)
    if found.is_complete:
        yield "Nothing is missing."
    for name, words in found.waiting:
        yield f"Replica {name} does not serve. {words}"
    yield from found.conditions
    groups = _groups(found.clusters)
    known = [group for group in groups if not _is_beyond_limit(group[0])]
    caused = {name for cause in found.causes for name in cause.clusters}
    for group in known:
        yield ""
        yield from _headings(group)
        yield from (f"  {condition}" for condition in group[0].conditions)
        yield from () if group[0].name in caused else _pools(group)
        yield from map(_remedy, group[0].remedies)
    yield from _folded([one for group in groups if group not in known for one in group])


def _groups(clusters: Sequence[Rejecting]) -> list[list[Rejecting]]:
    """The clusters by their groups, those of a cause and then by the name of the first."""
    groups: dict[int, list[Rejecting]] = {}
    for one in clusters:
        groups.setdefault(one.group, []).append(one)
    return list(groups.values())


def _is_beyond_limit(cluster: Rejecting) -> bool:
    return bool(cluster.remedies) and all(remedy.is_beyond_limit for remedy in cluster.remedies)


def _headings(group: Sequence[Rejecting]) -> Iterator[str]:
    """A cluster and its reason, or several that reject for the same one."""
    if len(group) == 1:
        yield f"{group[0].name}  {group[0].reason}: {group[0].message}"
        return
    names = enumerate_names([one.name for one in group])
    yield f"{plural(len(group), 'cluster')} reject for the same reason: {names}"
    yield from dict.fromkeys(f"  {one.reason}: {one.message}" for one in group)


def _pools(group: Sequence[Rejecting]) -> Iterator[str]:
    """The pools of a cluster, and what is wrong with each. Of several clusters, only the latter is the same."""
    for pool in group[0].pools:
        if len(group) == 1:
            yield f"  pool {pool.name}: {_free(pool)}"
        yield from (f"    {problem}" for problem in (*pool.problems, *([pool.note] if pool.note else ())))


def _remedy(remedy: Remedy) -> str:
    changes, why = "; ".join(remedy.changes), f" ({remedy.why})" if remedy.why else ""
    together = " together" if len(remedy.changes) > 1 else ""
    if remedy.helps:
        return f"  would help{together}: {changes}{why}"
    return f"  {'does not help' if remedy.tried else 'may help, not tried'}{together}: {changes}{why}"


def _folded(rest: Sequence[Rejecting]) -> Iterator[str]:
    """Clusters for which no change was tried because of the limit, by their reasons."""
    by_reason: dict[str, list[str]] = {}
    for one in rest:
        by_reason.setdefault(one.reason, []).append(one.name)
    if rest:
        yield ""
        yield f"Not tried, because of the limit: changes for {plural(len(rest), 'cluster')}. -o json lists them."
    yield from (f"  {reason}: {enumerate_names(names)}" for reason, names in by_reason.items())


def _free(pool: PoolExplanation) -> str:
    if not pool.devices:
        return f"{max(pool.free, 0)} of {pool.nodes} nodes free"
    return "; ".join(
        f"{d.free} of {d.total} {d.name} free; pods that fit, wherever the others are: {pods_that_fit(d.guaranteed)}"
        for d in pool.devices
    )
