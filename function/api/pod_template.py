"""The pod template of an engine's member: Kubernetes' PodTemplateSpec, as plain data.

The XRDs declare the fields that Modelplane reads, and preserve the others. Every field is checked against Kubernetes'
own schema and rules (`function.podspec`), by the function as by `modelplane validate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from function import podspec, schema


@dataclass(frozen=True, slots=True)
class _PodTemplate:
    """Checks a pod template, and returns it in one form."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self._check, serialization=core_schema.plain_serializer_function_ser_schema(lambda template: template)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return podspec.declared()

    def _check(self, value: Any, info: core_schema.ValidationInfo) -> Mapping[str, Any]:
        reading = podspec.read(value)
        unknown = reading.unknown if schema.is_strict(info) else ()
        if reading.faults or unknown:
            raise schema.foreign_faults((*reading.faults, *unknown))
        return reading.template


Template = Annotated[Mapping[str, Any], _PodTemplate()]
"""A PodTemplateSpec in one form: quantities are strings, and what is null or empty is left out."""
