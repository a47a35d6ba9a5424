"""The fleet scheduler: decides which clusters and node pools the replicas of a deployment go to.

It is a pure function of a job and a fleet. It knows no Kubernetes objects, no clock and no chance, and every "no" is a
value with its facts. Read the modules in the order of a decision:

- `job`, `fleet`: the input. `plan`, `rejection`: the output.
- `solve`: the phases of a decision. `rollout`, `revision`: the rules by which a changed spec reaches replicas.
- `capacity`: free nodes, and who keeps the nodes of an overcommitted pool.
- `filling`: the best clusters for new replicas, after `filters` and `taints`.
- `fit`: one replica on the pools of a cluster. `devices`: one member on a node. `allocation`: devices to requests.
- `budget`, `findings`: bounds on the work of one call, and what is kept for the next.
- `explain`, `breakdown`, `suggestion`: why a replica is not placed, in rising detail, and what would place it.
"""

from function.scheduling.allocation import LARGEST_CLAIM
from function.scheduling.breakdown import (
    ClusterBreakdown,
    DeviceVerdict,
    MemberVerdict,
    PoolBreakdown,
    RequestVerdict,
    breakdowns,
)
from function.scheduling.budget import Budget, Exhausted
from function.scheduling.capacity import Contention, Ledger, contention
from function.scheduling.devices import Matcher, Offer, Shortfall, is_claim_too_large
from function.scheduling.explain import digest, rejections
from function.scheduling.filters import conflict, filter_cluster, forbidden_pods
from function.scheduling.findings import PROGRESS, Findings, Progress
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import (
    Cluster,
    Device,
    Fleet,
    ForeignReplica,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    Pool,
    PreviousSpec,
    Replica,
    Taint,
    nodes_of,
)
from function.scheduling.job import CachePhase, DeviceRequest, Engine, Job, Member, PodViolation, Selector, Toleration
from function.scheduling.plan import Action, EvictionReason, NotProven, Placement, Plan, TooFewServe, Wait
from function.scheduling.rejection import Rejection
from function.scheduling.revision import MOST_REVISIONS, Revision
from function.scheduling.solve import solve
from function.scheduling.suggestion import Suggestion, suggestions

__all__ = [
    "LARGEST_CLAIM",
    "MOST_REVISIONS",
    "PROGRESS",
    "Action",
    "Budget",
    "CachePhase",
    "Cluster",
    "ClusterBreakdown",
    "Contention",
    "Device",
    "DeviceRequest",
    "DeviceVerdict",
    "Engine",
    "EvictionReason",
    "Exhausted",
    "Findings",
    "Fit",
    "Fitter",
    "Fleet",
    "ForeignReplica",
    "Job",
    "Ledger",
    "Matcher",
    "Member",
    "MemberVerdict",
    "NodeShape",
    "NotProven",
    "Offer",
    "PlacedEngine",
    "PlacedMember",
    "Placement",
    "Plan",
    "PodViolation",
    "Pool",
    "PoolBreakdown",
    "PreviousSpec",
    "Progress",
    "Rejection",
    "Replica",
    "RequestVerdict",
    "Revision",
    "Selector",
    "Shortfall",
    "Suggestion",
    "Taint",
    "Toleration",
    "TooFewServe",
    "Wait",
    "breakdowns",
    "conflict",
    "contention",
    "digest",
    "filter_cluster",
    "forbidden_pods",
    "is_claim_too_large",
    "nodes_of",
    "rejections",
    "solve",
    "suggestions",
]
