"""Numbers in 64 bits and doubles, and what is converted to them."""

from __future__ import annotations

from collections.abc import Mapping

LEAVES: Mapping[str, tuple[str, ...]] = {
    "int": (
        *("0", "1", "-1", "2", "3", "7", "-7", "100", "0x1F", "007", "-0x10", "1000000"),
        *("9223372036854775807", "-9223372036854775808", "9007199254740993", "4294967296", "-2147483648"),
    ),
    "uint": ("0u", "1u", "2u", "3U", "18446744073709551615u", "0xFu", "9223372036854775808u", "9007199254740993u"),
    "double": (
        *("0.0", "-0.0", "0.5", "1.0", "2.0", "3.0", "1e3", ".5", "-1.5", "0.1", "1E-7", "1e21", "123456789.125"),
        *("9223372036854775808.0", "9223372036854775807.0", "-9223372036854775808.0", "18446744073709551615.0"),
        *("1e300", "5e-324", "1.7976931348623157e308", "0.0 / 0.0", "1.0 / 0.0", "-1.0 / 0.0", "9007199254740993.0"),
    ),
    "number": (
        *('""', '" 1"', '"1 "', '"+1"', '"-1"', '"01"', '"1_000"', '"0x10"', '"1e3"', '"1.5"', '".5"', '"5."', '"1u"'),
        *('"9223372036854775807"', '"9223372036854775808"', '"-9223372036854775808"', '"18446744073709551615"'),
        *('"NaN"', '"nan"', '"inf"', '"-Inf"', '"+Infinity"', '"1e400"', '"0x1p-2"', '"1e-400"', '"-0"', '"٣"', '"e"'),
        *('"true"', '"TRUE"', '"True"', '"t"', '"T"', '"tRUE"', '"1"', '"0"', '"f"', '"F"', '"False"', '"yes"'),
    ),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": (
        "{int} / {int} == {int}",
        "double({number}) == {double}",
        "int({number}) == {int}",
        "uint({number}) == {uint}",
        "bool({number})",
        "string({double}) == {string}",
        "string(double({number})) == {number}",
        "int({double}) == {int}",
        "uint({double}) == {uint}",
    ),
    "int": (
        *(f"{{int}} {operator} {{int}}" for operator in "+-*/%"),
        "-{int}",
        "(-({int}))",
        "{attribute} + {int}",
        "{attribute} * {attribute}",
        "-{attribute}",
        "dyn({any}) + dyn({any})",
        "dyn({any}) - dyn({any})",
        "dyn({any}) * dyn({any})",
        "dyn({any}) / dyn({any})",
        "dyn({any}) % dyn({any})",
        "-dyn({any})",
        "({bool} ? {int} : {int})",
        "cel.bind(b, {int}, {int@b})",
        "int({string})",
        "int({number})",
        "int({double})",
        "int({uint})",
        "int({int})",
        "int({attribute})",
        "int({duration})",
        "int({timestamp})",
    ),
    "uint": (
        *(f"{{uint}} {operator} {{uint}}" for operator in "+-*/%"),
        "uint({int})",
        "uint({string})",
        "uint({number})",
        "uint({double})",
        "uint({uint})",
        "uint({attribute})",
    ),
    "double": (
        *(f"{{double}} {operator} {{double}}" for operator in "+-*/"),
        "-{double}",
        "double({string})",
        "double({number})",
        "double({int})",
        "double({uint})",
        "double({double})",
        "double({attribute})",
        "{quantity}.asApproximateFloat()",
        "[{double}, {double}].max()",
    ),
}
