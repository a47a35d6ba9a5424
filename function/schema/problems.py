"""What is wrong with an object, in words: where, what stands there, and what would be accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from function.core import InvalidSpec, Manifest, Reason, plain
from function.schema.fields import NOT_ACCEPTED
from function.schema.model import BROKEN_RULES, Api

_SHOWN = 80
"""Characters of a wrong value that a message repeats."""

Spec = TypeVar("Spec", bound=Api)
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an object."""

    path: Path
    message: str
    """A sentence without the path."""
    value: Any = None
    accepted: str = ""

    @property
    def field(self) -> str:
        """The path as users write it: spec.engines[0].name."""
        return spelled(self.path)


def parse(model: type[Spec], xr: Manifest, invalid: Reason, under: Mapping[str, Reason] | None = None) -> Spec:
    """An XR's spec. Raises InvalidSpec where it does not fit the model: for the given reason, or for the one of the
    field of the spec that is wrong."""
    try:
        return model.model_validate(plain(xr.get("spec") or {}))
    except ValidationError as error:
        first = _problems(error)[0]
        reason = (under or {}).get(str(first.path[1]) if len(first.path) > 1 else "", invalid)
        raise InvalidSpec(reason(field=first.field, problem=first.message)) from error


def problems(model: type[Api], manifest: Manifest) -> list[Problem]:
    """All that is wrong with an object's spec, unknown fields included."""
    try:
        model.model_validate(plain(manifest.get("spec") or {}), extra="forbid")
    except ValidationError as error:
        return _problems(error)
    return []


def spelled(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _problems(error: ValidationError) -> list[Problem]:
    return [p for details in error.errors(include_url=False) for p in _explained(details)]


def _explained(details: ErrorDetails) -> list[Problem]:
    path: Path = ("spec", *details["loc"])
    context: Mapping[str, Any] = details.get("ctx") or {}
    match details["type"]:
        case "rules":
            return [Problem((*path, *filter(None, rule.at.split("."))), rule.message) for rule in context["broken"]]
        case "not_accepted":
            return [_refused(path, details["input"], context["accepted"])]
        case "missing":
            return [Problem(path, "is required")]
        case _:
            return [Problem(path, details["msg"], details["input"])]


def _refused(path: Path, value: Any, accepted: str) -> Problem:
    return Problem(path, f"must be {accepted}, not {_shown(value)}", value, accepted)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


assert (BROKEN_RULES, NOT_ACCEPTED) == ("rules", "not_accepted")
