"""What is declared for each type that has an order: comparisons across numbers, and the functions of lists."""

from __future__ import annotations

from collections.abc import Mapping

_NUMBERS = ("int", "uint", "double")
_ORDERED = (*_NUMBERS, "bool", "duration", "timestamp", "string", "bytes")
_LISTS = tuple(f"[{{{one}}}, {{{one}}}, {{{one}}}]" for one in _ORDERED)

LEAVES: Mapping[str, tuple[str, ...]] = {"listed": ("[1u, 0u]", "[0.5, 0.1]", "[true, false]", "[b'b', b'a']")}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "listed": (*_LISTS, "{listed}.sort()", "{listed}.reverse()", "{listed}.distinct()", "{listed} + {listed}"),
    "bool": (
        *(
            f"{{{one}}} {operator} {{{two}}}"
            for one in _NUMBERS
            for two in _NUMBERS
            if one != two
            for operator in ("<", "<=", ">", ">=")
        ),
        *(f"{one}.isSorted()" for one in _LISTS),
        *(f"{one}.sort() == {one}" for one in _LISTS),
        *(
            f"{one}.{which}() == {{{sort}}}"
            for one, sort in zip(_LISTS, _ORDERED, strict=True)
            for which in ("max", "min")
        ),
        *(f"[{{{one}}}, {{{one}}}].sum() == {{{one}}}" for one in (*_NUMBERS, "duration")),
        *(f"{{ints}}.sortBy(x, {{{one}@x}}) == {{ints}}" for one in _ORDERED),
        "{listed} == {listed}",
        "{listed}.isSorted()",
        "{any} in {listed}",
        "sets.equivalent({listed}, {listed})",
        "{listed}.max() == {any}",
        "{listed}.indexOf({any}) == {int}",
        "dyn({listed}).sort() == {listed}",
        "dyn({listed}).sum() == dyn({any})",
        "{listed}.map(x, {listed@x})[{int}].isSorted()",
        "{listed}.exists(x, {bool@x})",
    ),
    "mixed": ("dyn({listed})", "[{listed}, {mixed}].flatten()", "{listed}.map(x, dyn({any@x}))"),
}
