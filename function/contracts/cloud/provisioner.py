"""The contract of a cloud that makes clusters: the kind that stands for one, what that consists of, and what the cloud
cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.nodepool import NodePool
from function.contracts.cloud.site import Resource, Site
from function.core import Manifest, NamespacedName


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A provider that Crossplane installs along with our Configuration."""

    package: str
    """Registry and repository, such as xpkg.upbound.io/upbound/provider-aws-eks."""
    version: str
    """A constraint, such as >=v2.6.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a provider would report of a managed resource."""

    external_name: str = ""
    """The name that the cloud gives it, such as vpc-0123. Empty where that is its own name."""
    at_provider: Mapping[str, Any] = field(default_factory=dict)
    """Its status.atProvider."""
    connection: Mapping[str, str] = field(default_factory=dict)
    """Keys and values of the Secret that spec.writeConnectionSecretToRef names, in clear text. Nothing is written
    where the managed resource names no Secret."""
    invented: tuple[str, ...] = ()
    """The texts in at_provider that only the cloud knows, such as ids and addresses. Plans do not show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSecret:
    """A Secret by which the cluster is reached."""

    type: str
    """provisioned.KUBECONFIG, or the type of an identity as provider-kubernetes names it."""
    of: str
    """Key of the resource that writes it. It is published once that is ready."""
    key: str
    """Key of the Secret."""
    written: NamespacedName | None = None
    """The Secret, where somebody else wrote it, as the one with the credentials that make the cluster. None for the one
    that the resource writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The StorageClass for ModelCaches."""

    name: str
    of: str
    """Key of the Object that holds it. It is published once that is ready."""


PoolFaults: TypeAlias = Callable[[Any, Any, Any], Iterable[tuple[str, str]]]
ClusterFaults: TypeAlias = Callable[[Any, Sequence[NodePool]], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioner:
    """How a cloud makes clusters: a composite kind of its own, and the provider whose resources that composes.

    An InferenceCluster composes one composite, in names.SYSTEM_NAMESPACE. Its spec holds `clusterName`, every field of
    the source's block, and `nodePools`: each pool as it is in the InferenceCluster, with the block of its class as
    `machine` and the DRA drivers of its devices as `drivers`. Its models are subclasses of those in provisioned.py.
    composition.py composes it.

    A pool that its InferenceCluster no longer has, or that shrinks, keeps the nodes that replicas take until they have
    moved.

    While a pool is invalid, or an InferenceClass cannot be read, the composite stays as it was observed.
    """

    model: ModuleType
    """The module of the composite's kind, with the names that every module in function/api has (API_VERSION, KIND,
    PLURAL, Spec, Status, ...). Its definition, Composition and reference page are generated from it. Its Spec is the
    cloud's `Cluster` block with clusterName and nodePools."""
    provider: str
    """apiVersion of the provider's ProviderConfig and ClusterProviderConfig, such as aws.m.upbound.io/v1beta1."""
    managed: tuple[ManagedKind, ...]
    """All kinds of managed resources that the composite composes. Crossplane is allowed to write them, and activates
    them."""
    packages: tuple[Package, ...]
    """The providers of those kinds."""
    resources: Callable[[Site, Any], Iterable[Resource]]
    """Return every resource that a spec asks for, whether it can be created already or not, each under its own key.

    Called once on every pass of the composite, with its parsed spec. Must be pure. May raise InvalidSpec or NotYet,
    which hold everything.
    """
    secrets: Callable[[Site, Any], Sequence[PublishedSecret]]
    """Return the Secrets by which the cluster is reached, the kubeconfig among them. Must be pure."""
    storage: Callable[[Site, Any], Storage | None] = lambda _site, _spec: None
    """Return the StorageClass whose volumes many GPU nodes can mount and write; None where there is none. Must be
    pure."""
    assumed_config: Mapping[str, Any] = field(default_factory=lambda: {"credentials": {"source": "InjectedIdentity"}})
    """The spec of a provider config that exists as far as plans know: files of a fleet contain none."""
    invented: tuple[str, ...] = ()
    """The texts that follow from assumed_config and that only a real one gives, such as its project. Plans do not show
    them."""
    keeps: tuple[str, ...] = ("machine", "zones", "capacityBlock", "fabric")
    """Fields of a node pool that the cloud does not change once it has made the pool. Edits of them are refused: the
    nodes would be made anew, under the replicas that run on them."""
    pool_faults: PoolFaults = lambda _block, _pool, _machine: ()
    """What the cloud cannot do of what a node pool asks for, beyond what the flags of the source tell.

    Called for every pool on every pass of its InferenceCluster, with the parsed block of the cluster, the pool as the
    composite has it (`Pool` of the model, with the DRA drivers of its devices), and the parsed block of its
    InferenceClass. Returns pairs of a field, relative to the pool, and a problem as the rest of a sentence that begins
    with the field. The first one becomes InvalidNodePool. Must be pure, and raise nothing.
    """
    cluster_faults: ClusterFaults = lambda _block, _pools: ()
    """What the cloud cannot do of what the whole cluster asks for: networks that are too small or overlap, say.

    Called on every pass of an InferenceCluster, with the parsed block of the cluster and its node pools. Returns pairs
    as `pool_faults` does, of a field relative to the block, or empty for the block itself. The first one becomes
    InvalidSpec, before anything is composed. The composite is judged by it, too, without its pools. Must be pure, and
    raise nothing.
    """
    scales_from_zero: bool = True
    """Whether the cloud's autoscaler adds the first node of a pool whose devices are claimed through DRA. Where it does
    not, a pool that is scaled keeps one node at least: minNodeCount defaults to 1, and 0 is refused."""
    observe: Callable[[Manifest], Observation] = lambda _manifest: Observation()
    """What the provider reports of a managed resource once the cloud has made it: for the embedded control plane, where
    there is no cloud.

    Called with a managed resource, as it is stored, whenever that has changed: first for its external name, then for
    the rest (function/planning/managed.py). Must be pure, and raise nothing.
    """
