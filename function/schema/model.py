"""The base of every model, and the rules between its fields: each written once, for the API server and for us."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, model_validator
from pydantic_core import PydanticCustomError

BROKEN_RULES = "rules"
"""Type of the validation error that carries every rule which an object breaks."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule between the fields of an object: as CEL for the API server, and as a predicate for old objects."""

    cel: str
    message: str
    holds: Callable[[Any], bool] | None
    """Of the parsed model. None: a rule about a change, which only the API server sees."""
    at: str = ""
    """The field that is wrong, where it is one."""


class Api(BaseModel):
    """A piece of an API. Lenient: a field of a later version passes."""

    model_config = ConfigDict(frozen=True)

    RULES: ClassVar[tuple[Rule, ...]] = ()

    @model_validator(mode="wrap")
    @classmethod
    def _obey(cls, value: Any, parse: ModelWrapValidatorHandler[Api]) -> Api:
        parsed = parse(value)
        broken = tuple(rule for rule in cls.RULES if rule.holds is not None and not rule.holds(parsed))
        if broken:
            raise PydanticCustomError(BROKEN_RULES, "{first}", {"first": broken[0].message, "broken": broken})
        return parsed


@dataclass(frozen=True, slots=True)
class Column:
    """What `kubectl get` shows beside READY, SYNCED and AGE."""

    name: str
    type: str
    path: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Where `kubectl scale` and autoscalers read and write."""

    wanted: str
    current: str
    selector: str
