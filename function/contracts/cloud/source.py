"""The contract of a source of clusters: what Modelplane must know of a cloud, or of clusters that exist already.

A source is a folder in `function/clouds` whose package holds a `SOURCE`, and one line in the table of the package
`function.clouds`. Nothing else knows it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from function.contracts.cloud.provisioner import Provisioner
from function.core import Request, Requirement
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
    rebalances_zones: bool = False
    """Whether the cloud evens out the nodes of a pool over its zones, by deleting some, whatever runs on them."""
    capacity_blocks: bool = False
    """Whether a node pool can be taken from a capacity reservation."""
    fabrics: frozenset[str] = frozenset()
    """Values of fabric.type, other than None, that a node pool can have."""
    instead: str = ""
    """Ends the message that refuses a fabric: what to do instead, after a semicolon."""
    internal_load_balancer: Mapping[str, str] | None = None
    """Annotations by which a Service asks for a load balancer that is reached from inside the cloud's network only.
    None where that is not known; then spec.gateway.internal is refused."""
    load_balancer: Mapping[str, str] = field(default_factory=dict)
    """Annotations of the Service of every gateway, by which its load balancer keeps connections that are idle for as
    long as an engine may take to its first token. A user's annotations come before them."""
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
