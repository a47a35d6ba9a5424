"""The smallest change that would place one more replica on a cluster. Each is tried before it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.scheduling import rejection
from function.scheduling.breakdown import ClusterAnatomy
from function.scheduling.explain import standings
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import Cluster, Fleet
from function.scheduling.job import Job
from function.scheduling.plan import Plan

_MOST_NODES = 64
"""Nodes beyond which adding some is no small change."""


@dataclass(frozen=True, slots=True)
class Remedy:
    cluster: str
    change: str
    """What to do, in words."""


def remedies(job: Job, fleet: Fleet, plan: Plan, fitter: Fitter, found: tuple[ClusterAnatomy, ...]) -> Iterator[Remedy]:
    """By cluster. None for a cluster that one change does not open."""
    ledger = standings(job, fleet, plan).ledger
    for anatomy in found:
        cluster, free = anatomy.cluster, dict(ledger.on(anatomy.cluster.name))
        if isinstance(fitter.fit(cluster, free), Fit):
            yield from _past_the_gate(anatomy)
        elif isinstance(anatomy.reason, rejection.Full) and (more := _more_nodes(fitter, cluster, free)):
            pool, nodes = more
            yield Remedy(cluster.name, _nodes(anatomy.reason, pool, nodes))


def _past_the_gate(anatomy: ClusterAnatomy) -> Iterator[Remedy]:
    """There is room: only the gate is shut."""
    name = anatomy.cluster.name
    match anatomy.reason:
        case rejection.Tainted(key=key, value=value, effect=effect):
            yield Remedy(name, f"tolerate {key}{f'={value}' if value else ''}:{effect} in spec.tolerations")
        case rejection.LabelMismatch(key=key, wanted=wanted):
            yield Remedy(name, f"label the cluster {key}={wanted}, or take {key} out of the selector")
        case rejection.NotReady():
            yield Remedy(name, "make the cluster Ready: its own conditions say what is missing")
        case rejection.NoGatewayAddress():
            yield Remedy(name, "give its gateway an address")
        case rejection.NotInCacheFootprint():
            yield Remedy(name, "let the ModelCache's clusterSelector select the cluster")


def _more_nodes(fitter: Fitter, cluster: Cluster, free: dict[str, int]) -> tuple[str, int] | None:
    """The pool to which fewest nodes must be added, and how many."""
    for nodes in range(1, _MOST_NODES + 1):
        for pool in sorted(free):
            if isinstance(fitter.fit(cluster, {**free, pool: free[pool] + nodes}), Fit):
                return pool, nodes
    return None


def _nodes(full: rejection.Full, pool: str, nodes: int) -> str:
    count = f"{nodes} node{'' if nodes == 1 else 's'}"
    held = f", or free {'it' if nodes == 1 else 'them'} of {', '.join(full.held_by)}" if full.held_by else ""
    return f"add {count} to pool {pool}{held}"
