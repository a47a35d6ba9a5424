"""Every label and annotation key, and the one rule for merging them."""

from collections.abc import Mapping

PREFIX = "modelplane.ai/"

DEPLOYMENT = "modelplane.ai/deployment"
CLUSTER = "modelplane.ai/cluster"
REPLICA_INDEX = "modelplane.ai/replica-index"
OF_REPLICA = (DEPLOYMENT, CLUSTER, REPLICA_INDEX)
"""The labels that name a ModelReplica, and that its endpoint and the objects on its cluster share."""
MODELCACHE = "modelplane.ai/modelcache"

SERVING = "modelplane.ai/serving"
"""On the pods that answer requests: the replica that they serve. Never on a gang's workers."""
WORKLOAD = "modelplane.ai/workload"
"""On every engine pod: the workload (Deployment or LeaderWorkerSet) that it belongs to."""
LWS_ROLE = "modelplane.ai/lws-role"
ENDPOINT = "modelplane.ai/endpoint"
"""On what a ModelEndpoint becomes, its egress proxy's pods too: the endpoint."""
PROBE = "modelplane.ai/probe"
"""On the Object that tells whether something answers: what. All probes are found by it, and nothing else is."""
PROBE_OF_GATEWAY = "gateway"
"""Of a cluster, by its CLUSTER_GATEWAY."""
POOL = "modelplane.ai/pool"
"""On nodes: the pool that they belong to."""
CLUSTER_ID = "modelplane.ai/cluster-id"
"""On the Object that tells which Kubernetes cluster an InferenceCluster leads to: the UID of that cluster's kube-system
namespace, by which those are found that lead to the same."""
DRAIN = "modelplane.ai/drain"
"""Taint of a cluster that replicas are to leave, in a what-if; people may give it any key."""
POOLS = "modelplane.ai/pools"
"""Annotation of that Object: the pools that its InferenceCluster has, with commas between."""
STACK = "modelplane.ai/serving-stack"
"""Annotation of that Object, "true" where its InferenceCluster asks for a serving stack."""

HOLDS = "modelplane.ai/holds"
"""On an Object: what of value it holds on its cluster, which must leave before the cluster goes."""
HOLDS_WEIGHTS = "weights"

MANAGED_BY = "app.kubernetes.io/managed-by"
"""On what may be someone else's as well: us, or someone else."""
OURS = "modelplane"

PLACED_UNDER = "modelplane.ai/placed-under"
"""Annotation of a ModelReplica, and of the Object of a ModelCache's claim: the clusterSelector that it was placed
under, as JSON. Tells an edit of the selector from a relabelled cluster."""
SPEC_HASH = "modelplane.ai/spec-hash"
"""Annotation of a ModelReplica: a hash of the spec that it was last given. Tells which replicas run the current one."""
MANIFEST_HASH = "modelplane.ai/manifest-hash"
"""Annotation of what a replica becomes on its cluster: a hash of what was written. Tells whether it arrived there."""
CONFIG_HASH = "modelplane.ai/config-hash"
"""Annotation of pods: a hash of the configuration that they read when they start. A new one rolls them."""
PICKER = "modelplane.ai/picker"
"""On the pods of an endpoint picker: which it is."""
LLMD_ROLE = "llm-d.ai/role"
"""On serving pods of PrefillDecode: prefill or decode (llm-d router v0.9)."""
LLMD_ENGINE_TYPE = "llm-d.ai/engine-type"
"""On serving pods of PrefillDecode: how the picker reads their metrics (llm-d router v0.9)."""

MOVING_FOR = "modelplane.ai/moving-for"
"""Annotation of a ModelReplica: the spec for which it makes way, since its pools have no room for that one. A successor
is placed."""

ROLL_ANYWAY = "modelplane.ai/roll-anyway"
"""Annotation of a ModelDeployment, set by users: the revision (`status.revisions[].hash`) that serving replicas get
although it was tried and has not served, or although too few others serve. `true` means every revision."""

FORMER_SPEC = "modelplane.ai/former-spec"
"""Annotation of a ModelReplica that was given more nodes where it stands: the spec that it served with, as JSON. It
goes back to that one if another grew into the same nodes at the same moment; gone once it is ready."""

LEAVING = "modelplane.ai/leaving"
"""Annotation of a ModelEndpoint: it is to go, and stays only until no service leads to it any more. The value names the
services that led to it on the last pass, each with a question mark if it was not found then; `-` if none did."""

SERVICE_NAME = "kubernetes.io/service-name"

_NOT_FOR_USERS = ("modelplane.ai/", "crossplane.io/", "kubernetes.io/")


def merge(users: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """The user's labels under ours: a managed key always wins."""
    return {**users, **ours}


def users(labels: Mapping[str, str] | None) -> dict[str, str]:
    """The labels of an object that are its user's, and so pass to what is composed for it."""
    return {k: v for k, v in sorted((labels or {}).items()) if not _is_managed(k)}


def _is_managed(key: str) -> bool:
    domain = key.rpartition("/")[0]
    return any(domain == d[:-1] or domain.endswith(f".{d[:-1]}") for d in _NOT_FOR_USERS)
