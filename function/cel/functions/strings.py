"""The functions over strings, counted in characters.

Source: github.com/google/cel-go v0.26, ext/strings.go (version 2) and common/types/string.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from function.cel.effort import write
from function.cel.problem import Failure
from function.cel.values.naming import no_overload
from function.cel.values.quoting import ESCAPES

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {c: c + 32 for c in range(ord("A"), ord("Z") + 1)}
_UPPER = {c: c - 32 for c in range(ord("a"), ord("z") + 1)}
_QUOTED = str.maketrans(ESCAPES)


def _out_of_range(index: int) -> Failure:
    return Failure(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        if not part:
            return len(text)
        if len(text.encode()) < len(part.encode()):
            return -1
        start = len(text) - 1
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


def _replaced(text: str, old: str, new: str, times: int = -1) -> str:
    found = text.count(old) if times < 0 else min(times, text.count(old))
    write(len(text) + found * (len(new) - len(old)))
    return text.replace(old, new, times if times >= 0 else -1)


def _split(text: str, separator: str, times: int = -1) -> list[str]:
    if times == 0:
        return []
    if not separator:
        parts = list(text)
        return [*parts[: times - 1], "".join(parts[times - 1 :])] if 0 < times < len(parts) else parts
    return text.split(separator, times - 1 if times > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    end = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if start > end:
        raise Failure(f"the substring begins at {start} and ends at {end}")
    if end > len(text):
        raise _out_of_range(end)
    return text[start:end]


def _joined(parts: list[Any], separator: str = "") -> str:
    if not all(isinstance(p, str) for p in parts):
        raise Failure("join wants a list of strings")
    write(sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


def _method(name: str, method: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def called(text: Any, part: Any) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise no_overload(name, text, part)
        return method(text, part)

    return called


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "contains_string": _method("contains", str.__contains__),
    "ends_with_string": _method("endsWith", str.endswith),
    "starts_with_string": _method("startsWith", str.startswith),
    "string_char_at_int": _char_at,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "string_last_index_of_string": _last_index_of,
    "string_last_index_of_string_int": _last_index_of,
    "string_lower_ascii": lambda text: text.translate(_LOWER),
    "string_upper_ascii": lambda text: text.translate(_UPPER),
    "string_replace_string_string": _replaced,
    "string_replace_string_string_int": _replaced,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "string_substring_int": _substring,
    "string_substring_int_int": _substring,
    "string_trim": lambda text: text.strip(_SPACE),
    "strings_quote": lambda text: f'"{text.translate(_QUOTED)}"',
    "list_join": _joined,
    "list_join_string": _joined,
}
"""By overload."""
