"""Looks at what the control plane decides at the moment in which it writes it.

- A node is given once: a replica that is created has room on its cluster beside all that are there, also beside those
  that are going. A decision by old reads is left out: its replica waits, and a settled world shows how that ended.
- Tenants are apart: what is composed in a namespace names no namespace of another tenant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, controller, dig
from function.fleet.engines import nodes_taken
from function.fleet.replicas import takes_nodes
from function.planning import nodes as node_pools
from function.planning.control_plane import ControlPlane
from function.planning.simulation.invariants import Checked, Invariant, Violation
from function.planning.simulation.losses import replicas
from function.sandbox.store import Change, Ref
from function.scheduling import Matcher
from function.vocabulary import names, versions


@dataclass(slots=True)
class Decisions:
    """Looks at each change before it is made (see `Store.before_write`)."""

    control: ControlPlane
    tenants: frozenset[str]
    """The namespaces of the files."""
    checked: Checked
    violations: list[Violation] = field(default_factory=list)
    is_fresh: bool = True
    """Whether the writer has read what there is."""
    _matcher: Matcher = field(default_factory=Matcher)

    def __call__(self, change: Change) -> None:
        """Look at one change by the control plane."""
        after = change.after
        if after is None or controller(after["metadata"]) is None:
            return
        if change.before is None and change.ref[:2] == (versions.MODELPLANE, "ModelReplica") and self.is_fresh:
            self.violations += self._placed(change.ref, after)
        if change.ref.namespace in self.tenants and _is_edited(change):
            self.violations += self._apart(change.ref, after)

    def _placed(self, ref: Ref, replica: Manifest) -> Iterator[Violation]:
        name = str(dig(replica, "spec", "clusterName") or "")
        cluster = self.control.store.get(Ref(versions.MODELPLANE, "InferenceCluster", "", name))
        if cluster is None:
            return
        made = self.control.clusters.seen.made.get(names.provider_config(name))
        composite = self.control.store.get(made) if made else None
        pools = node_pools.read(cluster, composite, frozenset(), self._matcher).pools
        taken: Counter[str] = Counter()
        for other in replicas(self.control.store):
            if dig(other, "spec", "clusterName") == name and takes_nodes(other):
                taken.update(nodes_taken(dig(other, "spec", "engines")))
        for pool, more in sorted(nodes_taken(dig(replica, "spec", "engines")).items()):
            if pool not in pools or pools[pool].shared:
                continue
            self.checked[Invariant.ONCE] += 1
            if taken[pool] + more > pools[pool].nodes:
                has = f"pool {pool} of {name} has {pools[pool].nodes} nodes"
                yield Violation(Invariant.ONCE, str(ref), f"{has}, {taken[pool]} are taken, and it takes {more} more")

    def _apart(self, ref: Ref, manifest: Manifest) -> Iterator[Violation]:
        self.checked[Invariant.APART] += 1
        others = {name for name in _namespaces(manifest.get("spec")) if name in self.tenants} - {ref.namespace}
        if others:
            yield Violation(Invariant.APART, str(ref), f"names the namespace {min(others)} of another tenant")


def _is_edited(change: Change) -> bool:
    return change.before is None or change.after is None or change.before.get("spec") != change.after.get("spec")


def _namespaces(value: Any) -> Iterator[str]:
    """Every value of a field `namespace`, at any depth."""
    if isinstance(value, dict):
        for name, child in value.items():
            if name == "namespace" and isinstance(child, str):
                yield child
            elif type(child) not in (str, int, bool):
                yield from _namespaces(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _namespaces(child)
