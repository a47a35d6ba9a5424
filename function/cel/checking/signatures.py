"""The functions that an expression can call, with the types that they take.

Source: github.com/google/cel-go v0.26, common/stdlib, ext and cel/library.go; k8s.io/apiserver v0.36, pkg/cel/library
and pkg/cel/environment (which of them are declared, in which version). A line reads `identity: signature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from function.cel.checking import overloads
from function.cel.checking.libraries import ADDRESSES, AUTHORIZATION, NAMED_FORMATS, URLS
from function.cel.checking.overloads import Overload

_COMPARED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_NUMBERS = ("int", "uint", "double")
_SORTED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ACROSS = {"int": ("double", "uint"), "uint": ("double", "int"), "double": ("int", "uint")}
"""Numbers that a number is compared with, as they are declared: the first that fits an unknown type binds it."""
_IDS = {"int": "int64", "uint": "uint64"}

OPERATORS = """
conditional: _?_:_(bool, A, A) -> A
logical_and: _&&_(bool, bool) -> bool
logical_or: _||_(bool, bool) -> bool
logical_not: !_(bool) -> bool
not_strictly_false: @not_strictly_false(bool) -> bool
equals: _==_(A, A) -> bool
not_equals: _!=_(A, A) -> bool
add_bytes: _+_(bytes, bytes) -> bytes
add_double: _+_(double, double) -> double
add_duration_duration: _+_(duration, duration) -> duration
add_duration_timestamp: _+_(duration, timestamp) -> timestamp
add_timestamp_duration: _+_(timestamp, duration) -> timestamp
add_int64: _+_(int, int) -> int
add_list: _+_(list(A), list(A)) -> list(A)
add_string: _+_(string, string) -> string
add_uint64: _+_(uint, uint) -> uint
subtract_double: _-_(double, double) -> double
subtract_duration_duration: _-_(duration, duration) -> duration
subtract_int64: _-_(int, int) -> int
subtract_timestamp_duration: _-_(timestamp, duration) -> timestamp
subtract_timestamp_timestamp: _-_(timestamp, timestamp) -> duration
subtract_uint64: _-_(uint, uint) -> uint
multiply_double: _*_(double, double) -> double
multiply_int64: _*_(int, int) -> int
multiply_uint64: _*_(uint, uint) -> uint
divide_double: _/_(double, double) -> double
divide_int64: _/_(int, int) -> int
divide_uint64: _/_(uint, uint) -> uint
modulo_int64: _%_(int, int) -> int
modulo_uint64: _%_(uint, uint) -> uint
negate_double: -_(double) -> double
negate_int64: -_(int) -> int
index_list: _[_](list(A), int) -> A
index_map: _[_](map(A, B), A) -> B
optional_list_index_int: _[_](optional(list(V)), int) -> optional(V)
optional_map_index_value: _[_](optional(map(K, V)), K) -> optional(V)
in_list: @in(A, list(A)) -> bool
in_map: @in(A, map(A, B)) -> bool
list_optindex_optional_int: _[?_](list(V), int) -> optional(V)
optional_list_optindex_optional_int: _[?_](optional(list(V)), int) -> optional(V)
map_optindex_optional_value: _[?_](map(K, V), K) -> optional(V)
optional_map_optindex_optional_value: _[?_](optional(map(K, V)), K) -> optional(V)
select_optional_field: _?._(dyn, string) -> optional(V)
"""

STANDARD = """
size_bytes: size(bytes) -> int
bytes_size: bytes.size() -> int
size_list: size(list(A)) -> int
list_size: list(A).size() -> int
size_map: size(map(A, B)) -> int
map_size: map(A, B).size() -> int
size_string: size(string) -> int
string_size: string.size() -> int
type: type(A) -> type(A)
to_dyn: dyn(A) -> dyn
bool_to_bool: bool(bool) -> bool
string_to_bool: bool(string) -> bool
bytes_to_bytes: bytes(bytes) -> bytes
string_to_bytes: bytes(string) -> bytes
double_to_double: double(double) -> double
int64_to_double: double(int) -> double
string_to_double: double(string) -> double
uint64_to_double: double(uint) -> double
duration_to_duration: duration(duration) -> duration
int64_to_duration: duration(int) -> duration
string_to_duration: duration(string) -> duration
int64_to_int64: int(int) -> int
double_to_int64: int(double) -> int
duration_to_int64: int(duration) -> int
string_to_int64: int(string) -> int
timestamp_to_int64: int(timestamp) -> int
uint64_to_int64: int(uint) -> int
string_to_string: string(string) -> string
bool_to_string: string(bool) -> string
bytes_to_string: string(bytes) -> string
double_to_string: string(double) -> string
duration_to_string: string(duration) -> string
int64_to_string: string(int) -> string
timestamp_to_string: string(timestamp) -> string
uint64_to_string: string(uint) -> string
timestamp_to_timestamp: timestamp(timestamp) -> timestamp
int64_to_timestamp: timestamp(int) -> timestamp
string_to_timestamp: timestamp(string) -> timestamp
uint64_to_uint64: uint(uint) -> uint
double_to_uint64: uint(double) -> uint
int64_to_uint64: uint(int) -> uint
string_to_uint64: uint(string) -> uint
contains_string: string.contains(string) -> bool
ends_with_string: string.endsWith(string) -> bool
starts_with_string: string.startsWith(string) -> bool
matches: matches(string, string) -> bool
matches_string: string.matches(string) -> bool
optional_of: optional.of(V) -> optional(V)
optional_ofNonZeroValue: optional.ofNonZeroValue(V) -> optional(V)
optional_none: optional.none() -> optional(V)
optional_value: optional(V).value() -> V
optional_hasValue: optional(V).hasValue() -> bool
optional_or_optional: optional(V).or(optional(V)) -> optional(V)
optional_orValue_value: optional(V).orValue(V) -> V
list_first: list(V).first() -> optional(V)
list_last: list(V).last() -> optional(V)
optional_unwrap: optional.unwrap(list(optional(V))) -> list(V)
optional_unwrapOpt: list(optional(V)).unwrapOpt() -> list(V)
@mapInsert_map_key_value: cel.@mapInsert(map(K, V), K, V) -> map(K, V)
@mapInsert_map_map: cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)
"""

_TIME = {
    "getFullYear": "year",
    "getMonth": "month",
    "getDayOfYear": "day_of_year",
    "getDayOfMonth": "day_of_month",
    "getDate": "day_of_month_1_based",
    "getDayOfWeek": "day_of_week",
    "getHours": "hours",
    "getMinutes": "minutes",
    "getSeconds": "seconds",
    "getMilliseconds": "milliseconds",
}

STRINGS = """
string_char_at_int: string.charAt(int) -> string
string_index_of_string: string.indexOf(string) -> int
string_index_of_string_int: string.indexOf(string, int) -> int
string_last_index_of_string: string.lastIndexOf(string) -> int
string_last_index_of_string_int: string.lastIndexOf(string, int) -> int
string_lower_ascii: string.lowerAscii() -> string
string_replace_string_string: string.replace(string, string) -> string
string_replace_string_string_int: string.replace(string, string, int) -> string
string_split_string: string.split(string) -> list(string)
string_split_string_int: string.split(string, int) -> list(string)
string_substring_int: string.substring(int) -> string
string_substring_int_int: string.substring(int, int) -> string
string_trim: string.trim() -> string
string_upper_ascii: string.upperAscii() -> string
string_format: string.format(list(dyn)) -> string
strings_quote: strings.quote(string) -> string
list_join: list(string).join() -> string
list_join_string: list(string).join(string) -> string
string_find_string: string.find(string) -> string
string_find_all_string: string.findAll(string) -> list(string)
string_find_all_string_int: string.findAll(string, int) -> list(string)
"""

LISTS = """
list_a_index_of_int: list(A).indexOf(A) -> int
list_a_last_index_of_int: list(A).lastIndexOf(A) -> int
list_sets_contains_list: sets.contains(list(T), list(T)) -> bool
list_sets_equivalent_list: sets.equivalent(list(T), list(T)) -> bool
list_sets_intersects_list: sets.intersects(list(T), list(T)) -> bool
list_slice: list(T).slice(int, int) -> list(T)
list_flatten: list(list(T)).flatten() -> list(T)
list_flatten_int: list(dyn).flatten(int) -> list(dyn)
lists_range: lists.range(int) -> list(int)
list_reverse: list(T).reverse() -> list(T)
list_distinct: list(T).distinct() -> list(T)
"""

KUBERNETES = """
string_to_quantity: quantity(string) -> quantity
is_quantity_string: isQuantity(string) -> bool
quantity_sign: sign(quantity) -> int
quantity_is_greater_than: quantity.isGreaterThan(quantity) -> bool
quantity_is_less_than: quantity.isLessThan(quantity) -> bool
quantity_compare_to: quantity.compareTo(quantity) -> int
quantity_get_float: quantity.asApproximateFloat() -> double
quantity_get_int: quantity.asInteger() -> int
quantity_is_integer: quantity.isInteger() -> bool
quantity_add: quantity.add(quantity) -> quantity
quantity_add_int: quantity.add(int) -> quantity
quantity_sub: quantity.sub(quantity) -> quantity
quantity_sub_int: quantity.sub(int) -> quantity
string_to_semver: semver(string) -> semver
string_bool_to_semver: semver(string, bool) -> semver
is_semver_string: isSemver(string) -> bool
is_semver_string_bool: isSemver(string, bool) -> bool
semver_is_greater_than: semver.isGreaterThan(semver) -> bool
semver_is_less_than: semver.isLessThan(semver) -> bool
semver_compare_to: semver.compareTo(semver) -> int
semver_major: semver.major() -> int
semver_minor: semver.minor() -> int
semver_patch: semver.patch() -> int
"""


@cache
def declared() -> Mapping[str, tuple[Overload, ...]]:
    """By function, in the order of their declaration."""
    functions: dict[str, list[Overload]] = {}
    for line in _lines():
        overload = overloads.read(line)
        functions.setdefault(overload.function, []).append(overload)
    return {name: tuple(found) for name, found in functions.items()}


@cache
def called(function: str, is_method: bool, count: int) -> tuple[Overload, ...]:  # noqa: FBT001  (a key)
    """Those with so many arguments, the target of a method among them."""
    return tuple(o for o in declared()[function] if o.is_method == is_method and len(o.params) == count)


def _lines() -> Iterator[str]:
    libraries = (URLS, ADDRESSES, NAMED_FORMATS, AUTHORIZATION)
    for part in (OPERATORS, STANDARD, LISTS, STRINGS, KUBERNETES, *libraries):
        yield from part.strip().splitlines()
    yield from _orders()
    yield from _times()
    for t in _SORTED:
        yield f"list_{t}_is_sorted_bool: list({t}).isSorted() -> bool"
        yield f"list_{t}_max_{t}: list({t}).max() -> {t}"
        yield f"list_{t}_min_{t}: list({t}).min() -> {t}"
        yield f"list_{t}_sort: list({t}).sort() -> list({t})"
        yield f"list_{t}_sortByAssociatedKeys: list(T).@sortByAssociatedKeys(list({t})) -> list(T)"
    for t in (*_NUMBERS, "duration"):
        yield f"list_{t}_sum_{t}: list({t}).sum() -> {t}"


def _orders() -> Iterator[str]:
    """Comparisons: of like with like, and of numbers with numbers."""
    for word, sign in {"less": "<", "less_equals": "<=", "greater": ">", "greater_equals": ">="}.items():
        for t in _COMPARED:
            for u in (t, *_ACROSS.get(t, ())):
                id_ = _IDS.get(t, t) if t == u else f"{_IDS.get(t, t)}_{_IDS.get(u, u)}"
                yield f"{word}_{id_}: _{sign}_({t}, {u}) -> bool"


def _times() -> Iterator[str]:
    for method, part in _TIME.items():
        yield f"timestamp_to_{part}: timestamp.{method}() -> int"
        zone = "tz" if part == "seconds" else "with_tz"
        yield f"timestamp_to_{part}_{zone}: timestamp.{method}(string) -> int"
        if part in ("hours", "minutes", "seconds", "milliseconds"):
            yield f"duration_to_{part}: duration.{method}() -> int"
