"""Semantic versions: version attributes of devices, and the functions over them.

Grammar and order are those of github.com/blang/semver/v4, which k8s.io/apiserver uses for CEL: three numbers of 64
bits, strict, build metadata ignored in the order. The functions are those of k8s.io/apiserver v0.36,
pkg/cel/library/semverlib.go.
"""

from __future__ import annotations

from dataclasses import dataclass

from function.cel.language.declarations.cost import PARSED, UNIT
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.errors import Failure
from function.cel.language.values.opaque import OpaqueType

_DIGITS = frozenset("0123456789")
_IDENTIFIER = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_MAX_NUMBER = 2**64 - 1
_PARTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Semver:
    """A version. Two versions are equal when neither is newer: `1.0.0+a == 1.0.0+b`."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and compare(self, other) == 0

    def __lt__(self, other: Semver) -> bool:
        return compare(self, other) < 0

    def compare(self, other: Semver) -> int:
        """-1, 0 or 1, by precedence: a pre-release is older than its release."""
        return compare(self, other)

    def __hash__(self) -> int:
        return hash((self.major, self.minor, self.patch, self.prerelease))

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(map(str, self.prerelease))
        return text + ("+" + ".".join(self.build) if self.build else "")


def parse(text: str, *, normalize: bool = False) -> Semver:
    """Parse a version.

    Arguments: normalize: take a leading "v", missing numbers and leading zeros.
    Raises: ValueError, which says what is wrong with it.
    """
    return _normalized(text) if normalize else _strict(text)


def _strict(text: str) -> Semver:
    parts = text.split(".", _PARTS - 1)
    if len(parts) != _PARTS:
        raise ValueError(f'"{text}" is no semantic version: three numbers are wanted, as in 1.2.3')
    rest, _, build = parts[2].partition("+")
    patch, _, prerelease = rest.partition("-")
    return Semver(
        _number(parts[0], "major"),
        _number(parts[1], "minor"),
        _number(patch, "patch"),
        tuple(map(_prerelease, prerelease.split("."))) if "-" in rest else (),
        tuple(map(_build, build.split("."))) if "+" in parts[2] else (),
    )


def _normalized(text: str) -> Semver:
    """Parse a version that may begin with "v", lack its minor and patch numbers, or have leading zeros."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", _PARTS - 1)]
    if len(parts) < _PARTS and ("+" in parts[-1] or "-" in parts[-1]):
        raise ValueError(f'"{text}" is short, and a short version has neither pre-release nor build metadata')
    return _strict(".".join(parts + ["0"] * (_PARTS - len(parts))))


def compare(one: Semver, other: Semver) -> int:
    """-1, 0 or 1, by precedence: a pre-release is older than its release."""
    mine, others = (one.major, one.minor, one.patch), (other.major, other.minor, other.patch)
    if mine != others:
        return 1 if mine > others else -1
    if not one.prerelease or not other.prerelease:
        return bool(other.prerelease) - bool(one.prerelease)
    for left, right in zip(one.prerelease, other.prerelease, strict=False):
        if left != right:
            return 1 if _rank(left) > _rank(right) else -1
    return (len(one.prerelease) > len(other.prerelease)) - (len(one.prerelease) < len(other.prerelease))


def _rank(identifier: int | str) -> tuple[bool, int, bytes]:
    """Numbers sort before words, words by their bytes."""
    if isinstance(identifier, int):
        return False, identifier, b""
    return True, 0, identifier.encode()


def _number(text: str, what: str) -> int:
    if not text or not _DIGITS.issuperset(text):
        raise ValueError(f'the {what} number "{text}" is no number')
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f'the {what} number "{text}" has a leading zero')
    if int(text) > _MAX_NUMBER:
        raise ValueError(f'the {what} number "{text}" is over 64 bits')
    return int(text)


def _prerelease(text: str) -> int | str:
    if text and _DIGITS.issuperset(text):
        return _number(text, "pre-release")
    return _build(text)


def _build(text: str) -> str:
    if not text or not _IDENTIFIER.issuperset(text):
        raise ValueError(f'"{text}" may hold only letters, digits and hyphens, and not be empty')
    return text


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    rest = part.lstrip("0")
    return rest if rest and rest[0] in _DIGITS else "0" + rest


# Functions


def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002  (as expressions pass it)
    try:
        return parse(text, normalize=normalize)
    except ValueError as error:
        raise Failure(str(error)) from None


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002  (as expressions pass it)
    try:
        parse(text, normalize=normalize)
    except ValueError:
        return False
    return True


def _signed(number: int) -> int:
    """The number in 64 bits with a sign: a very large one becomes negative."""
    return (number + 2**63) % 2**64 - 2**63


def _is_greater(one: Semver, other: Semver) -> bool:
    return compare(one, other) > 0


def _is_less(one: Semver, other: Semver) -> bool:
    return compare(one, other) < 0


LIBRARY = Library(
    name="semver",
    types=(
        OpaqueType(
            name="semver",
            type_name="kubernetes.Semver",
            values=Semver,
            is_written=True,
            is_ordered=True,
            panics_as_key=True,
            is_readable=False,
        ),
    ),
    overloads=(
        function("string_to_semver: semver(string) -> semver", _semver, PARSED),
        function("string_bool_to_semver: semver(string, bool) -> semver", _semver, PARSED),
        function("is_semver_string: isSemver(string) -> bool", _is_semver, PARSED),
        function("is_semver_string_bool: isSemver(string, bool) -> bool", _is_semver, PARSED),
        method("semver_is_greater_than: semver.isGreaterThan(semver) -> bool", _is_greater, UNIT),
        method("semver_is_less_than: semver.isLessThan(semver) -> bool", _is_less, UNIT),
        method("semver_compare_to: semver.compareTo(semver) -> int", compare, UNIT),
        method("semver_major: semver.major() -> int", lambda version: _signed(version.major), UNIT),
        method("semver_minor: semver.minor() -> int", lambda version: _signed(version.minor), UNIT),
        method("semver_patch: semver.patch() -> int", lambda version: _signed(version.patch), UNIT),
    ),
)
