"""Regular expressions, in the syntax and the linear time of RE2, which Kubernetes has as well.

Source: regexp of Go; k8s.io/apiserver v0.36, pkg/cel/library/regex.go.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from function.cel.language.declarations.cost import (
    PATTERN,
    TRAVERSAL,
    UNIT,
    Argument,
    Estimate,
    by_function,
    by_overload,
    size_of,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import NOT_LITERAL, Implementation, Prepared, function, method
from function.cel.language.declarations.ranges import ONE, Range
from function.cel.language.declarations.types import Type
from function.cel.language.errors import Failure, Fault
from function.cel.language.limits import COMPILED_PATTERNS
from function.cel.language.limits.step_budget import spend
from function.cel.language.syntax.tree import Call, Literal, Node
from function.cel.language.values.kinds import Optional, TypeValue
from function.cel.language.values.type_names import no_overload

_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
"""A single byte, which RE2 has and Go has not."""

_NO_BOUNDARY = "\\B"
"""RE2 works on bytes, so it finds this inside of a character as well."""
_INSIDE = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))
"""Bytes of UTF-8 that no character begins with."""
_MATCH = 40
"""Steps of one match, beside those of scanning the text."""
_SCANNED = 3
"""Characters that are scanned in one step."""


@lru_cache(maxsize=COMPILED_PATTERNS)
def compiled(pattern: str) -> Any:
    """A compiled pattern. Failure where it is no regular expression."""
    re2: Any = importlib.import_module("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        if _BYTE.search(pattern):
            raise Failure(f"{pattern!r} is no regular expression: \\C")
        return re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise Failure(f"{pattern!r} is no regular expression: {reason}") from None


def _matches(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise no_overload("matches", text, pattern)
    return _is_found(compiled(pattern), text, pattern)


def _is_found(expression: Any, text: str, pattern: str) -> bool:
    if text.isascii() or _NO_BOUNDARY not in pattern:
        return expression.search(text) is not None
    return any(True for _ in _all(expression, text))


def _find(text: str, pattern: str) -> str:
    return next(_all(compiled(pattern), text), "")


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found: list[str] = []
    for part in _all(compiled(pattern), text):
        if len(found) == most:
            break
        found.append(part)
    return found


def _all(expression: Any, text: str) -> Iterator[str]:
    """All matches, as Go finds them. They do not overlap; an empty one does not follow another at once, and is not
    inside of a character."""
    end, data = -1, text.encode()
    for match in expression.finditer(data):
        spend(_MATCH + len(text) // _SCANNED)
        start, stop = match.span()
        if start == stop and data[start : start + 1] in _INSIDE:
            continue
        if stop > start or start != end:
            yield match.group().decode()
        end = stop


# Literal patterns


def _prepared(call: Call, run: Implementation, values: Sequence[Any], _: Callable[[Node], Type]) -> Prepared:
    """Compile a pattern that is written out now; of matches(text, pattern), a text that is as well.

    Source: github.com/google/cel-go v0.26, interpreter/decorators.go and cel/validator.go (ValidateRegexLiterals).
    """
    takes_text = call.function == "matches" and call.target is None and isinstance(call.args[0], Literal)
    for value in values if takes_text else values[1:2]:
        if isinstance(value, str):
            try:
                compiled(value)
            except Failure as failure:
                raise Fault(failure.problem, call.args[-1].at) from None
    if values[1] is NOT_LITERAL:
        return Prepared(run, is_lazy=False)
    return Prepared(_unwrapping(run), is_lazy=isinstance(values[1], str))


def _unwrapping(search: Implementation) -> Implementation:
    """A search for a literal pattern: Kubernetes takes a type for its name then, and an optional for its content."""

    def call(text: Any, *rest: Any) -> Any:
        while type(text) is Optional and text.has_value:
            [text] = text.content
        return search(text.name if type(text) is TypeValue else text, *rest)

    return call


# Prices


def _match_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    return Estimate((target.known_size + ONE).scaled(TRAVERSAL).times(args[0].known_size.scaled(PATTERN)))


def _find_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    if target is None or not args:
        return None
    cost = (target.known_size + ONE).scaled(TRAVERSAL).times(args[0].known_size.scaled(PATTERN))
    return Estimate(cost, Range(0, target.known_size.most))


def _charge(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil((1 + size_of(values[0])) * TRAVERSAL) * math.ceil(size_of(values[1]) * PATTERN)


_FIND = by_function(_find_estimate, _charge)

LIBRARY = Library(
    name="regex",
    overloads=(
        function("matches: matches(string, string) -> bool", _matches, UNIT, is_guarded=False, prepare=_prepared),
        method(
            "matches_string: string.matches(string) -> bool",
            _matches,
            by_overload(_match_estimate, _charge),
            is_guarded=False,
            prepare=_prepared,
        ),
        method("string_find_string: string.find(string) -> string", _find, _FIND, prepare=_prepared),
        method(
            "string_find_all_string: string.findAll(string) -> list(string)",
            _find_all,
            _FIND,
            is_growing=True,
            prepare=_prepared,
        ),
        method(
            "string_find_all_string_int: string.findAll(string, int) -> list(string)",
            _find_all,
            _FIND,
            is_growing=True,
            prepare=_prepared,
        ),
    ),
)
