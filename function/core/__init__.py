"""The words that every other module speaks, and the laws of the protocol."""

from function.core import deadline, doubt
from function.core.composer import Composer, Decided, Held, InvalidSpec, NotYet
from function.core.condition import Condition, ConditionType, Reason, last
from function.core.content import ByContent
from function.core.hold import restate, restate_spec
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
    serves,
    stands,
)
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Event, Result
from function.core.wording import counted, listed, visible

__all__ = [
    "ByContent",
    "ComposedResource",
    "Composer",
    "Condition",
    "ConditionType",
    "Decided",
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
    "deadline",
    "dig",
    "doubt",
    "identity",
    "is_controlled_by",
    "is_ready",
    "last",
    "listed",
    "mentions",
    "plain",
    "restate",
    "restate_spec",
    "said",
    "serves",
    "stands",
    "visible",
]
