"""The contract of a source of clusters: what Modelplane must know of a cloud, or of clusters that exist already.

A source is a folder in `function/clouds` whose package holds a `SOURCE`, and one line in the table of the package
`function.clouds`. Nothing else knows it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

from function.contracts.cloud.nodepool import NodePool
from function.core import Composer, Manifest, Request, Requirement
from function.schema import Api
from function.vocabulary import names
from function.vocabulary.charts import Chart

KEY = "cluster"
"""Key of a cloud's composite among the resources that an InferenceCluster composes."""


@dataclass(frozen=True, slots=True)
class SecretKey:
    """One key of a Secret."""

    name: str
    key: str
    namespace: str = names.SYSTEM_NAMESPACE


@dataclass(frozen=True, slots=True)
class Access:
    """How the providers reach a cluster, and what they lack for it."""

    kubeconfig: SecretKey | None
    """None while it is not known where the kubeconfig will be."""
    identity: tuple[str, SecretKey] | None = None
    """Type and Secret of a cloud identity, where a kubeconfig alone is of no use. The type is one that
    provider-kubernetes and provider-helm know, such as GoogleApplicationCredentials."""
    missing: tuple[str, ...] = ()
    """What is missing, each as a sentence without a full stop. Anything here makes the cluster wait: its provider
    configs are not composed, and its condition ClusterReady repeats the sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedKind:
    """A kind of managed resource that a cloud's composite composes, as RBAC and activation policies name it."""

    api_version: str
    kind: str
    plural: str
    references: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Fields of spec.forProvider by which it refers to other managed resources, such as vpcIdRef or subnetIdRefs, at
    any depth, each with the kind that it refers to: a managed kind of the cloud, or Secret. Where fields of one name
    refer to several kinds, each is given by the end of its path, such as gpuCluster.idRef. No other field that ends
    with Ref or Refs is composed."""
    immutable: tuple[str, ...] = ()
    """Paths below spec.forProvider that the cloud does not change in place, such as vpcConfig.subnetIdRefs.

    The provider refuses to change them, or makes the resource anew. Once the resource was composed they keep their
    values (composition.py).
    """

    def referred(self, path: str) -> str:
        """Return the kind that a reference refers to, by the path of its field. Raises KeyError for an unknown one."""
        steps = path.split(".")
        ends = (".".join(steps[start:]) for start in range(len(steps)))
        return next((self.references[end] for end in ends if end in self.references), "") or self.references[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A provider that Crossplane installs along with our Configuration."""

    package: str
    """Registry and repository, such as xpkg.upbound.io/upbound/provider-aws-eks."""
    version: str
    """A constraint, such as >=v2.6.0."""


PoolFaults: TypeAlias = Callable[[Any, Any, Any], Iterable[tuple[str, str]]]
ClusterFaults: TypeAlias = Callable[[Any, Sequence[NodePool]], Iterable[tuple[str, str]]]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioner:
    """How a cloud makes clusters: a composite kind of its own, and the provider whose resources that composes.

    An InferenceCluster composes one composite, in names.SYSTEM_NAMESPACE. Its spec holds `clusterName`, every field of
    the source's block, and `nodePools`: each pool as it is in the InferenceCluster, with the block of its class as
    `machine` and the DRA drivers of its devices as `drivers`. Its models are subclasses of those in provisioned.py, and
    its composer is made by composition.py.

    A pool that its InferenceCluster no longer has, or that shrinks, keeps the nodes that replicas take until they have
    moved.

    While a pool is invalid, or an InferenceClass cannot be read, the composite stays as it was observed.
    """

    model: ModuleType
    """The module of the composite's kind, with the names that every module in function/api has (API_VERSION, KIND,
    PLURAL, Spec, Status, ...). Its definition, Composition and reference page are generated from it."""
    composer: Composer
    """Composes the kind. It obeys the laws in function/core/composer.py."""
    managed: tuple[ManagedKind, ...]
    """All kinds of managed resources that the composer composes. Crossplane is allowed to write them, and activates
    them."""
    packages: tuple[Package, ...]
    """The providers of those kinds."""
    provider: str
    """apiVersion of the provider's ProviderConfig and ClusterProviderConfig, such as aws.m.upbound.io/v1beta1."""
    assumed_config: Mapping[str, Any] = field(default_factory=lambda: {"credentials": {"source": "InjectedIdentity"}})
    """The spec of a provider config that exists as far as plans know: files of a fleet contain none."""
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
    InvalidSpec, before anything is composed. Must be pure, and raise nothing.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverChart:
    """The chart by which a source installs a DRA driver."""

    chart: Chart
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prerequisite:
    """An object that must be on a cluster before its DRA drivers are installed."""

    key: str
    """Its key among the resources that a ServingStack composes. Never changes."""
    manifest: Mapping[str, Any]
    after: tuple[str, ...] = ()
    """Keys of prerequisites that must be there before it."""
    stays: bool = False
    """Whether it is never deleted."""


def _no_requirements(_block: Any) -> tuple[Requirement, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where clusters come from. What a source cannot do is refused, never dropped.

    Facts about the source are read whether InferenceClusters of it are supported or not: a ServingStack names its
    source, too.
    """

    name: str
    """The value of spec.cluster.source, and of spec.provisioning.provider of an InferenceClass. In lower case it is the
    field of the source's block in both."""
    cluster: type[Api]
    """The model of the source's block in spec.cluster of an InferenceCluster. Its docstring describes the field."""
    machine: type[Api] | None = None
    """The model of the source's block in spec.provisioning of an InferenceClass, whose docstring describes the field.
    None for a source that makes no nodes."""
    provisioner: Provisioner | None = None
    """How the source makes clusters. None for a source that makes none."""

    access: Callable[[Any, Request], Access]
    """How the cluster is reached.

    Called once on every pass of an InferenceCluster of a supported source, with the parsed block and the request: look
    up composed resources in `request.observed` (the composite of a cloud under KEY), and answers to `requirements` in
    `request.required`. An answer that is not there yet is not a Secret that is missing: report nothing for it. May
    raise NotYet or InvalidSpec, which hold the whole InferenceCluster; prefer `missing`, which does not.
    """
    storage_class: Callable[[Any, Request], str | None]
    """Name of the StorageClass for ModelCaches, of which volumes can be mounted and written by many nodes.

    Called several times on every pass, with the same arguments as `access`. None where there is none, or it is not
    known yet. It is published once it was seen on the cluster. Must raise nothing.
    """
    requirements: Callable[[Any], tuple[Requirement, ...]] = _no_requirements
    """What `access` must look up.

    Called on every call of the function, before the spec is parsed, with whatever is in the block's field: None, or
    anything else that a user may have written. So it must check every type, and raise nothing. The names of
    requirements must differ from those in function/kinds/inferencecluster/inputs.py.
    """

    no_storage: str = ""
    """Why clusters of the source have no StorageClass for ModelCaches, as a sentence without a full stop. It is told in
    the condition ClusterReady. Empty for a source that can have one."""
    zones: bool = False
    """Whether a node pool can choose its zones."""
    capacity_blocks: bool = False
    """Whether a node pool can be taken from a capacity reservation."""
    fabrics: frozenset[str] = frozenset()
    """Values of fabric.type, other than None, that a node pool can have."""
    instead: str = ""
    """Ends the message that refuses a fabric: what to do instead, after a semicolon."""
    internal_load_balancer: Mapping[str, str] | None = None
    """Annotations by which a Service asks for a load balancer that is reached from inside the cloud's network only.
    None where that is not known; then spec.gateway.internal is refused."""
    driver_root: str = "/"
    """Directory in which nodes have NVIDIA's driver."""
    driver_charts: Mapping[str, DriverChart | None] = field(default_factory=dict)
    """How DRA drivers are installed, by driver, where it differs from other sources. None where the source brings the
    driver itself: nothing is installed then."""
    before_drivers: Callable[[Collection[str]], Sequence[Prerequisite]] = lambda _drivers: ()
    """Return what must be on a cluster before some DRA drivers are installed on it.

    Called on every pass of a ServingStack, with the drivers that it installs. Must be pure, and raise nothing.
    """

    @property
    def block(self) -> str:
        """The field that holds the source's block."""
        return self.name.lower()

    @property
    def is_provisioned(self) -> bool:
        """Whether clusters of the source are made by Modelplane, and deleted with their InferenceClusters."""
        return self.provisioner is not None
