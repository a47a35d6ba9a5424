"""Quantities: amounts as Kubernetes parses, orders and adds them (k8s.io/apimachinery v0.36, pkg/api/resource).

An amount has one of two forms, which a selector can tell apart: a 64-bit number with a decimal scale, or a decimal of
any length. `isInteger` and `asInteger` know only the first; sums in the second change the amount that they start from.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import total_ordering

from function.cel.language.limits import QUANTITY_DIGITS

_MAX = 2**63 - 1
_MIN = -(2**63)
_NANO = -9
_MAX_DIGITS = 18
_MAX_BINARY_DIGITS = 15
_LEAST_POWER, _LARGEST_POWER, _STRIDE = -323, 308, 32
_KIBI = 1024
_PRINTED = 13_000
"""Bits of a number that the interpreter prints."""

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SHAPE = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_NUMERALS = frozenset("0123456789")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)


@dataclass(slots=True, eq=False)
class _Decimal:
    """`unscaled / 10**scale`, of any length. Amounts may share one, and a sum changes it in place."""

    unscaled: int
    scale: int


@total_ordering
@dataclass(slots=True, eq=False)
class Quantity:
    """An amount. Equal amounts are equal whatever their spelling: `1024Mi == 1Gi`."""

    value: int = 0
    scale: int = 0
    decimal: _Decimal | None = None
    binary: bool = field(default=False, kw_only=True)
    """Whether it is spelled in powers of two."""
    computed: bool = field(default=False, kw_only=True)
    """Whether it is a sum: the equality of Kubernetes has no overload for one on the right."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and compare(self, other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return compare(self, other) < 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return _sign(self)

    @property
    def integer(self) -> int | None:
        """The amount as a 64-bit integer, when its form has a scale of zero or more and it fits."""
        return _as_integer(self)

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1, exactly. Gives this one the decimal form when the other has it, as Kubernetes does."""
        _promote(self, other)
        return compare(self, other)

    def plus(self, other: Quantity) -> Quantity:
        """The sum. OverflowError when it is too long to compute."""
        return _sum(self, other, 1)

    def minus(self, other: Quantity) -> Quantity:
        """The difference. OverflowError when it is too long to compute."""
        return _sum(self, other, -1)

    def __float__(self) -> float:
        return _as_float(self)

    def __int__(self) -> int:
        """Whole units, rounded down. ValueError when there are more than anything is measured in."""
        unscaled, exponent = _terms(self)
        if exponent > QUANTITY_DIGITS:
            raise ValueError(f"{self} is too long to compute with")
        whole: int = unscaled * 10**exponent if exponent >= 0 else unscaled // 10**-exponent
        return whole

    def rounded_up(self, digits: int = 0) -> int:
        """Units of 10**-digits, rounded up: thousandths with 3 digits. ValueError as for int()."""
        unscaled, exponent = _terms(self)
        exponent += digits
        if exponent > QUANTITY_DIGITS:
            raise ValueError(f"{self} is too long to compute with")
        whole: int = unscaled * 10**exponent if exponent >= 0 else -(-unscaled // 10**-exponent)
        return whole

    def __hash__(self) -> int:
        unscaled, exponent = _terms(self)
        while unscaled and unscaled % 10 == 0:
            unscaled, exponent = unscaled // 10, exponent + 1
        return hash((unscaled, exponent if unscaled else 0))

    def __str__(self) -> str:
        return canonical(self)


def parse(text: str) -> Quantity:
    """Parse an amount: `80Gi`, `500m`, `1.5`, `1e3`. ValueError where it is none."""
    found = _SHAPE.fullmatch(text) if text else None
    if not found:
        raise ValueError(f'"{text}" is no quantity: a number is wanted with a suffix such as Gi, M, m or e3')
    sign, number, fraction, suffix = found.group(1), found.group(2) or "0", found.group(3) or "", found.group(4)
    binary, exponent = _suffix(text, suffix)
    fast = _fast(number, fraction, exponent, binary=binary)
    if fast is not None:
        value, scale = fast
        return Quantity(-value if sign == "-" else value, scale, binary=binary)
    if not any(character in _NUMERALS for character in text[: len(text) - len(suffix)]):
        raise ValueError(f'"{text}" is no quantity: it has no number')
    return _slow(text, int(number + fraction), len(fraction), exponent, binary=binary)


def _suffix(text: str, suffix: str) -> tuple[bool, int]:
    """Whether a suffix is a power of two, not of ten; and the power."""
    if suffix in _DECIMAL:
        return False, _DECIMAL[suffix]
    if suffix in _BINARY:
        return True, _BINARY[suffix]
    exponent = _EXPONENT.fullmatch(suffix)
    if not exponent or not _MIN <= int(exponent[1]) <= _MAX:
        raise ValueError(f'"{text}" is no quantity: there is no suffix "{suffix}"')
    return False, (int(exponent[1]) + 2**31) % 2**32 - 2**31


def _fast(number: str, fraction: str, exponent: int, *, binary: bool) -> tuple[int, int] | None:
    """The 64-bit form, if Kubernetes gives the amount that form."""
    if not binary:
        digits, factor, scale = _MAX_DIGITS - len(number + fraction), 1, exponent
    elif not fraction:
        digits, factor, scale = _MAX_BINARY_DIGITS - len(number) - exponent * 3 // 10 - 1, 2**exponent, 0
    else:
        return None
    value, scale = int(number + fraction) * factor, scale - len(fraction)
    return (value, scale) if digits >= 0 and scale >= _NANO and value <= _MAX else None


def _slow(text: str, unscaled: int, scale: int, exponent: int, *, binary: bool) -> Quantity:
    """The decimal form: nothing below a nano, rounded away from zero; powers of two saturate."""
    if binary:
        unscaled *= 2**exponent
    else:
        scale -= exponent
    if unscaled:
        unscaled, scale = _rounded(text, unscaled, scale)
    if binary and unscaled > _MAX * 10**scale:
        unscaled, scale = _MAX, 0
    return Quantity(decimal=_Decimal(-unscaled if text[0] == "-" else unscaled, scale), binary=binary)


def _rounded(text: str, unscaled: int, scale: int) -> tuple[int, int]:
    """An amount above zero at the scale of nano."""
    if -_NANO - scale > QUANTITY_DIGITS:
        raise ValueError(f'"{text}" is too long to compute with')
    if scale <= -_NANO:
        return unscaled * 10 ** (-_NANO - scale), -_NANO
    if scale + _NANO > QUANTITY_DIGITS:
        return 1, -_NANO
    return -(-unscaled // 10 ** (scale + _NANO)), -_NANO


def compare(one: Quantity, other: Quantity) -> int:
    """-1, 0 or 1, exactly."""
    left, left_exponent = _terms(one)
    right, right_exponent = _terms(other)
    if left_exponent == right_exponent or (left > 0) != (right > 0) or not left or not right:
        return (left > right) - (left < right)
    higher = left_exponent + _digits(left) - right_exponent - _digits(right)
    if higher:
        return 1 if (higher > 0) == (left > 0) else -1
    common = min(left_exponent, right_exponent)
    left, right = int(left * 10 ** (left_exponent - common)), int(right * 10 ** (right_exponent - common))
    return (left > right) - (left < right)


def digits(one: Quantity, other: Quantity) -> int:
    """About how many digits a sum or comparison of both computes with."""
    left, left_exponent = _terms(one)
    right, right_exponent = _terms(other)
    return (left.bit_length() + right.bit_length()) // 3 + abs(left_exponent - right_exponent)


def _promote(one: Quantity, other: Quantity) -> None:
    """Give `one` the decimal form when `other` has it, as a comparison by a method does in Kubernetes."""
    if one.decimal is None and other.decimal is not None:
        one.decimal, one.value, one.scale = _Decimal(one.value, -one.scale), 0, 0


def _sign(amount: Quantity) -> int:
    """-1, 0 or 1."""
    unscaled, _ = _terms(amount)
    return (unscaled > 0) - (unscaled < 0)


def _sum(one: Quantity, other: Quantity, factor: int) -> Quantity:
    binary = other.binary if _sign(one) == 0 else one.binary
    if one.decimal is None and other.decimal is None:
        fast = _sum_fast(one, other, factor)
        if fast is not None:
            return Quantity(*fast, binary=binary, computed=True)
    unscaled, exponent = _terms(one)
    added, added_exponent = _terms(other)
    common = min(exponent, added_exponent)
    if max(exponent, added_exponent) - common > QUANTITY_DIGITS:
        raise OverflowError("the sum is too long to compute")
    total = unscaled * 10 ** (exponent - common) + factor * added * 10 ** (added_exponent - common)
    cell = one.decimal or _Decimal(0, 0)
    cell.unscaled, cell.scale = total, -common
    return Quantity(decimal=cell, binary=binary, computed=True)


def _sum_fast(one: Quantity, other: Quantity, factor: int) -> tuple[int, int] | None:
    """The sum in 64 bits, unless a step of it overflows."""
    added = _wrapped(factor * other.value)
    if not added:
        return one.value, one.scale
    if not one.value:
        return added, other.scale
    common = min(one.scale, other.scale)
    if max(one.scale, other.scale) - common > _MAX_DIGITS:
        return None
    terms = one.value * 10 ** (one.scale - common), added * 10 ** (other.scale - common)
    fits = all(_MIN <= term <= _MAX for term in (*terms, sum(terms)))
    return (sum(terms), common) if fits else None


def _as_integer(amount: Quantity) -> int | None:
    """The amount as a 64-bit integer, when its form has a scale of zero or more and it fits."""
    if amount.decimal is not None or amount.scale < 0 or (amount.scale > _MAX_DIGITS and amount.value):
        return None
    value = amount.value * 10**amount.scale if amount.value else 0
    return value if _MIN <= value <= _MAX else None


def _as_float(amount: Quantity) -> float:
    """The amount as a double, as near as Kubernetes' fast conversion comes."""
    unscaled, exponent = _terms(amount)
    try:
        base = float(unscaled)
    except OverflowError:
        base = math.inf if unscaled > 0 else -math.inf
    return base * _power_of_ten(exponent) if exponent else base


def _power_of_ten(exponent: int) -> float:
    """Go's math.Pow10: a product of two exact powers, which is not always the nearest double."""
    if not _LEAST_POWER <= exponent <= _LARGEST_POWER:
        return math.inf if exponent > 0 else 0.0
    high, low = divmod(abs(exponent), _STRIDE)
    if exponent >= 0:
        return float(f"1e{_STRIDE * high}") * float(f"1e{low}")
    return float(f"1e-{_STRIDE * high}") / float(f"1e{low}")


def canonical(amount: Quantity) -> str:
    """The spelling that Kubernetes prints: no fraction, the largest suffix that loses nothing."""
    unscaled, exponent = _terms(amount)
    if not unscaled:
        return "0"
    while unscaled % 10 == 0:
        unscaled, exponent = unscaled // 10, exponent + 1
    whole = unscaled * 10**exponent if 0 <= exponent <= QUANTITY_DIGITS else None
    if amount.binary and whole is not None and abs(whole) >= _KIBI:
        return _spelled(whole, _KIBI, ["", *_BINARY])
    unscaled, exponent = unscaled * 10 ** (exponent % 3), exponent - exponent % 3
    suffixes = {power: suffix for suffix, power in _DECIMAL.items()}
    return f"{unscaled}{suffixes.get(exponent, f'e{exponent}')}"


def _spelled(number: int, step: int, suffixes: list[str]) -> str:
    times = 0
    while number % step == 0 and times < len(suffixes) - 1:
        number, times = number // step, times + 1
    return f"{number}{suffixes[times]}"


def _terms(amount: Quantity) -> tuple[int, int]:
    """`unscaled * 10**exponent`."""
    if amount.decimal is not None:
        return amount.decimal.unscaled, -amount.decimal.scale
    return amount.value, amount.scale


def _digits(number: int) -> int:
    return (
        len(str(abs(number))) if number.bit_length() < _PRINTED else math.floor(number.bit_length() * math.log10(2)) + 1
    )


def _wrapped(number: int) -> int:
    """A 64-bit negation: the least integer has no opposite."""
    return (number - _MIN) % 2**64 + _MIN
