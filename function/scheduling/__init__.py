"""Where replicas go: a pure decision over a fleet, whose every "no" is a value."""

from function.scheduling.capacity import Ledger, yielding
from function.scheduling.devices import LARGEST_CLAIM, Matcher, Offer, Shortfall, is_claim_too_large
from function.scheduling.explain import digest, rejections
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import (
    Cluster,
    Device,
    Fleet,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    Pool,
    Replica,
    Standing,
    Taint,
    nodes_of,
)
from function.scheduling.gate import conflict
from function.scheduling.job import CachePhase, DeviceRequest, Engine, Job, Member, Selector, Toleration
from function.scheduling.plan import Action, Placement, Plan, Why
from function.scheduling.rejection import Rejection
from function.scheduling.solve import solve

__all__ = [
    "LARGEST_CLAIM",
    "Action",
    "CachePhase",
    "Cluster",
    "Device",
    "DeviceRequest",
    "Engine",
    "Fit",
    "Fitter",
    "Fleet",
    "Job",
    "Ledger",
    "Matcher",
    "Member",
    "NodeShape",
    "Offer",
    "PlacedEngine",
    "PlacedMember",
    "Placement",
    "Plan",
    "Pool",
    "Rejection",
    "Replica",
    "Selector",
    "Shortfall",
    "Standing",
    "Taint",
    "Toleration",
    "Why",
    "conflict",
    "digest",
    "is_claim_too_large",
    "nodes_of",
    "rejections",
    "solve",
    "yielding",
]
