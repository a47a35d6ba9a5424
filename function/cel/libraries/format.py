"""Named formats, and what is wrong with a text that should have one.

A selector can read what `validate` returns, so each sentence here is that of Kubernetes.

Source: k8s.io/apiserver v0.36, pkg/cel/library/format.go (ConstantFormats); k8s.io/apimachinery v0.36,
pkg/api/validate/content (the sentences); k8s.io/kube-openapi, pkg/validation/strfmt.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from function.cel.golang import url_parser
from function.cel.golang.strconv import Malformed, quoted, to_bytes
from function.cel.language.declarations.cost import (
    PATTERN,
    TRAVERSAL,
    UNIT,
    Argument,
    Estimate,
    by_function,
    size_of,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.limits.step_budget import write
from function.cel.language.values.kinds import NONE, Optional
from function.cel.language.values.opaque import OpaqueType

Judge: TypeAlias = Callable[[str], list[str]]
_LABEL_LENGTH, _SUBDOMAIN_LENGTH = 63, 253
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format. Two are equal when their names are."""

    name: str
    faults: Judge = field(compare=False, repr=False)
    """Return what is wrong with a text, in sentences. Empty if it has the format."""
    pattern: int = field(compare=False)
    """Length of a regular expression that takes about as long to match: the price."""


@dataclass(frozen=True, slots=True)
class _Grammar:
    """A regular expression, with the sentence for a text that does not match it."""

    pattern: str
    rule: str
    examples: tuple[str, ...]

    @property
    def fault(self) -> str:
        examples = " or ".join(f"'{example}', " for example in self.examples)
        return f"{self.rule} (e.g. {examples}regex used for validation is '{self.pattern}')"

    def fits(self, data: bytes) -> bool:
        return re.fullmatch(self.pattern.encode(), data) is not None


_EMPTY = "must be non-empty"
_ALPHANUMERIC = "must start and end with an alphanumeric character"
_LABEL = _Grammar(
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ALPHANUMERIC}",
    ("my-name", "123-abc"),
)
_SUBDOMAIN = _Grammar(
    rf"{_LABEL.pattern}(\.{_LABEL.pattern})*",
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_ALPHANUMERIC}",
    ("example.com",),
)
_OLD_LABEL = _Grammar(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    ("my-name", "abc-123"),
)
_NAME = _Grammar(
    "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_ALPHANUMERIC}",
    ("MyName", "my.name", "123-abc"),
)
_VALUE = _Grammar(
    f"({_NAME.pattern})?",
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_ALPHANUMERIC}",
    ("MyValue", "my_value", "12345"),
)
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_CLOCK = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})")
_YEARS, _MONTHS, _HOURS, _MINUTES = 400, 12, 23, 59


def _too_long(data: bytes, most: int, unit: str) -> list[str]:
    return [f"must be no more than {most} {unit}"] if len(data) > most else []


def _judged(data: bytes, grammar: _Grammar, most: int, unit: str = "characters") -> list[str]:
    """Faults of length and of grammar. Arguments: unit: the word for bytes in the sentence."""
    return _too_long(data, most, unit) + ([] if grammar.fits(data) else [grammar.fault])


def _label(data: bytes) -> list[str]:
    if _SUBDOMAIN.fits(data) and not _LABEL.fits(data):
        return [*_too_long(data, _LABEL_LENGTH, "characters"), "must not contain dots"]
    return _judged(data, _LABEL, _LABEL_LENGTH)


def _subdomain(data: bytes) -> list[str]:
    return _judged(data, _SUBDOMAIN, _SUBDOMAIN_LENGTH)


def _old_label(data: bytes) -> list[str]:
    return _judged(data, _OLD_LABEL, _LABEL_LENGTH)


def _value(data: bytes) -> list[str]:
    return _judged(data, _VALUE, _LABEL_LENGTH, "bytes")


def _qualified(data: bytes) -> list[str]:
    """A name, which may follow a domain and a slash."""
    prefix, slash, name = data.rpartition(b"/")
    if b"/" in prefix:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_NAME.fault} {optional}"]
    before = _judged(prefix, _SUBDOMAIN, _SUBDOMAIN_LENGTH, "bytes") if prefix else [_EMPTY]
    own = _judged(name, _NAME, _LABEL_LENGTH, "bytes") if name else [_EMPTY, _NAME.fault]
    return [f"prefix part {fault}" for fault in before if slash] + [f"name part {fault}" for fault in own]


def _of(judge: Callable[[bytes], list[str]]) -> Judge:
    return lambda text: judge(to_bytes(text))


def _beginning(judge: Callable[[bytes], list[str]]) -> Judge:
    """A prefix of a name. Where it ends with a dash, the dash and the byte before it may be followed by anything."""
    return lambda text: judge(_continued(to_bytes(text)))


def _continued(data: bytes) -> bytes:
    return data[:-2] + b"a" if len(data) > 1 and data.endswith(b"-") else data


def _uri(text: str) -> list[str]:
    try:
        url_parser.check(text)
    except Malformed as malformed:
        write(len(text))
        return [f"parse {quoted(text)}: {malformed}"]
    return []


def _unless(holds: Callable[[str], bool], fault: str) -> Judge:
    return lambda text: [] if holds(text) else [fault]


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def _is_base64(text: str) -> bool:
    return _BASE64.fullmatch(to_bytes(text)) is not None


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    return 1 <= month <= _MONTHS and 1 <= day <= monthrange(year % _YEARS + _YEARS, month)[1]


def _is_datetime(text: str) -> bool:
    """Nothing after a second T is looked at."""
    date, *rest = re.split("[tT]", text, maxsplit=2)
    found = _CLOCK.fullmatch(rest[0]) if rest else None
    if found is None or not _is_date(date):
        return False
    hour, minute, second = map(int, found.groups())
    return hour <= _HOURS and minute <= _MINUTES and second <= _MINUTES


FORMATS: Mapping[str, Format] = {
    "dns1123Label": Format("DNS1123Label", _of(_label), 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", _of(_subdomain), 60),
    "dns1035Label": Format("DNS1035Label", _of(_old_label), 30),
    "qualifiedName": Format("QualifiedName", _of(_qualified), 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _beginning(_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _beginning(_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _beginning(_old_label), 30),
    "labelValue": Format("LabelValue", _of(_value), 40),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format("uuid", _unless(_is_uuid, "does not match the UUID format"), 70),
    "byte": Format("byte", _unless(_is_base64, "invalid base64"), 84),
    "date": Format("date", _unless(_is_date, "invalid date"), 71),
    "datetime": Format("datetime", _unless(_is_datetime, "invalid datetime"), 71),
}
"""Formats by the names that expressions use."""


# Functions


def _named(name: str) -> Optional:
    return Optional((FORMATS[name],)) if name in FORMATS else NONE


def _validate(format_: Format, text: str) -> Optional:
    faults = format_.faults(text)
    return Optional((faults,)) if faults else NONE


def _constant(format_: Format) -> Callable[[], Format]:
    return lambda: format_


# Prices

_LONGEST_NAME, _LONGEST_PATTERN = 64, 128
"""Characters by which the estimate prices any format."""


def _validate_estimate(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    return Estimate(args[0].known_size.scaled(TRAVERSAL).scaled(_LONGEST_PATTERN * PATTERN)) if args else None


def _validate_charge(values: Sequence[Any], _: Any) -> int:
    if not isinstance(values[0], Format):
        return 1
    return math.ceil((1 + size_of(values[1])) * TRAVERSAL) * math.ceil(values[0].pattern * PATTERN)


LIBRARY = Library(
    name="formats",
    types=(
        OpaqueType(
            name="format",
            type_name="kubernetes.NamedFormat",
            values=Format,
            panics_as_key=True,
            equality_size=_LONGEST_NAME,
        ),
    ),
    overloads=(
        function("format-named: format.named(string) -> optional(format)", _named, UNIT),
        method(
            "format-validate: format.validate(string) -> optional(list(string))",
            _validate,
            by_function(_validate_estimate, _validate_charge),
        ),
        *(
            function(f"format.{name}: format.{name}() -> format", _constant(format_), UNIT)
            for name, format_ in FORMATS.items()
        ),
    ),
)
