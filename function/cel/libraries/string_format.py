"""`"...".format([...])`: its clauses, checked when a literal is compiled, and filled in when it is evaluated.

Source: github.com/google/cel-go v0.26, ext/formatting.go, in its only locale here, en_US, and what that is built on:
golang.org/x/text v0.33, message and internal/number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from function.cel.golang.strconv import quoted
from function.cel.language.checking.explain import a
from function.cel.language.declarations.cost import TRAVERSAL, Argument, Estimate, by_overload, text_charge
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Implementation, Prepared, method
from function.cel.language.declarations.types import Type
from function.cel.language.errors import Failure, Fault
from function.cel.language.limits import DOUBLE_DECIMALS, FORMAT_PRECISION
from function.cel.language.limits.step_budget import write
from function.cel.language.syntax.tree import Call, ListLiteral, Literal, MapLiteral, Node
from function.cel.language.values.kinds import INT_MAX, Duration, Timestamp, TypeValue, Uint, from_key, keys_of
from function.cel.language.values.spelling import (
    bool_to_string,
    bytes_to_string,
    double_to_string,
    duration_to_string,
    timestamp_to_string,
)
from function.cel.language.values.type_names import no_overload

_CLAUSE = re.compile(r"%(?:(%)|(?:\.([0-9]+))?([sdfebxXo])|(.?))", re.DOTALL)
_PRECISION = 6
_UNREAD = "%!(NOVERB)"
"""The text that Go writes for a number if the precision of a clause is too large."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Clause(NamedTuple):
    letter: str
    precision: int


def _parsed(text: str) -> list[str | Clause]:
    """Texts and clauses in turn. Failure where a clause does not exist."""
    parts: list[str | Clause] = []
    end = 0
    for found in _CLAUSE.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        if found[1]:
            parts.append("%")
        elif found[3]:
            parts.append(Clause(found[3], _precision(found[2]) if found[2] else _PRECISION))
        else:
            raise Failure(f"there is no formatting clause %{found[4]}")
    return [*parts, text[end:]]


def _precision(digits: str) -> int:
    if len(digits.lstrip("0")) > len(str(INT_MAX)) or int(digits) > INT_MAX:
        raise Failure(f"{digits} is no precision")
    return int(digits)


# Literals

_KINDS: Mapping[str, frozenset[str]] = {
    "s": frozenset(
        {"list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"}
    ),
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": frozenset({"int", "uint", "bool"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
    "X": frozenset({"int", "uint", "string", "bytes"}),
    "o": frozenset({"int", "uint"}),
}


def _prepared(call: Call, run: Implementation, _: Sequence[Any], type_of: Callable[[Node], Type]) -> Prepared:
    """Check a literal text against a literal list. cel-go evaluates the arguments of format() lazily in any case.

    Source: github.com/google/cel-go v0.26, ext/formatting.go (stringFormatValidator).
    """
    target, [arguments] = call.target, call.args
    if isinstance(target, Literal) and isinstance(target.value, str) and isinstance(arguments, ListLiteral):
        _check_literals(target, target.value, arguments, type_of)
    return Prepared(run, is_lazy=True)


def _check_literals(target: Node, text: str, arguments: ListLiteral, type_of: Callable[[Node], Type]) -> None:
    try:
        clauses = [p for p in _parsed(text) if isinstance(p, Clause)]
    except Failure as failure:
        raise Fault(failure.problem, target.at) from None
    if len(clauses) != len(arguments.items):
        raise Fault(f"the text has {len(clauses)} clauses, and the list {len(arguments.items)} values", target.at)
    for clause, argument in zip(clauses, arguments.items, strict=True):
        _check(clause.letter, argument, type_of)


def _check(letter: str, node: Node, type_of: Callable[[Node], Type]) -> None:
    type_ = type_of(node)
    if type_.kind != "dyn" and type_.kind not in _KINDS[letter]:
        raise Fault(f"%{letter} does not take {a(type_)}", node.at)
    if letter == "s" and isinstance(node, ListLiteral):
        inside = node.items
    elif letter == "s" and isinstance(node, MapLiteral):
        inside = [n for key, value, _ in node.entries for n in (key, value)]
    else:
        inside = []
    for part in inside:
        _check(letter, part, type_of)


# Evaluation


def _formatted(text: str, values: list[Any]) -> str:
    parts = _parsed(text)
    if sum(isinstance(p, Clause) for p in parts) > len(values):
        raise Failure("the list has fewer values than the text has clauses")
    left = iter(values)
    filled = []
    for part in parts:
        filled.append(part if isinstance(part, str) else _filled(part, next(left)))
        write(len(filled[-1]))
    return "".join(filled)


def _filled(clause: Clause, value: Any) -> str:
    return _FILL[clause.letter](value, clause)


def _wrong(clause: Clause, value: Any) -> Failure:
    return no_overload(f"%{clause.letter}", value)


def _string(value: Any, clause: Clause) -> str:
    match value:
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            return _map(value)
        case TypeValue(name=name):
            return name
        case bool() | int() | float() | str() | bytes() | Timestamp() | Duration():
            return str(_TO_STRING[type(value)](value))
    raise _wrong(clause, value)


_TO_STRING: Mapping[type, Callable[..., Any]] = {
    bool: bool_to_string,
    int: str,
    Uint: str,
    float: double_to_string,
    str: str,
    bytes: bytes_to_string,
    Timestamp: timestamp_to_string,
    Duration: duration_to_string,
}


def _map(value: dict[Any, Any]) -> str:
    if not all(isinstance(key, str | bool | int) for key in keys_of(value)):
        raise Failure("%s does not take a map with such keys")
    pairs = sorted((_literal(from_key(key)), _literal(content)) for key, content in value.items())
    return f"{{{', '.join(f'{key}:{content}' for key, content in pairs)}}}"


def _literal(value: Any) -> str:
    """A value inside of a list or map."""
    match value:
        case str():
            return quoted(value)
        case bytes():
            return "b" + quoted(_string(value, Clause("s", 0)))
        case float():
            text = double_to_string(value)
            return f"{value:.6f}" if math.isfinite(value) else f'"{text}"'
        case Timestamp():
            return f'timestamp("{timestamp_to_string(value)}")'
        case Duration():
            return f'duration("{duration_to_string(value)}")'
    return _string(value, Clause("s", 0))


def _decimal(value: Any, clause: Clause) -> str:
    if type(value) not in (int, Uint):
        raise _wrong(clause, value)
    return str(int(value))


def _number(value: Any, clause: Clause) -> float:
    if type(value) is float:
        return value
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    raise _wrong(clause, value)


def _fixed(value: Any, clause: Clause) -> str:
    """%f. Kubernetes keeps the precision in small integers, into which not every one fits."""
    number = _number(value, clause) or 0.0
    if clause.precision > FORMAT_PRECISION:
        return _UNREAD
    if not math.isfinite(number):
        return _unbounded(number)
    least, most = clause.precision % 2**8, (clause.precision + 2**15) % 2**16 - 2**15
    exact = f"{number:,.{min(most, DOUBLE_DECIMALS)}f}" if most >= 0 else f"{Decimal(repr(number)):,f}"
    whole, _, decimals = exact.partition(".")
    decimals = decimals.rstrip("0").ljust(least, "0")
    return f"{whole}.{decimals}" if decimals else whole


def _scientific(value: Any, clause: Clause) -> str:
    """%e. Always six decimals: Kubernetes uses the precision as the least width."""
    number = _number(value, clause) or 0.0
    if clause.precision > FORMAT_PRECISION:
        return _UNREAD
    width = clause.precision % 2**16
    if not math.isfinite(number):
        return _unbounded(number).rjust(width)
    mantissa, exponent = f"{number:.6e}".split("e")
    sign = "-" if exponent[0] == "-" else ""
    return f"{mantissa}\u00d710{(sign + exponent[1:]).translate(_SUPERSCRIPTS)}".rjust(width)


def _unbounded(number: float) -> str:
    if number != number:  # noqa: PLR0124  (not a number)
        return "NaN"
    return "∞" if number > 0 else "-∞"


def _binary(value: Any, clause: Clause) -> str:
    if value is True or value is False:
        return "1" if value else "0"
    if type(value) not in (int, Uint):
        raise _wrong(clause, value)
    return format(int(value), "b")


def _hex(value: Any, clause: Clause) -> str:
    if isinstance(value, str | bytes):
        text = (value.encode() if isinstance(value, str) else value).hex()
    elif type(value) in (int, Uint):
        text = format(int(value), "x")
    else:
        raise _wrong(clause, value)
    return text.upper() if clause.letter == "X" else text


def _octal(value: Any, clause: Clause) -> str:
    if type(value) not in (int, Uint):
        raise _wrong(clause, value)
    return format(int(value), "o")


_FILL: Mapping[str, Callable[[Any, Clause], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "X": _hex,
    "o": _octal,
}


def _estimate(target: Argument | None, _: Sequence[Argument]) -> Estimate | None:
    return Estimate(target.known_size.scaled(TRAVERSAL)) if target else None


LIBRARY = Library(
    name="format",
    overloads=(
        method(
            "string_format: string.format(list(dyn)) -> string",
            _formatted,
            by_overload(_estimate, text_charge),
            is_growing=True,
            prepare=_prepared,
        ),
    ),
)
