"""CEL as Kubernetes speaks it: device selectors, validation rules, readiness queries."""

from function.cel.costs.estimate import LIMIT as COST_LIMIT
from function.cel.device import Device, Unsupported, Version, attribute, device_fault
from function.cel.mentions import mentions, seen_by
from function.cel.problem import Doubt, EvaluationFailed, InvalidSelector, Place
from function.cel.rule import Rule, query, rule
from function.cel.selector import (
    MATCH,
    NO_MATCH,
    EvaluationError,
    Facts,
    Outcome,
    Selector,
    admitted,
    compiled,
    facts,
    forget,
    spent,
)
from function.cel.syntax.parse import LONGEST
from function.cel.values import quantity, semver

__all__ = [
    "COST_LIMIT",
    "LONGEST",
    "MATCH",
    "NO_MATCH",
    "Device",
    "Doubt",
    "EvaluationError",
    "EvaluationFailed",
    "Facts",
    "InvalidSelector",
    "Outcome",
    "Place",
    "Rule",
    "Selector",
    "Unsupported",
    "Version",
    "admitted",
    "attribute",
    "compiled",
    "device_fault",
    "facts",
    "forget",
    "mentions",
    "quantity",
    "query",
    "rule",
    "seen_by",
    "semver",
    "spent",
]
