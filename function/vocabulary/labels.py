"""Label and annotation keys, and the rule for merging them."""

from collections.abc import Mapping

from function.core import doubt

PREFIX = "modelplane.ai/"

DEPLOYMENT = "modelplane.ai/deployment"
CLUSTER = "modelplane.ai/cluster"
REPLICA_INDEX = "modelplane.ai/replica-index"
OF_REPLICA = (DEPLOYMENT, CLUSTER, REPLICA_INDEX)
"""The labels that name a ModelReplica, and that its endpoint and the objects on its cluster share."""
MODELCACHE = "modelplane.ai/modelcache"
"""Label of all that a ModelCache composes, and of the ModelReplicas that mount it: the cache. Replicas that an earlier
version of the function composed have none, so that a replica without it may mount a cache all the same."""
GPU_TAINT = "nvidia.com/gpu"
"""Key of the taint of nodes with NVIDIA GPUs. GKE sets it, and we set it elsewhere; its value differs."""
AMD_GPU_TAINT = "amd.com/gpu"
"""Key of the taint of nodes with AMD GPUs."""

REGION = "modelplane.ai/region"
"""Label that fleets usually give their InferenceClusters: the region. The function does not read it."""

SERVING = "modelplane.ai/serving"
"""Label of pods that answer requests: the replica that they serve. A gang's workers do not have it."""
WORKLOAD = "modelplane.ai/workload"
"""Label of every engine pod: its workload (Deployment or LeaderWorkerSet)."""
LWS_ROLE = "modelplane.ai/lws-role"
SHARED_POOL = "modelplane.ai/shared-pool"
"""Label of engine pods that share the nodes of a pool: the pool. By it they find the nodes that are in use."""
ENDPOINT = "modelplane.ai/endpoint"
"""Label of everything composed for a ModelEndpoint, including its egress proxy's pods: the endpoint."""
SERVICE = "modelplane.ai/service"
"""Label of the proxy of a ModelService, including its pods: the service."""
WITHDRAWN = "modelplane.ai/withdrawn"
"""Annotation of the configuration of a service's proxy, as JSON: endpoints that it leads to no longer, each with the
time of its removal in seconds since the epoch. Nothing tells when a pod has read the new configuration."""
PROBE = "modelplane.ai/probe"
"""Label of an Object that probes whether something answers: what it probes. It selects all probes, and nothing else."""
PROBE_OF_GATEWAY = "gateway"
"""Value of PROBE for a cluster's CLUSTER_GATEWAY."""
POOL = "modelplane.ai/pool"
"""Label of nodes: their pool."""
CLUSTER_ID = "modelplane.ai/cluster-id"
"""Label of the Object that identifies the Kubernetes cluster behind an InferenceCluster: the UID of that cluster's
kube-system namespace. It finds the InferenceClusters that lead to the same cluster."""
DRAIN = "modelplane.ai/drain"
"""Taint of a cluster from which a what-if drains replicas. Users may give theirs any key."""
POOLS = "modelplane.ai/pools"
"""Annotation of the Object with CLUSTER_ID: its InferenceCluster's pools, separated by commas."""
STACK = "modelplane.ai/serving-stack"
"""Annotation of the Object with CLUSTER_ID: "true" if its InferenceCluster asks for a serving stack."""

DRIVERS = "modelplane.ai/dra-drivers"
"""Annotation of the Object with CLUSTER_ID: the DRA drivers that its InferenceCluster needs, separated by commas."""

OBSERVED_CAPACITY = "modelplane.ai/observed-capacity"
"""Annotation of the Object with CLUSTER_ID: "true" if its InferenceCluster asks for the observer. None otherwise."""

OBSERVATION = "modelplane.ai/observation"
"""Label of the ConfigMaps by which the observer and the function talk: DECLARATION, OBSERVED or POD_REASONS."""
DECLARATION = "declared"
OBSERVED = "observed"
POD_REASONS = "pod-reasons"

HOLDS = "modelplane.ai/holds"
"""Label of an Object: what its remote object holds of value, which must leave before the cluster does."""
HOLDS_WEIGHTS = "weights"

MANAGED_BY = "app.kubernetes.io/managed-by"
"""Label of objects that users may install themselves: OURS if we installed them."""
OURS = "modelplane"

PLACED_UNDER = "modelplane.ai/placed-under"
"""Annotation of a ModelReplica, and of the Object of a ModelCache's claim: the clusterSelector under which it was
placed, as JSON. It tells an edited selector from a relabelled cluster."""
SPEC_HASH = "modelplane.ai/spec-hash"
"""Annotation of a ModelReplica: hash of the spec last given to it. With RENDERING it tells which replicas run the
current revision."""
RENDERING = "modelplane.ai/rendering"
"""Annotation of a ModelReplica: the version of the rules by which its workloads are composed (versions.RENDERING), as a
number. An annotation, and not a field of the spec, because it must not be pruned where the definitions are older than
the function. None counts as 1."""
MANIFEST_HASH = "modelplane.ai/manifest-hash"
"""Annotation of a replica's objects on the cluster: hash of the written manifest. It tells what has arrived there."""
ADMITTED = "modelplane.ai/admitted"
"""Annotation of the Object of a gang's workload: hash of the pod templates that its cluster has admitted."""
CONFIG_HASH = "modelplane.ai/config-hash"
"""Annotation of pods: hash of the configuration that they read at startup. A new hash rolls them."""
PICKER = "modelplane.ai/picker"
"""Label of an endpoint picker's pods: the picker."""
LLMD_ROLE = "llm-d.ai/role"
"""Label of serving pods of PrefillDecode: prefill or decode (llm-d router v0.9)."""
LLMD_ENGINE_TYPE = "llm-d.ai/engine-type"
"""Label of serving pods of PrefillDecode: how the picker reads their metrics (llm-d router v0.9)."""

MOVING_FOR = "modelplane.ai/moving-for"
"""Annotation of a ModelReplica that is to be replaced, because its pools have no room for the new spec: hash of that
spec. A successor is placed elsewhere."""

ROLL_ANYWAY = "modelplane.ai/roll-anyway"
"""Annotation of a ModelDeployment, set by users: the revision (`status.revisions[].hash`) that serving replicas get
although it was tried and did not serve, or although too few other replicas serve. `true` means every revision."""

FORMER_SPEC = "modelplane.ai/former-spec"
"""Annotation of a ModelReplica that was given more nodes in its place: the spec that it served with before, as JSON. It
returns to that spec if another replica took the same nodes at the same moment. On shared nodes it also has the engines
of specs between that one and its own. Removed once the replica is ready."""

FOUND_NOTHING = doubt.NOTE
"""Annotation of a composed resource: what the last pass looked for and did not find."""

LEAVING = "modelplane.ai/leaving"
"""Annotation of a ModelEndpoint that will be deleted once no service routes to it. The value lists the services that
routed to it on the last pass, with a question mark after each that was not found then; `-` if there were none."""

SERVED_NAMES = "modelplane.ai/served-model-name"
"""Annotation of a ModelEndpoint: the model names that it answers to, separated by commas. It is written for a replica
whose engines are recognised, and users may set it on their own endpoints."""

SERVICE_NAME = "kubernetes.io/service-name"

_NOT_FOR_USERS = ("modelplane.ai/", "crossplane.io/", "kubernetes.io/")


def merge(users: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """Merge a user's labels with ours. Ours win."""
    return {**users, **ours}


def users(labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return the labels of an object that its user set. They are passed on to composed objects."""
    return {k: v for k, v in sorted((labels or {}).items()) if not _is_managed(k)}


def _is_managed(key: str) -> bool:
    domain = key.rpartition("/")[0]
    return any(domain == d[:-1] or domain.endswith(f".{d[:-1]}") for d in _NOT_FOR_USERS)
