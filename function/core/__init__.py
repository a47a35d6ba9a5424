"""The words that every other module speaks, and the laws of the protocol."""

from function.core.composer import Composer, Held, InvalidSpec, NotYet, hold
from function.core.condition import Condition, ConditionType, Reason, last
from function.core.content import ByContent
from function.core.hold import restate
from function.core.lazily import Lazily
from function.core.manifest import (
    Manifest,
    NamespacedName,
    condition,
    controller,
    dig,
    identity,
    is_controlled_by,
    is_ready,
    mentions,
    plain,
    said,
    stands,
)
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Event, Result
from function.core.wording import counted, listed

__all__ = [
    "ByContent",
    "ComposedResource",
    "Composer",
    "Condition",
    "ConditionType",
    "Event",
    "Held",
    "InvalidSpec",
    "Lazily",
    "Manifest",
    "NamespacedName",
    "NotYet",
    "Reason",
    "Request",
    "Requirement",
    "Result",
    "condition",
    "controller",
    "counted",
    "dig",
    "hold",
    "identity",
    "is_controlled_by",
    "is_ready",
    "last",
    "listed",
    "mentions",
    "plain",
    "restate",
    "said",
    "stands",
]
