"""Where a cluster comes from: one row for each source, with what it can do. A cloud is one more row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from function.api.inferencecluster import NodePool, Spec
from function.core import InvalidSpec, Request
from function.kinds.inferencecluster import inputs
from function.vocabulary import conditions as c


@dataclass(frozen=True, slots=True)
class SecretKey:
    """One key of a Secret in names.SYSTEM_NAMESPACE."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Access:
    """How the providers reach a cluster, and what they lack for it."""

    kubeconfig: SecretKey
    identity: tuple[str, SecretKey] | None = None
    """Type and Secret of a cloud identity, where a kubeconfig alone is of no use."""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a source of clusters can do. What it cannot do is refused, never dropped."""

    name: str
    access: Callable[[Spec, Request], Access]
    autoscaled: Callable[[NodePool], bool]
    """Whether something adds nodes to a pool."""
    zones: bool = False
    capacity_blocks: bool = False
    fabrics: frozenset[str] = frozenset()
    instead: str = ""
    """What to do where a fabric is refused."""

    def nodes(self, pool: NodePool) -> int:
        """Nodes that the pool can have: what it grows to where something scales it, else what it has."""
        grown = pool.maxNodeCount if self.autoscaled(pool) else None
        return pool.nodeCount if grown is None else grown


def _existing(spec: Spec, request: Request) -> Access:
    existing = spec.cluster.existing
    assert existing is not None, "a rule of the model"
    kubeconfig = SecretKey(existing.secretRef.name, existing.secretRef.key)
    missing = [inputs.secret_fault(request, inputs.KUBECONFIG, kubeconfig.name, kubeconfig.key)]
    identity = None
    if existing.identitySecretRef:
        reference = existing.identitySecretRef
        identity = (reference.type, SecretKey(reference.name, reference.key))
        missing.append(inputs.secret_fault(request, inputs.IDENTITY, reference.name, reference.key))
    return Access(kubeconfig, identity, tuple(fault for fault in missing if fault))


_SOURCES: Mapping[str, Source] = {
    source.name: source
    for source in (
        Source(
            name="Existing",
            access=_existing,
            # Nothing of ours scales it: a maxNodeCount is its owner's word that something does.
            autoscaled=lambda pool: pool.maxNodeCount is not None,
            instead="; an existing cluster is taken as it is: give its NICs as devices of the class",
        ),
    )
}


def of(spec: Spec) -> Source:
    """Raises InvalidSpec."""
    source = _SOURCES.get(spec.cluster.source)
    if source is None:
        can = ", ".join(sorted(_SOURCES))
        problem = f"{spec.cluster.source} is not supported yet; there is {can}"
        raise InvalidSpec(c.INVALID_CLUSTER(field="spec.cluster.source", problem=problem))
    return source
