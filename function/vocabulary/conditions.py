"""The condition types and reasons of all kinds."""

from function.core import Concern, ConditionType

_HELD = "what runs stays as it is"
_DECLARED = "the declared capacity counts"

# ModelDeployment: is every replica placed?
REPLICAS_SCHEDULED = ConditionType("ReplicasScheduled")
REPLICAS_CREATED = REPLICAS_SCHEDULED.true("ReplicasCreated", "{placed} of {wanted} replicas are placed{remark}")
SCHEDULED_TO_ZERO = REPLICAS_SCHEDULED.true("ScaledToZero", "spec.replicas is 0")
INSUFFICIENT_CAPACITY = REPLICAS_SCHEDULED.false(
    "InsufficientCapacity", "{placed} of {wanted} replicas are placed; {why}"
)
SELECTOR_CONFLICT = REPLICAS_SCHEDULED.false(
    "SelectorConflict", "{placed} of {wanted} replicas are placed; no cluster can satisfy both selectors: {why}"
)
SCHEDULING = REPLICAS_SCHEDULED.waiting("Scheduling", "Waiting for {missing}")
NO_CLUSTERS = REPLICAS_SCHEDULED.false("NoClusters", f"There is no InferenceCluster; {_HELD}")
INVALID_NODE_SELECTOR = REPLICAS_SCHEDULED.false("InvalidNodeSelector", "{field}: {problem}; " + _HELD)
INVALID_DEPLOYMENT = REPLICAS_SCHEDULED.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# ModelDeployment: do the replicas serve?
REPLICAS_READY = ConditionType("ReplicasReady")
ALL_REPLICAS_READY = REPLICAS_READY.true("AllReplicasReady", "{ready} of {wanted} replicas are ready{remark}")
READY_AT_ZERO = REPLICAS_READY.true("ScaledToZero", "spec.replicas is 0")
NO_REPLICAS_SCHEDULED = REPLICAS_READY.waiting("NoReplicasScheduled", "No replica is placed")
MODEL_STARTING = REPLICAS_READY.waiting(
    "ModelStarting", "{ready} of {wanted} replicas serve, {placed} are placed{remark}"
)
ROLLING_OUT = REPLICAS_READY.false(
    "RollingOut", "{updated} of {wanted} replicas run the current spec; waiting for {waiting}", Concern.NONE
)
ROLLOUT_WAITS = REPLICAS_READY.false(
    "RolloutStalled", "{updated} of {wanted} replicas run the current spec; the others keep theirs: {why}"
)

# ModelDeployment: are the weights available?
MODEL_CACHE_RESOLVED = ConditionType("ModelCacheResolved")
CACHE_RESOLVED = MODEL_CACHE_RESOLVED.true("ModelCacheResolved", "ModelCache {name} is staged on {ready} clusters")
NO_MODEL_CACHE = MODEL_CACHE_RESOLVED.true("NoModelCache", "No ModelCache is referenced{remark}")
MODEL_CACHE_UNRESOLVED = MODEL_CACHE_RESOLVED.waiting("ModelCacheUnresolved", "Waiting for ModelCache {name}: {why}")
MODEL_CACHE_NOT_FOUND = MODEL_CACHE_RESOLVED.false(
    "ModelCacheNotFound", "spec.modelCacheRef.name: there is no ModelCache {name} in namespace {namespace}"
)

_EARLIER = (
    "another version of Modelplane composed them, and they change once the rollout of the ModelDeployment reaches this "
    "replica"
)

# ModelReplica: do its objects exist on the cluster?
MODEL_ACCEPTED = ConditionType("ModelAccepted")
ACCEPTED = MODEL_ACCEPTED.true("Accepted", "All {count} objects are on cluster {cluster}{remark}")
WAITING_FOR_CLUSTER = MODEL_ACCEPTED.waiting("WaitingForCluster", "Waiting for InferenceCluster {cluster}: {why}")
WAITING_FOR_CACHE = MODEL_ACCEPTED.waiting("WaitingForCache", "Waiting for ModelCache {cache}: {why}")
DEPLOYING = MODEL_ACCEPTED.waiting("Deploying", "Waiting for {total} objects to arrive on cluster {cluster}{problems}")
WAITING_FOR_SOURCES = MODEL_ACCEPTED.waiting("Deploying", "Waiting for {why}; " + _HELD)
AWAITING_TURN = MODEL_ACCEPTED.true("AwaitingTurn", f"All {{count}} objects are on cluster {{cluster}}; {_EARLIER}")
AWAITING_TURN_UNSOUND = MODEL_ACCEPTED.waiting(
    "AwaitingTurn", f"Waiting for {{total}} objects to arrive on cluster {{cluster}}{{problems}}; {_EARLIER}"
)
INVALID_REPLICA = MODEL_ACCEPTED.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# ModelReplica: does it serve?
MODEL_READY = ConditionType("ModelReady")
SERVING = MODEL_READY.true("Serving", "Every engine serves")
DEGRADED = MODEL_READY.true("Degraded", "The replica serves; {why}", Concern.WAIT)
WAITING_FOR_MODEL = MODEL_READY.waiting("WaitingForModel", "Waiting for {why}")
STARTING = MODEL_READY.waiting("ModelStarting", "{why}")
ROUTE_NOT_ACCEPTED = MODEL_READY.waiting("RouteNotAccepted", "{why}")

# ModelEndpoint: can traffic reach it?
ROUTING_READY = ConditionType("RoutingReady")
BACKEND_CONFIGURED = ROUTING_READY.true("BackendConfigured", "Traffic is routed to {host}:{port}{remark}")
BACKEND_UPDATING = ROUTING_READY.true(
    "BackendUpdating",
    "Traffic is routed to {host}:{port}{remark}; the current spec is not in effect yet: a new proxy needs {needs}",
    Concern.WAIT,
)
LED_BY_SERVICES = ROUTING_READY.true(
    "LedByServices", "Requests go through the proxies of ModelServices {services}{remark}"
)
WAITING_FOR_BACKEND = ROUTING_READY.waiting("WaitingForBackend", "{why}")
INVALID_URL = ROUTING_READY.false("InvalidURL", "{field}: {problem}")
INVALID_ENDPOINT = ROUTING_READY.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# ModelService: which endpoints match, and is the route configured? (RoutingReady is declared above.)
ENDPOINTS_RESOLVED = ConditionType("EndpointsResolved")
RESOLVED = ENDPOINTS_RESOLVED.true("Resolved", "{ready} of {matched} endpoints are ready{remark}")
NO_ENDPOINTS = ENDPOINTS_RESOLVED.waiting("NoEndpoints", "{why}")
ROUTE_CONFIGURED = ROUTING_READY.true("RouteConfigured", "{address} answers{remark}")
CONFIGURING = ROUTING_READY.waiting("Configuring", "{why}")
WAITING_FOR_GATEWAY = ROUTING_READY.waiting("WaitingForGateway", "{why}")
TOO_MANY_ENDPOINTS = ROUTING_READY.false("TooManyEndpoints", "{why}")
NO_CALLERS = ROUTING_READY.false("NoCallers", "{why}")
INVALID_SERVICE = ENDPOINTS_RESOLVED.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# ModelCaller: do services know its keys and limits?
CALLER_ACCEPTED = ConditionType("CallerAccepted")
KEYS_ACCEPTED = CALLER_ACCEPTED.true("Accepted", "{keys}, {limits}")
WAITING_FOR_CALLERS = CALLER_ACCEPTED.unknown("Waiting", "{why}; " + _HELD)
KEY_TAKEN = CALLER_ACCEPTED.false("KeyTaken", "{field}: {problem}; " + _HELD)
NO_RATE_LIMIT_SERVER = CALLER_ACCEPTED.false("NoRateLimitServer", "{field}: {problem}; " + _HELD)
INVALID_CALLER = CALLER_ACCEPTED.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# ModelCache: which clusters match, and do they have the weights?
CLUSTERS_MATCHED = ConditionType("ClustersMatched")
MATCHED = CLUSTERS_MATCHED.true("Matched", "{count} clusters match")
NO_CLUSTERS_MATCHED = CLUSTERS_MATCHED.false("NoClusters", "{why}")
INVALID_CACHE = CLUSTERS_MATCHED.false("InvalidSpec", "{field}: {problem}; " + _HELD)
ARTIFACT_READY = ConditionType("ArtifactReady")
STAGED = ARTIFACT_READY.true("Staged", "{ready} of {wanted} clusters have the weights{remark}")
HYDRATING = ARTIFACT_READY.waiting("Hydrating", "{why}")
PARTIAL = ARTIFACT_READY.waiting("Partial", "{why}")
ARTIFACT_FAILED = ARTIFACT_READY.false("Failed", "{why}")
NO_CLUSTERS_FOR_ARTIFACT = ARTIFACT_READY.false("NoClusters", "{why}")
AUTH_SECRET_MISSING = ARTIFACT_READY.false("AuthSecretMissing", "{why}")
WAITING_FOR_CLAIMS = ARTIFACT_READY.waiting("WaitingForClaims", "{why}")
CA_BUNDLE_MISSING = ARTIFACT_READY.false("CABundleMissing", "{why}")

# InferenceClass: can its devices be scheduled?
CLASS_ACCEPTED = ConditionType("Accepted")
AVAILABLE = CLASS_ACCEPTED.true("Available", "{devices} per node")
INVALID_DEVICE = CLASS_ACCEPTED.false("InvalidDevice", "{field}: {problem}")
INVALID_PROVISIONING = CLASS_ACCEPTED.false("InvalidProvisioning", "{field}: {problem}")
INVALID_CLASS = CLASS_ACCEPTED.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# InferenceCluster: does the cluster run?
CLUSTER_READY = ConditionType("ClusterReady")
CLUSTER_RUNNING = CLUSTER_READY.true("ClusterRunning", "{why}")
DELETION_BLOCKED = CLUSTER_READY.true("DeletionBlocked", "{why}", Concern.FAULT)
PROVISIONING = CLUSTER_READY.waiting("Provisioning", "{why}")
CREDENTIALS_MISSING = CLUSTER_READY.false("CredentialsMissing", "{why}")
UNREACHABLE = CLUSTER_READY.false("Unreachable", "{why}")
PROVISIONING_FAILED = CLUSTER_READY.false("ProvisioningFailed", "{why}")
WAITING_FOR_CLASSES = CLUSTER_READY.waiting("WaitingForClasses", "{why}")
INVALID_NODE_POOL = CLUSTER_READY.false("InvalidNodePool", "{field}: {problem}")
INVALID_CLUSTER = CLUSTER_READY.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# InferenceCluster: can it take traffic?
BACKEND_READY = ConditionType("BackendReady")
BACKEND_HEALTHY = BACKEND_READY.true("BackendHealthy", "{why}")
STACK_OUTDATED = BACKEND_READY.true("StackOutdated", "{why}", Concern.WAIT)
INSTALLING = BACKEND_READY.waiting("Installing", "{why}")
BACKEND_WAITING_FOR_CLUSTER = BACKEND_READY.waiting("WaitingForCluster", "{why}")

# InferenceCluster: is it known what its nodes really have?
CAPACITY_OBSERVED = ConditionType("CapacityObserved")
OBSERVED = CAPACITY_OBSERVED.true("Observed", "{why}")
WAITING_FOR_OBSERVATION = CAPACITY_OBSERVED.unknown("Waiting", "{why}; " + _DECLARED)
OBSERVER_UNAVAILABLE = CAPACITY_OBSERVED.false("ObserverUnavailable", "{why}; " + _DECLARED)
STALE_OBSERVATION = CAPACITY_OBSERVED.false("Stale", "{why}; " + _DECLARED)
MALFORMED_OBSERVATION = CAPACITY_OBSERVED.false("Malformed", "{why}; " + _DECLARED)
DECLARED_COUNTS = CAPACITY_OBSERVED.false("DeclaredCounts", "spec.capacity.source is Declared", Concern.NONE)

# InferenceCluster: do its nodes have what their classes declare?
CLASS_MATCHES_NODES = ConditionType("ClassMatchesNodes")
CLASS_MATCHES = CLASS_MATCHES_NODES.true("Matches", "{why}")
FACTS_DIFFER = CLASS_MATCHES_NODES.false("Differs", "{why}")
COUNTS_DIFFER = CLASS_MATCHES_NODES.false("CountDiffers", "{why}")
UNKNOWN_DEVICES = CLASS_MATCHES_NODES.false("UnknownDevices", "{why}")
NOTHING_OBSERVED = CLASS_MATCHES_NODES.unknown("NothingObserved", "{why}")

# InferenceGateway: does the control cluster's gateway answer?
GATEWAY_READY = ConditionType("GatewayReady")
GATEWAY_PROGRAMMED = GATEWAY_READY.true("Programmed", "{why}")
GATEWAY_INSTALLING = GATEWAY_READY.waiting("Installing", "{why}")
INVALID_GATEWAY = GATEWAY_READY.false("InvalidSpec", "{field}: {problem}; " + _HELD)

# ServingStack: can the cluster serve?
STACK_READY = ConditionType("StackReady")
STACK_INSTALLED = STACK_READY.true("Installed", "{why}")
STACK_INSTALLING = STACK_READY.waiting("Installing", "{why}")
INVALID_STACK = STACK_READY.false("InvalidSpec", "{field}: {problem}; " + _HELD)
