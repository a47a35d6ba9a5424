"""Regular expressions, in the syntax and the linear time of RE2, which Kubernetes has as well.

Source: regexp of Go; k8s.io/apiserver v0.36, pkg/cel/library/regex.go.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from function.cel.effort import spend
from function.cel.problem import Failure
from function.cel.values.naming import no_overload

_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
"""A single byte: RE2 has it, Go does not."""

_NO_BOUNDARY = "\\B"
"""It holds inside of a character for RE2, which looks at bytes."""
_INSIDE = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))
"""Bytes of UTF-8 that no character begins with."""
_MATCH = 40
"""Steps for which one match stands, beside the text that is looked through for it."""
_SCANNED = 3
"""Characters that are looked through in one step."""


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """Failure on what is none."""
    re2: Any = importlib.import_module("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        if _BYTE.search(pattern):
            raise Failure(f"{pattern!r} is no regular expression: \\C")
        return re2.compile(pattern, options=options)
    except re2.error as error:
        said = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise Failure(f"{pattern!r} is no regular expression: {said}") from None


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
    """Those that do not overlap; an empty one does not follow another at once, nor stand inside of a character."""
    end, data = -1, text.encode()
    for match in expression.finditer(data):
        spend(_MATCH + len(text) // _SCANNED)
        start, stop = match.span()
        if start == stop and data[start : start + 1] in _INSIDE:
            continue
        if stop > start or start != end:
            yield match.group().decode()
        end = stop


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "matches": _matches,
    "matches_string": _matches,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}
"""By overload."""
