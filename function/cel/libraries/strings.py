"""The functions over strings. Positions count characters.

Source: github.com/google/cel-go v0.26, ext/strings.go (version 2) and common/types/string.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from function.cel.golang.strconv import ESCAPES
from function.cel.language.declarations.cost import (
    ELEMENTS,
    TRAVERSAL,
    UNIT,
    Argument,
    Estimate,
    by_function,
    by_overload,
    double_text_charge,
    of_text,
    size_of,
    text_charge,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.declarations.ranges import MOST, Range
from function.cel.language.errors import Failure
from function.cel.language.limits.step_budget import write
from function.cel.language.values.type_names import no_overload

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


# Prices


def _rewritten(target: Argument | None, _: Sequence[Argument]) -> Estimate | None:
    return Estimate(target.known_size.scaled(TRAVERSAL), target.known_size) if target else None


def _contains_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    return Estimate(target.known_size.scaled(TRAVERSAL).times(args[0].known_size.scaled(TRAVERSAL)))


def _contains_charge(values: Sequence[Any], _: Any) -> int:
    return math.ceil(size_of(values[0]) * TRAVERSAL) * math.ceil(size_of(values[1]) * TRAVERSAL)


def _replace_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    size, old, new = target.known_size, args[0].known_size, args[1].known_size
    most, kept_most = _replacements(size.most, old.least, shrinks=new.most <= old.least)
    least, kept_least = _replacements(size.least, old.most, shrinks=old.most <= new.least)
    result = Range(least, most).times(new) + Range(kept_least, kept_most)
    return Estimate(size.scaled(2 * TRAVERSAL), result)


def _replacements(size: int, old: int, *, shrinks: bool) -> tuple[int, int]:
    """How often a text can be replaced, and how much of the target stays."""
    if old == 0:
        return (size + 1 if size < MOST else size), size
    if shrinks:
        return 0, size
    return min(MOST, math.ceil(float(size) / float(old))), 0


def _split_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    most = target.known_size.most
    if len(args) > 1 and type(args[1].literal) is int:
        most = args[1].literal % 2**64
    return Estimate(target.known_size.scaled(2 * TRAVERSAL), Range(0, most))


def _join_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    item, count = target.item, target.known_size
    size = count.times(item.known_size) if item else Range(0, 0)
    if args:
        size += args[0].known_size.times(Range(max(0, count.least - 1), max(0, count.most - 1)))
    return Estimate(size.scaled(TRAVERSAL), size)


def _join_charge(_: Sequence[Any], result: Any) -> int:
    return math.ceil(size_of(result) * 2 * TRAVERSAL)


_REWRITTEN = by_function(_rewritten, text_charge)
_CONTAINS = by_overload(_contains_estimate, _contains_charge)
_REPLACE = by_function(_replace_estimate, double_text_charge)
_SPLIT = by_function(_split_estimate, double_text_charge)
_JOIN = by_function(_join_estimate, _join_charge, needs_result=True)

LIBRARY = Library(
    name="strings",
    overloads=(
        method(
            "contains_string: string.contains(string) -> bool",
            _method("contains", str.__contains__),
            _CONTAINS,
            is_guarded=False,
        ),
        method(
            "ends_with_string: string.endsWith(string) -> bool",
            _method("endsWith", str.endswith),
            of_text(),
            is_guarded=False,
        ),
        method(
            "starts_with_string: string.startsWith(string) -> bool",
            _method("startsWith", str.startswith),
            of_text(),
            is_guarded=False,
        ),
        method("string_char_at_int: string.charAt(int) -> string", _char_at, UNIT),
        method("string_index_of_string: string.indexOf(string) -> int", _index_of, ELEMENTS),
        method("string_index_of_string_int: string.indexOf(string, int) -> int", _index_of, ELEMENTS),
        method("string_last_index_of_string: string.lastIndexOf(string) -> int", _last_index_of, ELEMENTS),
        method("string_last_index_of_string_int: string.lastIndexOf(string, int) -> int", _last_index_of, ELEMENTS),
        method("string_lower_ascii: string.lowerAscii() -> string", lambda text: text.translate(_LOWER), _REWRITTEN),
        method("string_upper_ascii: string.upperAscii() -> string", lambda text: text.translate(_UPPER), _REWRITTEN),
        method(
            "string_replace_string_string: string.replace(string, string) -> string",
            _replaced,
            _REPLACE,
            is_growing=True,
        ),
        method(
            "string_replace_string_string_int: string.replace(string, string, int) -> string",
            _replaced,
            _REPLACE,
            is_growing=True,
        ),
        method("string_split_string: string.split(string) -> list(string)", _split, _SPLIT, is_growing=True),
        method("string_split_string_int: string.split(string, int) -> list(string)", _split, _SPLIT, is_growing=True),
        method("string_substring_int: string.substring(int) -> string", _substring, _REWRITTEN),
        method("string_substring_int_int: string.substring(int, int) -> string", _substring, _REWRITTEN),
        method("string_trim: string.trim() -> string", lambda text: text.strip(_SPACE), _REWRITTEN),
        function(
            "strings_quote: strings.quote(string) -> string",
            lambda text: f'"{text.translate(_QUOTED)}"',
            of_text(lambda size: Range((size.least + 2) % 2**64, (size.most * 2 + 2) % 2**64)),
            is_growing=True,
        ),
        method("list_join: list(string).join() -> string", _joined, _JOIN, is_growing=True),
        method("list_join_string: list(string).join(string) -> string", _joined, _JOIN, is_growing=True),
    ),
)
