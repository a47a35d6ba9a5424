"""CEL as Kubernetes evaluates it: device selectors, validation rules, readiness queries.

- `language`: syntax, checker, estimate, compiler, values, and all bounds (`language.limits`).
- `libraries`: the functions; one CEL library is one module, and one line of the table in `libraries`.
- `golang`: Go code that the functions call, ported.
- `environments`, `selector`, `rule`, `device`, `references`, `reads`: the expressions of Kubernetes.
"""

from function.cel.device import Device, Unsupported, Version, attribute, device_fault
from function.cel.language.errors import CelWarning, EvaluationFailed, InvalidSelector, Place
from function.cel.language.limits import COST as COST_LIMIT
from function.cel.language.limits import TEXT_BYTES
from function.cel.libraries import quantity, semver
from function.cel.reads import Read, Word, reads
from function.cel.references import DRIVER, names, published, references, seen_by
from function.cel.rule import Rule, query, rule
from function.cel.selector import (
    MATCH,
    NO_MATCH,
    EvaluationError,
    Facts,
    Outcome,
    Selector,
    actual_cost,
    admitted,
    clear_caches,
    compiled,
    facts,
)

__all__ = [
    "COST_LIMIT",
    "DRIVER",
    "MATCH",
    "NO_MATCH",
    "TEXT_BYTES",
    "CelWarning",
    "Device",
    "EvaluationError",
    "EvaluationFailed",
    "Facts",
    "InvalidSelector",
    "Outcome",
    "Place",
    "Read",
    "Rule",
    "Selector",
    "Unsupported",
    "Version",
    "Word",
    "actual_cost",
    "admitted",
    "attribute",
    "clear_caches",
    "compiled",
    "device_fault",
    "facts",
    "names",
    "published",
    "quantity",
    "query",
    "reads",
    "references",
    "rule",
    "seen_by",
    "semver",
]
