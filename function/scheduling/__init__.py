"""The fleet scheduler: decides which clusters and node pools the replicas of a deployment go to.

It is a pure function of a job and a fleet. It knows no Kubernetes objects, no clock and no chance, and every "no" is a
value with its facts. Read the modules in the order of a decision:

- `job`, `fleet`: the input. `plan`, `rejection`: the output.
- `solve`: the phases of a decision. `rollout`, `revision`: the rules by which a changed spec reaches replicas.
- `capacity`: what is free, and who keeps the nodes of an overcommitted pool. `account`: one cluster.
- `sharing`: pods on pools whose nodes are shared. `packing`, `blocking`, `groups`, `covering`, `relaxation`: whether
  all of them fit. `backtracking`: whether kube-scheduler finds that out in time.
- `vacancy`: what a cluster publishes of a shared pool. `hint`: what others read of it.
- `filling`: the best clusters for new replicas, after `filters` and `taints`.
- `fit`: one replica on the pools of a cluster. `devices`: one member on a node. `allocation`: devices to requests.
- `budget`, `findings`: bounds on the work of one call, and what is kept for the next.
- `explain`, `shortage`, `breakdown`: why a replica is not placed, in rising detail. `suggestion`, `change`: what may
  place it.
"""

from function.scheduling.account import Account, Free, free_nodes, is_overcommitted
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
from function.scheduling.change import (
    AddNodes,
    AddPool,
    Change,
    ChangePods,
    Deselect,
    EnforceLevel,
    GiveAddress,
    LabelCluster,
    MakeServe,
    PromisePlacement,
    Reselect,
    Reword,
    ShareNodes,
    Tolerate,
)
from function.scheduling.devices import RESOURCES, Matcher, Offer, Shortfall, is_claim_too_large
from function.scheduling.explain import digest, rejections
from function.scheduling.filters import conflict, filter_cluster, forbidden_pods
from function.scheduling.findings import PROGRESS, Findings, Progress
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import (
    Claimed,
    Cluster,
    Device,
    Fleet,
    ForeignReplica,
    NodeResources,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    PodNeeds,
    Pool,
    PreviousSpec,
    Replica,
    Taint,
    nodes_of,
)
from function.scheduling.hint import Hint
from function.scheduling.job import CachePhase, DeviceRequest, Engine, Job, Member, PodViolation, Toleration
from function.scheduling.packing import NodeCapacity, PodDemand, Resources, most_more
from function.scheduling.plan import Action, EvictionReason, NotProven, Placement, Plan, TooFewServe, Wait
from function.scheduling.rejection import Rejection
from function.scheduling.revision import MOST_REVISIONS, Revision
from function.scheduling.selector import Selector
from function.scheduling.sharing import Demands, Room
from function.scheduling.solve import solve
from function.scheduling.suggestion import CACHES_SELECTOR, DEPLOYMENTS_SELECTOR, proposals, selecting
from function.scheduling.vacancy import EntryVacancy, Vacancy, roughly_vacant, vacancy

__all__ = [
    "CACHES_SELECTOR",
    "DEPLOYMENTS_SELECTOR",
    "LARGEST_CLAIM",
    "MOST_REVISIONS",
    "PROGRESS",
    "RESOURCES",
    "Account",
    "Action",
    "AddNodes",
    "AddPool",
    "Budget",
    "CachePhase",
    "Change",
    "ChangePods",
    "Claimed",
    "Cluster",
    "ClusterBreakdown",
    "Contention",
    "Demands",
    "Deselect",
    "Device",
    "DeviceRequest",
    "DeviceVerdict",
    "EnforceLevel",
    "Engine",
    "EntryVacancy",
    "EvictionReason",
    "Exhausted",
    "Findings",
    "Fit",
    "Fitter",
    "Fleet",
    "ForeignReplica",
    "Free",
    "GiveAddress",
    "Hint",
    "Job",
    "LabelCluster",
    "Ledger",
    "MakeServe",
    "Matcher",
    "Member",
    "MemberVerdict",
    "NodeCapacity",
    "NodeResources",
    "NodeShape",
    "NotProven",
    "Offer",
    "PlacedEngine",
    "PlacedMember",
    "Placement",
    "Plan",
    "PodDemand",
    "PodNeeds",
    "PodViolation",
    "Pool",
    "PoolBreakdown",
    "PreviousSpec",
    "Progress",
    "PromisePlacement",
    "Rejection",
    "Replica",
    "RequestVerdict",
    "Reselect",
    "Resources",
    "Revision",
    "Reword",
    "Room",
    "Selector",
    "ShareNodes",
    "Shortfall",
    "Taint",
    "Tolerate",
    "Toleration",
    "TooFewServe",
    "Vacancy",
    "Wait",
    "breakdowns",
    "conflict",
    "contention",
    "digest",
    "filter_cluster",
    "forbidden_pods",
    "free_nodes",
    "is_claim_too_large",
    "is_overcommitted",
    "most_more",
    "nodes_of",
    "proposals",
    "rejections",
    "roughly_vacant",
    "selecting",
    "solve",
    "vacancy",
]
