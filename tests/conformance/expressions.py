"""Expressions and devices at random: most of them well typed, some on purpose not.

An expression is a tree of templates, so that one that shows a difference can be made smaller. A hole names the sort of
what fills it; `{bool@x}` may use the variable x.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

DEEPEST = 5
_STRAY = 0.04
"""How often a hole is filled with some other sort."""
_HOLE = re.compile(r"\{(\w+)(?:@([\w,]+))?\}")

_ATTRIBUTES = "device.attributes"
_CAPACITY = "device.capacity"
_D, _X = '"gpu.nvidia.com"', '"x.example.com"'
_IDS = ("model", "arch", "n", "cores", "neg", "ecc", "mig", "cc", "dv", "fam", "nope")

LEAVES: dict[str, tuple[str, ...]] = {
    "bool": (
        "true",
        "false",
        "device.allowMultipleAllocations",
        f"has({_ATTRIBUTES}[{_D}].ecc)",
        f"{_D} in {_ATTRIBUTES}",
    ),
    "int": ("0", "1", "-1", "2", "7", "-7", "9223372036854775807", "-9223372036854775808", "0x1F", "007", "100"),
    "uint": ("0u", "1u", "2u", "18446744073709551615u", "0xFu"),
    "double": ("0.0", "-0.0", "0.5", "1.0", "2.0", "1e3", ".5", "-1.5", "9223372036854775808.0", "1e300", "0.1"),
    "string": (
        '""',
        '"a"',
        '"H100"',
        "'Hopper'",
        '"é€😀"',
        r'r"\d+"',
        r'"\n\t\u0041\x41\101"',
        '"1"',
        '"-5"',
        '"true"',
        '"1.5"',
        '"80Gi"',
        '"1.2.3"',
        '"a,b,,c"',
        '"  pad "',
        "device.driver",
        '"""a\nb"""',
        '"1h"',
        '"2024-02-29T12:00:00Z"',
    ),
    "pattern": (
        '"^H"',
        '"[0-9]+"',
        '"(a|b)*"',
        '"["',
        '"(?=x)"',
        '"."',
        '""',
        r'r"\w+"',
        '"(?i)h"',
        r'r"\pL"',
        '"a{2,1}"',
    ),
    "bytes": ('b""', 'b"a"', r'b"\xff\x00"', "b'é'", r'b"\303\251"'),
    "null": ("null",),
    "attribute": (
        *(f"{_ATTRIBUTES}[{_D}].{i}" for i in _IDS),
        f"{_ATTRIBUTES}[{_X}].fam",
        f'{_ATTRIBUTES}["none"].x',
    ),
    "quantity": (
        f"{_CAPACITY}[{_D}].memory",
        f"{_CAPACITY}[{_D}].half",
        f"{_CAPACITY}[{_X}].slots",
        f"{_CAPACITY}[{_D}].nope",
        f"{_CAPACITY}[{_D}].frac",
        'quantity("1Gi")',
        'quantity("500m")',
        'quantity("1e30")',
        'quantity("0.1n")',
        'quantity("x")',
        'quantity("7")',
        'quantity("1.5Gi")',
    ),
    "semver": (
        'semver("1.2.3")',
        'semver("1.2.3-rc.1+b")',
        'semver("v1.2", true)',
        'semver("1.2")',
        'semver("9.0.0", false)',
    ),
    "duration": (
        'duration("1h")',
        'duration("1h30m")',
        'duration("-1.5s")',
        'duration("0")',
        'duration("x")',
        'duration("1us1ns")',
    ),
    "timestamp": (
        'timestamp("2024-02-29T12:34:56.789Z")',
        'timestamp("2024-01-01T00:00:00+05:30")',
        "timestamp(0)",
        'timestamp("x")',
        'timestamp("9999-12-31T23:59:59Z")',
        'timestamp("0001-01-01T00:00:00Z")',
    ),
    "ints": ("[]", "[1]", "[1, 2, 3]", "[3, 1, 2, 1]", "[0, -1]"),
    "strings": ("[]", '["a"]', '["a", "b", "a"]', '["Hopper", "Ada"]'),
    "lists": ("[[1], [2, 3]]", "[[], [1]]", "[[1, 2]]"),
    "map": ("{}", '{"a": 1}', '{"a": 1, "b": 2}', '{"n": 0, "cores": 7}'),
    "anymap": (f"{_ATTRIBUTES}[{_D}]", f"{_ATTRIBUTES}[{_X}]", f'{_ATTRIBUTES}["none"]'),
    "domains": (_ATTRIBUTES, _CAPACITY),
    "opt": (
        "optional.none()",
        f"{_ATTRIBUTES}[{_D}].?n",
        f"{_ATTRIBUTES}[{_D}].?nope",
        f"{_ATTRIBUTES}.?none.?x",
        '{"a": 1}.?a',
    ),
    "optint": ("optional.of(1)", "[1][?0]", "[1][?3]", '{"a": 1}[?"a"]', '{"a": 1}.?b', "optional.ofNonZeroValue(0)"),
    "type": (
        "int",
        "string",
        "bool",
        "list",
        "map",
        "type",
        "double",
        "null_type",
        "bytes",
        "uint",
        "google.protobuf.Duration",
    ),
    "zone": ('"UTC"', '"America/New_York"', '"+05:30"', '"-02:30"', '"Mars"', '"05:00"'),
    "format": (
        '"%d"',
        '"%s"',
        '"%f"',
        '"%.2f"',
        '"%x %X"',
        '"%b"',
        '"%o"',
        '"%e"',
        '"%%"',
        '"%q"',
        '"%s-%s"',
        '"%.3e"',
    ),
}
"""By sort."""

_COMPARED = ("int", "uint", "double", "string", "bytes", "bool", "duration", "timestamp", "attribute")
_MEMBERS = (
    "int",
    "string",
    "double",
    "attribute",
    "null",
    "quantity",
    "semver",
    "bytes",
    "ints",
    "map",
    "opt",
    "type",
    "duration",
)

TEMPLATES: dict[str, tuple[str, ...]] = {
    "bool": (
        *(f"{{{one}}} {operator} {{{one}}}" for one in _COMPARED for operator in ("<", "<=", ">", ">=", "==", "!=")),
        *(f"{{{one}}} {operator} {{attribute}}" for one in (*_MEMBERS, "bool") for operator in ("==", "!=")),
        *(f"{{attribute}} {operator} {{{one}}}" for one in (*_MEMBERS, "bool") for operator in ("==", "!=", "<")),
        *(
            f"dyn({{{one}}}) == {{{two}}}"
            for one in ("int", "double", "uint", "ints", "map", "semver")
            for two in ("int", "double", "uint", "ints")
        ),
        "{int} < {double}",
        "{uint} >= {int}",
        "{double} > {uint}",
        "{ints} == {ints}",
        "{map} == {map}",
        "{map} != {anymap}",
        "{bool} && {bool}",
        "{bool} || {bool}",
        "!{bool}",
        "!!{attribute}",
        "({bool} ? {bool} : {bool})",
        "{attribute} && {bool}",
        "{attribute} || {bool}",
        "({attribute} ? {bool} : {attribute})",
        *(
            f"{{{one}}} in [{{{one}}}, {{{one}}}]"
            for one in ("int", "uint", "double", "string", "bool", "attribute", "bytes")
        ),
        "{attribute} in {ints}",
        "{attribute} in {strings}",
        "{int} in {ints}",
        "{string} in {strings}",
        "{string} in {map}",
        "{string} in {anymap}",
        "{string} in {domains}",
        "{attribute} in {attribute}",
        "{semver} in [{semver}]",
        "{attribute} in [1.0, 2.5]",
        '"{name}" in {anymap}',
        "has({map}.a)",
        "has({anymap}.{name})",
        f"has({_ATTRIBUTES}.{{name}})",
        "has({opt}.{name})",
        "{string}.contains({string})",
        "{string}.startsWith({string})",
        "{string}.endsWith({string})",
        "{string}.matches({pattern})",
        "{attribute}.matches({pattern})",
        "matches({string}, {pattern})",
        "{attribute}.contains({string})",
        "{attribute}.startsWith({attribute})",
        "isQuantity({string})",
        "isSemver({string})",
        "isSemver({string}, {bool})",
        "{quantity}.isGreaterThan({quantity})",
        "{quantity}.isLessThan({quantity})",
        "{quantity}.isInteger()",
        "{quantity} == {quantity}",
        "{quantity} != {quantity}",
        "{semver}.isGreaterThan({semver})",
        "{semver}.isLessThan({semver})",
        "{semver} == {semver}",
        "{attribute}.isGreaterThan({semver})",
        "{attribute}.isLessThan({attribute})",
        "{quantity}.isGreaterThan({attribute})",
        "{ints}.all(x, {bool@x})",
        "{ints}.exists(x, {bool@x})",
        "{ints}.exists_one(x, {bool@x})",
        "{strings}.existsOne(x, {bool@x})",
        "{strings}.all(x, {bool@x})",
        "{anymap}.all(k, {bool@k})",
        "{anymap}.exists(k, {bool@k})",
        "{map}.exists(k, {bool@k})",
        "{ints}.all(i, v, {bool@i,v})",
        "{map}.exists(k, v, {bool@k,v})",
        "{anymap}.all(k, v, {bool@k,v})",
        "{ints}.existsOne(i, v, {bool@i,v})",
        "{domains}.exists(k, {bool@k})",
        "{attribute}.all(x, {bool@x})",
        "{map}.exists_one(k, v, {bool@k,v})",
        *(
            f"cel.bind(b, {{{one}}}, {{bool@b}})"
            for one in ("int", "string", "attribute", "quantity", "anymap", "ints", "opt")
        ),
        "sets.contains({ints}, {ints})",
        "sets.intersects({strings}, {strings})",
        "sets.equivalent({ints}, {ints})",
        "{ints}.isSorted()",
        "{strings}.isSorted()",
        "{opt}.hasValue()",
        "{optint}.hasValue()",
        "{opt}.orValue({bool})",
        "{opt} == {opt}",
        "{optint} == {optint}",
        "{opt}.or({opt}).hasValue()",
        "type({any}) == {type}",
        "type({any}) == type({any})",
        "{type} == {type}",
        "{ints}.map(x, {bool@x}).exists(y, y)",
        "bool({string})",
        "bool({attribute})",
        "{attribute}",
        "{lists}.exists(x, {bool@x})",
        "[{attribute}, {attribute}] == [{attribute}, {attribute}]",
        "{opt}.optMap(o, {bool@o}).orValue({bool})",
        "dyn({bool})",
        "[{quantity}, {quantity}] == [{quantity}, {quantity}]",
        "[{bool}, {bool}].exists(x, {bool@x})",
    ),
    "int": (
        "{int} + {int}",
        "{int} - {int}",
        "{int} * {int}",
        "{int} / {int}",
        "{int} % {int}",
        "-{int}",
        "(-({int}))",
        "{attribute} + {int}",
        "{attribute} * {attribute}",
        "-{attribute}",
        "({bool} ? {int} : {int})",
        "size({string})",
        "{string}.size()",
        "{bytes}.size()",
        "size({ints})",
        "{map}.size()",
        "{anymap}.size()",
        "size({domains})",
        "size({attribute})",
        "{attribute}.size()",
        "int({string})",
        "int({double})",
        "int({uint})",
        "int({attribute})",
        "int({duration})",
        "int({timestamp})",
        "{string}.indexOf({string})",
        "{string}.indexOf({string}, {int})",
        "{string}.lastIndexOf({string})",
        "{string}.lastIndexOf({string}, {int})",
        "{ints}.indexOf({int})",
        "{ints}.lastIndexOf({int})",
        "{strings}.indexOf({string})",
        "{ints}.sum()",
        "{ints}.min()",
        "{ints}.max()",
        "{ints}[{int}]",
        "{map}[{string}]",
        "{map}.a",
        "{quantity}.asInteger()",
        "sign({quantity})",
        "{quantity}.compareTo({quantity})",
        "{semver}.compareTo({semver})",
        "{semver}.major()",
        "{semver}.minor()",
        "{semver}.patch()",
        "{attribute}.major()",
        "{attribute}.compareTo({semver})",
        "{optint}.value()",
        "{optint}.orValue({int})",
        "{optint}.optMap(o, {int@o}).orValue({int})",
        "cel.bind(b, {int}, {int@b})",
        *(
            f"{{timestamp}}.{part}()"
            for part in (
                "getFullYear",
                "getMonth",
                "getDate",
                "getDayOfMonth",
                "getDayOfWeek",
                "getDayOfYear",
                "getHours",
                "getMilliseconds",
            )
        ),
        "{timestamp}.getHours({zone})",
        "{timestamp}.getDate({zone})",
        "{timestamp}.getMinutes({zone})",
        "{duration}.getHours()",
        "{duration}.getMinutes()",
        "{duration}.getSeconds()",
        "{duration}.getMilliseconds()",
        "[{int}, {int}][{int}]",
        "{lists}[0][{int}]",
    ),
    "uint": (
        "{uint} + {uint}",
        "{uint} - {uint}",
        "{uint} * {uint}",
        "{uint} / {uint}",
        "{uint} % {uint}",
        "uint({int})",
        "uint({string})",
        "uint({double})",
        "uint({attribute})",
    ),
    "double": (
        "{double} + {double}",
        "{double} - {double}",
        "{double} * {double}",
        "{double} / {double}",
        "-{double}",
        "double({string})",
        "double({int})",
        "double({uint})",
        "double({attribute})",
        "{quantity}.asApproximateFloat()",
        "[{double}, {double}].max()",
    ),
    "string": (
        "{string} + {string}",
        "{string} + {attribute}",
        "string({int})",
        "string({uint})",
        "string({double})",
        "string({bool})",
        "string({bytes})",
        "string({duration})",
        "string({timestamp})",
        "string({attribute})",
        "{string}.lowerAscii()",
        "{string}.upperAscii()",
        "{string}.trim()",
        "{string}.substring({int})",
        "{string}.substring({int}, {int})",
        "{string}.charAt({int})",
        "{string}.replace({string}, {string})",
        "{string}.replace({string}, {string}, {int})",
        "{strings}.join()",
        "{strings}.join({string})",
        "{string}.find({pattern})",
        "{attribute}.find({pattern})",
        "{attribute}.lowerAscii()",
        "strings.quote({string})",
        "{format}.format([{any}])",
        "{format}.format([{any}, {any}])",
        "{strings}[{int}]",
        "({bool} ? {string} : {string})",
        "cel.bind(b, {string}, {string@b})",
        "{strings}.min()",
        "{attribute}.replace({string}, {string})",
    ),
    "bytes": ("bytes({string})", "{bytes} + {bytes}"),
    "attribute": (
        f"{_ATTRIBUTES}[{{string}}].{{name}}",
        f"{_ATTRIBUTES}[{_D}][{{string}}]",
        "dyn({any})",
        "({bool} ? {attribute} : {attribute})",
        "{anymap}[{string}]",
        "{opt}.value()",
    ),
    "quantity": (
        "{quantity}.add({quantity})",
        "{quantity}.add({int})",
        "{quantity}.sub({quantity})",
        "{quantity}.sub({int})",
        "quantity({string})",
        f"{_CAPACITY}[{{string}}][{{string}}]",
        "{quantity}.add({attribute})",
    ),
    "semver": ("semver({string})", "semver({string}, {bool})"),
    "duration": (
        "{duration} + {duration}",
        "{duration} - {duration}",
        "{timestamp} - {timestamp}",
        "duration({string})",
        "duration({int})",
    ),
    "timestamp": (
        "{timestamp} + {duration}",
        "{timestamp} - {duration}",
        "{duration} + {timestamp}",
        "timestamp({int})",
        "timestamp({string})",
    ),
    "ints": (
        "[{int}, {int}]",
        "[{int}, {attribute}]",
        "{ints} + {ints}",
        "{ints}.map(x, {int@x})",
        "{ints}.map(x, {bool@x}, {int@x})",
        "{ints}.filter(x, {bool@x})",
        "{ints}.slice({int}, {int})",
        "{ints}.sort()",
        "{ints}.reverse()",
        "{ints}.distinct()",
        "{ints}.sortBy(x, {int@x})",
        "lists.range(3)",
        "lists.range(-1)",
        "{lists}.flatten()",
        "{ints}.transformList(i, v, {int@i,v})",
        "{ints}.transformList(i, v, {bool@i,v}, {int@i,v})",
        "{map}.transformList(k, v, v)",
        "({bool} ? {ints} : {ints})",
        "[{int}, ?{optint}]",
        "cel.bind(b, {ints}, {ints@b})",
        "{map}.map(k, {int@k})",
    ),
    "strings": (
        "[{string}, {string}]",
        "{strings} + {strings}",
        "{strings}.map(x, {string@x})",
        "{strings}.filter(x, {bool@x})",
        "{anymap}.filter(k, {bool@k})",
        "{string}.split({string})",
        "{string}.split({string}, {int})",
        "{string}.findAll({pattern})",
        "{string}.findAll({pattern}, {int})",
        "{strings}.sort()",
        "{strings}.distinct()",
        "{strings}.sortBy(x, {int@x})",
        "{anymap}.map(k, k)",
        "{strings}.reverse()",
    ),
    "lists": ("[{ints}, {ints}]", "{ints}.map(x, [{int@x}])", "[{ints}].flatten({int})"),
    "map": (
        '{"a": {int}, {string}: {int}}',
        '{"a": {int}, ?"b": {optint}}',
        "{map}.transformMap(k, v, {int@k,v})",
        "{map}.transformMap(k, v, {bool@k,v}, {int@k,v})",
        "{map}.transformMapEntry(k, v, {{string@k,v}: {int@k,v}})",
        "({bool} ? {map} : {map})",
    ),
    "anymap": (f"{_ATTRIBUTES}[{{string}}]", "({bool} ? {anymap} : {anymap})", '{"a": {attribute}}'),
    "opt": (
        "optional.of({attribute})",
        "{anymap}[?{string}]",
        "{anymap}.?{name}",
        "{opt}.or({opt})",
        "{opt}.optMap(o, {any@o})",
        "{opt}.optFlatMap(o, {opt@o})",
        "optional.ofNonZeroValue({any})",
        "{opt}.?{name}",
        "{attribute}.?{name}",
    ),
    "optint": (
        "optional.of({int})",
        "{ints}[?{int}]",
        "{map}[?{string}]",
        "{optint}.or({optint})",
        "{optint}.optMap(o, {int@o})",
        "{optint}.optFlatMap(o, {optint@o})",
        "optional.ofNonZeroValue({int})",
    ),
    "type": ("type({any})",),
}
"""By sort, how larger expressions are made."""

_ANY = (
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "null",
    "attribute",
    "quantity",
    "semver",
    "duration",
    "timestamp",
    "ints",
    "strings",
    "map",
    "anymap",
    "opt",
    "optint",
    "type",
)


@dataclass(frozen=True, slots=True)
class Tree:
    """A template, and what fills its holes."""

    template: str
    parts: tuple[Tree, ...] = ()
    sort: str = field(default="bool", compare=False)

    def __str__(self) -> str:
        parts = iter(self.parts)
        return _HOLE.sub(lambda hole: _wrapped(self.template, hole, str(next(parts))), self.template)

    def smaller(self) -> Iterator[Tree]:
        """What may be tried in its place: a part of it, a leaf, or itself with one part smaller."""
        yield from self.parts
        if self.parts:
            yield from (Tree(leaf, (), self.sort) for leaf in LEAVES.get(self.sort, ("true",))[:2])
        for at, part in enumerate(self.parts):
            for less in part.smaller():
                yield Tree(self.template, (*self.parts[:at], less, *self.parts[at + 1 :]), self.sort)


def _wrapped(template: str, hole: re.Match[str], text: str) -> str:
    """In parentheses where an operator stands beside it."""
    before, after = template[: hole.start()], template[hole.end() :]
    inside = before.endswith(("(", "[", ", ", ": ", "? ")) or before == ""
    alone = inside and (after == "" or after.startswith((")", "]", ",", "}", " :", ":")))
    return text if alone or re.fullmatch(r"[\w.\"\[\]]+", text) else f"({text})"


def expression(random: Random, sort: str = "bool", depth: int = DEEPEST, scope: tuple[str, ...] = ()) -> Tree:
    """An expression of a sort, no deeper than `depth` templates."""
    if sort == "name":
        return Tree(random.choice(_IDS), (), sort)
    if random.random() < _STRAY:
        sort = random.choice(_ANY)
    if sort == "any":
        sort = random.choice(_ANY)
    if scope and random.random() < 0.3:
        return Tree(random.choice(scope), (), sort)
    if depth <= 0 or sort not in TEMPLATES or random.random() < 0.12:
        return Tree(random.choice(LEAVES[sort]), (), sort)
    template = random.choice(TEMPLATES[sort])
    holes = list(_HOLE.finditer(template))
    parts = (
        expression(
            random, hole[1], depth - random.choice((1, 1, 2)), scope + tuple(hole[2].split(",") if hole[2] else ())
        )
        for hole in holes
    )
    return Tree(template, tuple(parts), sort)


def device(random: Random) -> dict[str, Any]:
    """A device as ResourceSlices publish it; now and then one that is faulty."""
    attributes: dict[str, Any] = {
        "model": {"string": random.choice(("H100", "NVIDIA A100", "", "é€"))},
        "arch": {"string": random.choice(("Hopper", "Ada"))},
        "n": {"int": random.choice((0, 1, 7))},
        "cores": {"int": random.choice((16896, -(2**63), 2**63 - 1))},
        "neg": {"int": -7},
        "ecc": {"bool": random.random() < 0.5},
        "mig": {"bool": False},
        "cc": {"version": random.choice(("9.0.0", "8.9.0", "1.2.3"))},
        "dv": {
            "version": random.choice(("550.54.15-rc.1+b", "550.54.15", "1.0" if random.random() < 0.1 else "1.0.0"))
        },
        "x.example.com/fam": {"string": "a"},
    }
    amounts = {
        "memory": random.choice(("80Gi", "40Gi", "23034Mi")),
        "half": "500m",
        "frac": "1.5Gi",
        "x.example.com/slots": "7",
    }
    kept = {name: value for name, value in attributes.items() if random.random() < 0.9}
    return {
        "driver": random.choice(("gpu.nvidia.com", "gpu.nvidia.com", "gpu.nvidia.com", "x.example.com")),
        "attributes": kept,
        "capacity": {name: {"value": amount} for name, amount in amounts.items()},
        **({"allowMultipleAllocations": random.random() < 0.5} if random.random() < 0.5 else {}),
    }


def described(expression: str, device: dict[str, Any]) -> str:
    return f"{expression}\n  on {json.dumps(device)}"
