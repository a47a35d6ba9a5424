"""The vocabulary that every other module shares, and the rules that every composer follows."""

from function.core import deadline, doubt
from function.core.composer import Composer, HoldDecision
from function.core.condition import Condition, ConditionType, Reason, last, quote, quote_condition
from function.core.content_cache import ContentCache
from function.core.errors import DeadlineExceeded, InvalidSpec, NotYet, Undecided
from function.core.hold import restate, restate_resource, restate_spec
from function.core.lazy_dict import LazyDict
from function.core.manifest import (
    Manifest,
    NamespacedName,
    condition,
    condition_current,
    condition_true,
    controller,
    derived,
    dig,
    dig_list,
    identity,
    is_controlled_by,
    is_ready,
    mappings,
    may_mention,
    plain,
    serves,
)
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Decided, Event, Result
from function.core.wording import MOST_DESCRIBED, MOST_NAMED, closest, enumerate_names, plural, visible

__all__ = [
    "MOST_DESCRIBED",
    "MOST_NAMED",
    "ComposedResource",
    "Composer",
    "Condition",
    "ConditionType",
    "ContentCache",
    "DeadlineExceeded",
    "Decided",
    "Event",
    "HoldDecision",
    "InvalidSpec",
    "LazyDict",
    "Manifest",
    "NamespacedName",
    "NotYet",
    "Reason",
    "Request",
    "Requirement",
    "Result",
    "Undecided",
    "closest",
    "condition",
    "condition_current",
    "condition_true",
    "controller",
    "deadline",
    "derived",
    "dig",
    "dig_list",
    "doubt",
    "enumerate_names",
    "identity",
    "is_controlled_by",
    "is_ready",
    "last",
    "mappings",
    "may_mention",
    "plain",
    "plural",
    "quote",
    "quote_condition",
    "restate",
    "restate_resource",
    "restate_spec",
    "serves",
    "visible",
]
