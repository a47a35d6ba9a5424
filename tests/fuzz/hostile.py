"""Values that do not belong where they are put: of every wrong type, and hostile ones of the right type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.support.random_values import WORDS

DEEP = 20
"""Levels of a nested value, of two messages each. The protobuf of Python, which reads the answer here, stops at 100."""
MANY = 300
"""Items of a long list, in an object that has one such list."""
LONG = 70_000
"""Characters of a long text: more than a label, an annotation's key, a name or a condition's message may have."""
NUMBERS: Sequence[Any] = (0, 1, -1, 0.5, 1e308, -1e308, 2**31, 2**53 + 2, -(2**63), 1e-300)
TEXTS: Sequence[str] = (
    *("", " ", "\x00", "\x1b[2J", "a\r\nb", "\u202eabc", "\u0000\uffff", "\U0001f600", "e\u0301", "true", "null", "~"),
    *("../..", "/", "a/b", "*", "%s%n", "{field}", "{0.__class__}", "$(PATH)", "${HOME}", "`id`", "'; --", "<b>&amp;"),
    *("modelplane-system", "kube-system", "default", "169.254.169.254", "http://169.254.169.254/", "::ffff:10.0.0.1"),
    *("1e9999", "-0", "9" * 5000, "1Ei", "0x10", "1_000", "٣", "NaN", "Infinity", "9999-12-31T23:59:60Z", "0000-00-00"),
    *(
        "device",
        "device.attributes",
        "true || " * 200 + "true",
        "[1,2,3].map(x, x).all(x, x > 0)",
        "(" * 300,
        "a" * LONG,
        "[" * LONG,
        '{"spec": {"engines": [NaN]}}',
    ),
)
KEYS: Sequence[str] = (
    "",
    "/",
    "a/b/c",
    "modelplane.ai/cluster",
    "modelplane.ai/x",
    "crossplane.io/paused",
    "__class__",
)


def of(random: Random, node: Mapping[str, Any]) -> Any:
    """A hostile value for a place with a schema. Two thirds are of the type that the schema asks for."""
    if node.get("enum") is TEXTS:
        return _text(random)
    types = [node["type"]] if "type" in node else list(_BY_TYPE)
    chosen = random.choice(types) if random.random() < 2 / 3 else random.choice(list(_BY_TYPE))
    if "enum" in node and random.random() < 1 / 2:
        return random.choice(node["enum"])
    return _BY_TYPE.get(chosen, _text)(random)


def _text(random: Random) -> str:
    return random.choice(random.choice((TEXTS, WORDS)))


def _number(random: Random) -> Any:
    return random.choice(NUMBERS)


def _whole(random: Random) -> int:
    return int(random.choice([n for n in NUMBERS if n == int(n) and abs(n) < 2**64]))


def _boolean(random: Random) -> bool:
    return random.random() < 1 / 2


def _list(random: Random) -> list[Any]:
    child = of(random, {})
    return [child] * random.choice((0, 1, 2, 2 if isinstance(child, list | dict) else MANY))


def _object(random: Random) -> dict[str, Any]:
    if random.random() < 1 / 8:
        return _nested()
    return {random.choice(random.choice((KEYS, TEXTS, WORDS))): of(random, {}) for _ in range(random.choice((0, 1, 3)))}


def _nested() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(DEEP):
        value = {"a": value}
    return value


def _nothing(_: Random) -> None:
    return None


_BY_TYPE = {
    "string": _text,
    "number": _number,
    "integer": _whole,
    "boolean": _boolean,
    "array": _list,
    "object": _object,
    "null": _nothing,
}
