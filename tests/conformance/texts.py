"""Texts at random that are nearly expressions: wrong in a token or two, or nothing but tokens; and deep ones."""

from __future__ import annotations

import re
from random import Random

from tests.conformance.expressions import expression

_SCRAPS = (
    *"()[]{},.?:+-*/%!<>=&|\\\"'@$#é \n\t\f\v\u00a0",
    *("&&", "||", "==", "!=", "<=", ">=", ".?", "[?", "!-", "--5", "// c\n", '"""', "'''"),
    *("in", "true", "false", "null", "for", "has", "cel", "device", "a", "x", "_", "r", "`e f`"),
    *("1", "1u", "0U", "1.5", ".5", "1e3", "1.", "1e", "0x1F", "0x", ".e", "1.e"),
    *('"s"', "'s'", r'r"\d"', 'b"x"', '"""t"""', 'B"', '"\\q"', "\\u"),
)
_TOKEN = re.compile(r'\w+|\s+|"[^"]*"|.', re.DOTALL)
_AROUND = (
    ("(", ")"),
    ("[", "][0]"),
    ('{"a":', "}.a"),
    ("!(", ")"),
    ("-(", ")"),
    ("dyn(", ")"),
    ("true ? ", " : false"),
    ("false ? true : ", ""),
    ("true && (", ")"),
    ("", " && true"),
    ("", " + 1"),
    ("1 + (", ")"),
    ("1 * ", ""),
    ("1 + 1 * ", ""),
    ("", " == true"),
    ("true == ", ""),
    ("1 == 1 + ", ""),
    ("", ".all(x, true)"),
    ("[1].all(x, ", ")"),
    ("", ".b"),
    ("", "[0]"),
    ("[0][", "]"),
    ("", ".f()"),
    ("a.f(", ")"),
    ("-", ""),
)
_DEEPEST = 250
_LONGEST = 10_000


def broken(random: Random) -> str:
    if random.random() < 0.4:
        return random.choice(("", " ")).join(random.choice(_SCRAPS) for _ in range(random.randint(1, 8)))
    found = _TOKEN.findall(str(expression(random, depth=random.randint(1, 3))))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(found) + 1)
        found[at : at + random.randint(0, 1)] = random.choice(((), (random.choice(_SCRAPS),)))
    return "".join(found)


def deep(random: Random) -> str:
    """About as deep as is allowed, in one way or in several."""
    text = random.choice(("1", "true", "device", "[]", "1u"))
    ways = random.choices(_AROUND, k=random.randint(1, 3))
    for before, after in ways:
        times = random.randint(_DEEPEST - 4, _DEEPEST + 2) // len(ways) + random.randint(-1, 1)
        times = min(times, (_LONGEST - len(text)) // len(before + after))
        text = before * times + text + after * times
    return text
