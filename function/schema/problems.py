"""Problems of an object, in words: the field, its value, and what would be accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from function.core import InvalidSpec, Manifest, Reason, closest, plural, redaction
from function.core.manifest import is_list
from function.schema.fields import MISPLACED, NOT_ACCEPTED
from function.schema.foreign import FOREIGN_FAULTS, strictness
from function.schema.model import BROKEN_RULES, Api, Rule
from function.schema.paths import elsewhere, is_secret, known_fields

_SHOWN = 80
"""Characters of a wrong value that a message repeats."""
_TOP = ("apiVersion", "kind", "metadata", "spec", "status")
_CROSSPLANES = "crossplane"
"""The field of a spec that Crossplane writes (crossplane v2.3, XRD v2)."""
_TYPES = {
    "string_type": "a string; numbers and yes, no, true and false are written in quotes",
    "bool_type": "true or false",
}
_CONTAINERS = {"tuple_type": "a list", "dict_type": "a map", "model_type": "a map of fields"}

Spec = TypeVar("Spec", bound=Api)
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an object."""

    path: Path
    message: str
    """The problem, as the rest of a sentence that begins with the field."""
    value: Any = None
    """The value of the field. None if it has none, or if it may be secret."""
    accepted: str = ""
    code: str = "value"
    """The kind of problem, for machines: value, required, unknown-field, key, rule, reserved."""

    @property
    def field(self) -> str:
        return format_path(self.path)


def parse(model: type[Spec], xr: Manifest, invalid: Reason, under: Mapping[str, Reason] | None = None) -> Spec:
    """Return the spec of an XR.

    Raises InvalidSpec with the reason `invalid` if it does not fit the model, or with the reason that `under` has for
    the wrong field of the spec.
    """
    try:
        return model.model_validate(without_nulls(xr.get("spec") or {}))
    except ValidationError as error:
        first = next(_explained(model, error))
        reason = (under or {}).get(str(first.path[1]) if len(first.path) > 1 else "", invalid)
        answer = InvalidSpec(reason(field=first.field, problem=first.message))
    raise answer  # outside the handler: pydantic's error holds every value, even secrets


def problems_at(field: str, model: type[Api], manifest: Manifest) -> list[Problem]:
    """Return all problems of one field of an object other than its spec, unknown fields included."""
    return _found(model, without_nulls(manifest.get(field) or {}), extra="forbid", at=field)


def problems(model: type[Api], manifest: Manifest) -> list[Problem]:
    """Return all problems of an object with this spec model, unknown fields included."""
    found = [_unknown((key,), key, _TOP) for key in manifest if key not in _TOP]
    spec = without_nulls(manifest.get("spec"))
    if spec is None:
        return [*found, Problem(("spec",), "is required", code="required")]
    if isinstance(spec, dict):
        spec.pop(_CROSSPLANES, None)
    strict = _found(model, spec, extra="forbid")
    lenient = _found(model, spec, extra="ignore")  # with an unknown field, pydantic skips the rules
    return [*found, *strict, *(problem for problem in lenient if problem not in strict)]


def _found(model: type[Api], given: Any, extra: Literal["forbid", "ignore"], at: str = "spec") -> list[Problem]:
    try:
        model.model_validate(given, extra=extra, context=strictness(is_strict=extra == "forbid"))
    except ValidationError as error:
        return list(_explained(model, error, at))
    return []


def without_nulls(value: Any) -> Any:
    """Return plain data without nulls, which the API server drops before anything else."""
    if isinstance(value, Mapping):
        return {key: without_nulls(child) for key, child in value.items() if child is not None}
    return [without_nulls(child) for child in value] if is_list(value) else value


def format_path(path: Path) -> str:
    """Return a path as users write it: spec.engines[0].name."""
    return "".join(_step(part) for part in path).removeprefix(".")


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if redaction.is_credential(part):
        return f"[{redaction.SENSITIVE}]"
    return f".{part}" if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f"[{json.dumps(part)}]"


def _explained(model: type[Api], error: ValidationError, at: str = "spec") -> Iterator[Problem]:
    for details in error.errors(include_url=False):
        yield from _words(model, details, at)


def _words(model: type[Api], details: ErrorDetails, at: str) -> Iterator[Problem]:
    location, context = details["loc"], details.get("ctx") or {}
    path: Path = (at, *location)
    match details["type"]:
        case kind if kind == BROKEN_RULES:
            yield from (_broken(path, rule) for rule in context["broken"])
        case kind if kind == FOREIGN_FAULTS:
            yield from (Problem((*path, *fault.path), fault.message, code=fault.code) for fault in context["faults"])
        case kind if kind == MISPLACED:
            yield Problem((*path, context["key"]), context["message"], code="key")
        case "missing":
            yield Problem(path, "is required", code="required")
        case "too_short" | "too_long":
            yield from _miscounted(path, details["input"], context)
        case "extra_forbidden":
            yield _unknown(path, str(location[-1]), known_fields(model, location[:-1]), elsewhere(model, location))
        case kind if kind in _CONTAINERS:
            yield _not_a(_CONTAINERS[kind], path, details["input"])
        case _:
            accepted = _accepted(details["type"], context) or details["msg"]
            yield _refused(path, details["input"], accepted, secret=is_secret(model, location))


def _broken(path: Path, rule: Rule) -> Problem:
    return Problem((*path, *filter(None, rule.at.split("."))), rule.message, code="rule")


def _miscounted(path: Path, value: Any, context: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problem of a list or map with the wrong number of items. Pydantic counts only the valid ones."""
    least, most = context.get("min_length", 0), context.get("max_length")
    accepted = f"at least {plural(least, 'item')}" if most is None else f"at most {plural(most, 'item')}"
    if len(value) < least or (most is not None and len(value) > most):
        yield Problem(path, f"must have {accepted}, not {len(value)}", None, accepted)


def _accepted(type_: str, context: Mapping[str, Any]) -> str:
    match type_:
        case kind if kind == NOT_ACCEPTED:
            return str(context["accepted"])
        case "literal_error":
            expected = str(context["expected"]).replace("'", "")
            return f"one of {expected.replace(' or ', ', ')}" if " or " in expected else expected
        case _:
            return _TYPES.get(type_, "")


def _refused(path: Path, value: Any, accepted: str, *, secret: bool) -> Problem:
    if secret:
        return Problem(path, f"must be {accepted}", None, accepted)
    shown = _shown(value)
    is_told = shown != redaction.ALIKE and not isinstance(value, Mapping | list | tuple)
    return Problem(path, f"must be {accepted}, not {shown}", value if is_told else None, accepted)


def _not_a(container: str, path: Path, value: Any) -> Problem:
    """Return the problem of a value that is not the required list or map. It may be secret, as its items may be."""
    kind = {str: "a string", bool: "true or false"}.get(type(value)) or (
        "a number" if _is_number(value) else _shown(value)
    )
    return Problem(path, f"must be {container}, not {kind}", None, container)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _unknown(path: Path, name: str, known: Iterable[str], instead: str = "") -> Problem:
    names = sorted(known)
    meant = closest(name, names)
    hint = f"; {instead}" if instead else f"; did you mean {meant}?" if meant else ""
    return Problem(path, f"is not a field{hint}", None, ", ".join(names), code="unknown-field")


def _shown(value: Any) -> str:
    """Return a value as a message repeats it. The contents of maps and lists are left out, since any may be secret."""
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list | tuple):
        return f"a list of {plural(len(value), 'item')}"
    if isinstance(value, str) and redaction.is_credential(value):
        return redaction.ALIKE
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
