"""Fields that hold an object of another project: their own checks find faults, which become problems of the field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

FOREIGN_FAULTS = "foreign_faults"
"""Type of the validation error that carries every fault of an object of another project."""
_STRICT = "is_strict"


class ForeignFault(Protocol):
    """What is wrong at a place of such an object."""

    @property
    def path(self) -> tuple[str | int, ...]:
        """Keys and indices from the root of the object."""

    @property
    def message(self) -> str:
        """The fault, as the rest of a sentence that begins with the field. It repeats nothing that may be secret."""

    @property
    def code(self) -> str:
        """The kind of fault, as `Problem.code`."""


def foreign_faults(faults: Sequence[ForeignFault]) -> PydanticCustomError:
    """Return the error that a field's validator raises for faults of its object."""
    return PydanticCustomError(FOREIGN_FAULTS, "has faults", {"faults": list(faults)})


def strictness(*, is_strict: bool) -> dict[str, Any]:
    """Return the context of a validation, by which validators know whether unknown fields are faults."""
    return {_STRICT: is_strict}


def is_strict(info: ValidationInfo[Any]) -> bool:
    """Return whether unknown fields are faults: they are for `modelplane validate`, and pass in the function."""
    return bool(info.context and info.context.get(_STRICT))
