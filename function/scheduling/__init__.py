"""Where replicas go: a pure decision over a fleet, whose every "no" is a value."""

from function.scheduling.allocation import LARGEST_CLAIM
from function.scheduling.anatomy import (
    ClusterAnatomy,
    DeviceVerdict,
    MemberVerdict,
    PoolAnatomy,
    RequestVerdict,
    anatomy,
)
from function.scheduling.budget import Budget, Exhausted
from function.scheduling.capacity import Contention, Ledger, contention
from function.scheduling.devices import Matcher, Offer, Shortfall, is_claim_too_large
from function.scheduling.explain import digest, rejections
from function.scheduling.findings import PROGRESS, Findings, Progress
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import (
    Cluster,
    Device,
    Fleet,
    Former,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    Pool,
    Replica,
    Standing,
    Taint,
    nodes_of,
)
from function.scheduling.gate import conflict, gate
from function.scheduling.job import CachePhase, DeviceRequest, Engine, Job, Member, Selector, Toleration
from function.scheduling.plan import Action, NotProven, Placement, Plan, TooFewServe, Wait, Why
from function.scheduling.rejection import Rejection
from function.scheduling.remedy import Remedy, remedies
from function.scheduling.revision import MOST_REVISIONS, Revision
from function.scheduling.solve import solve

__all__ = [
    "LARGEST_CLAIM",
    "MOST_REVISIONS",
    "PROGRESS",
    "Action",
    "Budget",
    "CachePhase",
    "Cluster",
    "ClusterAnatomy",
    "Contention",
    "Device",
    "DeviceRequest",
    "DeviceVerdict",
    "Engine",
    "Exhausted",
    "Findings",
    "Fit",
    "Fitter",
    "Fleet",
    "Former",
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
    "Pool",
    "PoolAnatomy",
    "Progress",
    "Rejection",
    "Remedy",
    "Replica",
    "RequestVerdict",
    "Revision",
    "Selector",
    "Shortfall",
    "Standing",
    "Taint",
    "Toleration",
    "TooFewServe",
    "Wait",
    "Why",
    "anatomy",
    "conflict",
    "contention",
    "digest",
    "gate",
    "is_claim_too_large",
    "nodes_of",
    "rejections",
    "remedies",
    "solve",
]
