"""Whole numbers that may be abbreviated, and lists whose items must differ in more than one field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from function.schema.fields import MISPLACED, NOT_ACCEPTED, WORDS

_LONGEST = 16
_FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of at least 1, which may be written with a suffix: k, M or G for 10³, 10⁶ or 10⁹.

    It is kept as the number. The pattern allows as many decimals as the suffix has zeros, so that no fraction is left.
    """

    most: int
    pattern: str = r"^([0-9]{1,12}|[0-9]{1,9}(\.[0-9]{1,3})?k|[0-9]{1,6}(\.[0-9]{1,6})?M|[0-9]{1,3}(\.[0-9]{1,9})?G)$"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, core_schema.int_schema())

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return a schema that bounds numbers. How large a text is, only the function checks: no rule can say it."""
        either: JsonSchemaValue = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        bounds: JsonSchemaValue = {"minimum": 1, "maximum": self.most, "maxLength": _LONGEST, "pattern": self.pattern}
        return {**either, **bounds, WORDS: self.accepted, "x-kubernetes-int-or-string": True}

    @property
    def accepted(self) -> str:
        return f"a whole number from 1 to {self.most}, which may be written with k, M or G, such as 500k, 2M or 1.5G"

    def _check(self, value: Any) -> int:
        number = self._number(value)
        if number is None or not 1 <= number <= self.most:
            raise PydanticCustomError(NOT_ACCEPTED, "must be {accepted}", {"accepted": self.accepted})
        return number

    def _number(self, value: Any) -> int | None:
        """Return the number. A double without a fraction counts: JSON and protobuf do not distinguish them."""
        if isinstance(value, str) and re.fullmatch(self.pattern, value):
            digits = value.rstrip("kMG")
            return int(Decimal(digits) * _FACTORS[value[len(digits) :]])
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return int(value) if is_whole and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class Distinct:
    """A list in which no two items have the same values in some of their fields."""

    fields: tuple[str, ...]
    """The fields together, each with dots between the steps that lead to it."""
    words: str
    """What the fields are, in words."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        same = " && ".join(f"one.{field} == other.{field}" for field in self.fields)
        rule = {
            "rule": f"self.all(one, self.exists_one(other, {same}))",
            "message": f"each item needs a {self.words} of its own",
        }
        return {**handler(schema), "x-kubernetes-validations": [rule]}

    def _check(self, items: Sequence[Any]) -> Sequence[Any]:
        seen = set()
        for index, item in enumerate(items):
            values = tuple(str(reduce(getattr, field.split("."), item)) for field in self.fields)
            if values in seen:
                found = "/".join(values)
                message = f"has the {self.words} of an item above it, {found}; each needs its own"
                raise PydanticCustomError(MISPLACED, "{message}", {"key": index, "message": message})
            seen.add(values)
        return items
