"""The base class of every model, and rules between fields, each with its CEL and its Python form."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ModelWrapValidatorHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

BROKEN_RULES = "broken_rules"
"""Type of the validation error that carries every rule an object breaks."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule between fields: CEL for the API server, and a predicate for objects stored before the rule."""

    cel: str
    message: str
    holds: Callable[[Any], bool] | None
    """The rule over the parsed model. None for a rule about a change, which only the API server can check."""
    at: str = ""
    """The field that is wrong, if it is a single one."""

    @property
    def validation(self) -> dict[str, str]:
        """Return the rule in the API server's form."""
        rule = {"rule": self.cel, "message": self.message}
        return {**rule, "fieldPath": f".{self.at}"} if self.at else rule


class Api(BaseModel):
    """The base class of the API's models. It ignores unknown fields, so that a field of a later version passes."""

    model_config = ConfigDict(frozen=True)

    RULES: ClassVar[tuple[Rule, ...]] = ()
    ELSEWHERE: ClassVar[Mapping[str, str]] = {}
    """For fields that other APIs have here, and that this one has elsewhere: what to write instead."""
    IS_GENERATED: ClassVar[bool] = False
    """Whether the class has no source: its fields carry their descriptions."""

    @model_validator(mode="wrap")
    @classmethod
    def _obey(cls, value: Any, parse: ModelWrapValidatorHandler[Api]) -> Api:
        parsed = parse(value)
        broken = tuple(rule for rule in cls.RULES if rule.holds is not None and not rule.holds(parsed))
        if broken:
            raise PydanticCustomError(BROKEN_RULES, "{first}", {"first": broken[0].message, "broken": broken})
        return parsed

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core))
        properties = schema.get("properties", {})
        for name, text in described(cls).items():
            properties[name] = {**properties[name], "description": text}
        rules = [rule.validation for rule in cls.RULES]
        return schema | ({"x-kubernetes-validations": rules} if rules else {})


def described(model: type[Api]) -> dict[str, str]:
    """Return the docstrings below a model's fields, by field.

    It reads the model's source, which a server never does.
    """
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, Api) and cls is not Api and not vars(cls).get("IS_GENERATED"):
            found.update(_docstrings(cls))
    return found


def _docstrings(cls: type) -> Iterator[tuple[str, str]]:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    for field, below in pairwise(tree.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())


class Status(Api):
    """The base class of every kind's status: the fields that each Composer fills in (core/summary.py)."""

    reason: str | None = None
    """Why the object is not as its spec asks, in one word: the reason of the first of its conditions that tells so. It
    is missing if all is as the spec asks, and before the object was composed for the first time."""
    message: str | None = None
    """The reason in a sentence: the message of that condition."""


class Audience(Enum):
    """Who writes the objects of a kind."""

    TEAM = "an ML team, in its namespace"
    PLATFORM = "the platform team"
    INTERNAL = "Crossplane alone: they are composed of other kinds"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get` in addition to those of every XR."""

    name: str
    type: str
    """string, integer or boolean."""
    path: str
    """JSONPath of the value. Kubernetes prints the first match."""
    wide: bool = False
    """Whether only `kubectl get -o wide` shows it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The paths that `kubectl scale` and autoscalers read and write."""

    wanted: str
    current: str
    selector: str
