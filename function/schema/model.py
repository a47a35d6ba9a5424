"""The base of every model, and the rules between its fields: each written once, for the API server and for us."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ModelWrapValidatorHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

BROKEN_RULES = "broken_rules"
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

    @property
    def validation(self) -> dict[str, str]:
        """As the API server reads it."""
        said = {"rule": self.cel, "message": self.message}
        return {**said, "fieldPath": f".{self.at}"} if self.at else said


class Api(BaseModel):
    """A piece of an API. Lenient: a field of a later version passes."""

    model_config = ConfigDict(frozen=True)

    RULES: ClassVar[tuple[Rule, ...]] = ()
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
        for name, said in described(cls).items():
            properties[name] = {**properties[name], "description": said}
        rules = [rule.validation for rule in cls.RULES]
        return schema | ({"x-kubernetes-validations": rules} if rules else {})


def described(model: type[Api]) -> dict[str, str]:
    """What the docstrings below the fields of a model say. Read from its source, which a server never does."""
    said: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, Api) and cls is not Api and not vars(cls).get("IS_GENERATED"):
            said.update(_docstrings(cls))
    return said


def _docstrings(cls: type) -> Iterator[tuple[str, str]]:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    for field, below in pairwise(tree.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())


class Audience(Enum):
    """Who writes the objects of a kind."""

    TEAM = "an ML team, in its namespace"
    PLATFORM = "the platform team"
    INTERNAL = "Crossplane alone: they are composed of other kinds"


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
