"""Read options from a program's arguments.

A flag's value is the word after it, or what follows `=`. If a flag is repeated, the last one counts. Underscores in a
flag's name count as dashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

_SWITCHES = (
    "--enable-",
    "--disable-",
    "--no-",
    "--enforce-eager",
    "--trust-remote-code",
    "--headless",
    "--json-output",
)
"""Beginnings of flags that have no value, in most engines."""


def values(arguments: Sequence[str], flags: Sequence[str]) -> Iterator[str]:
    """Yield the values of all of `flags`, in the order of the arguments. A flag at the very end has the value ""."""
    names = {_normal(flag) for flag in flags}
    for word, after in zip_longest(arguments, arguments[1:], fillvalue=""):
        spelled, equals, value = word.partition("=")
        if spelled.startswith("-") and _normal(spelled) in names:
            yield value if equals else after


def value(arguments: Sequence[str], flags: Sequence[str]) -> str | None:
    """Return the value of the last of `flags`, or None if none is given."""
    found = None
    for found in values(arguments, flags):  # noqa: B007 (the last one)
        pass
    return found


def given(arguments: Sequence[str], flags: Sequence[str]) -> str:
    """Return the flag that is given, as the table spells it; "" if none is."""
    spelled = {_normal(word.partition("=")[0]) for word in arguments if word.startswith("-")}
    return next((flag for flag in flags if _normal(flag) in spelled), "")


def lists(arguments: Sequence[str], flags: Sequence[str]) -> Iterator[str]:
    """Yield all values of flags that take several: the words up to the next option."""
    names = {_normal(flag) for flag in flags}
    takes = False
    for word in arguments:
        spelled, equals, value = word.partition("=")
        if word.startswith("-"):
            takes = _normal(spelled) in names
            if takes and equals:
                yield value
        elif takes:
            yield word


def nested(arguments: Sequence[str], flag: str) -> dict[str, str]:
    """Return the values of `--flag.key value`, by key. vLLM takes a JSON object in this form too (vllm 0.33.0)."""
    prefix = f"{_normal(flag)}."
    found = {}
    for word, after in zip_longest(arguments, arguments[1:], fillvalue=""):
        spelled, equals, value = word.partition("=")
        name, dot, key = spelled.partition(".")
        if dot and f"{_normal(name)}." == prefix:
            found[key] = value if equals else after
    return found


def positional(arguments: Sequence[str], *, several: Sequence[str] = ()) -> str | None:
    """Return the first argument that is neither an option nor can be an option's value; None if there is none.

    `several` are the flags that take more than one value.
    """
    listing = {_normal(flag) for flag in several}
    flag, takes = "", False
    for word in arguments:
        if word.startswith("-"):
            flag = _normal(word)
            takes = "=" not in word and not flag.startswith(_SWITCHES)
        elif not takes:
            return word
        else:
            takes = flag in listing
    return None


def _normal(flag: str) -> str:
    dashes = len(flag) - len(flag.lstrip("-"))
    return flag[:dashes] + flag[dashes:].replace("_", "-")
