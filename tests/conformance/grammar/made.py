"""Literals that are made up: numbers, and texts of each grammar that Kubernetes reads, right or nearly right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

_LETTERS = (
    *"abzAHZ019 _-.,:/%+'\"`\\\n\t\r\x00\x07\x7f",
    *"éßİ\u0131\u017fK€٣\u0301\u200b\u2028\u3000\ufeff\uffff",
    "😀",
    "𐐀",
)
_PLAIN = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", '"': '\\"', "'": "\\'", "\x07": "\\a"}
_UNITS = ("ns", "us", "µs", "μs", "ms", "s", "m", "h", "d", "")
_SUFFIXES = (
    *("n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"),
    "",
    "",
    "e",
    "E",
    "K",
    "i",
)
_ZONES = (
    *("UTC", "GMT", "Local", "America/St_Johns", "America/Sao_Paulo", "Asia/Kathmandu", "Asia/Tokyo", "Europe/Paris"),
    *(
        "Pacific/Apia",
        "Pacific/Kiritimati",
        "Australia/Lord_Howe",
        "Africa/Monrovia",
        "Antarctica/Troll",
        "EST5EDT",
        "MST",
    ),
    *(
        "Etc/GMT-14",
        "Etc/GMT+12",
        "US/Pacific",
        "Asia/Pyongyang",
        "America/Caracas",
        "Europe/Dublin",
        "Asia/Gaza",
        "Zulu",
    ),
)
_PIECES = (
    *(
        "a",
        "b",
        "H",
        "é",
        "€",
        ".",
        "^",
        "$",
        "|",
        "(",
        ")",
        "(?:",
        "[",
        "]",
        "[^",
        "-",
        "*",
        "+",
        "?",
        "*?",
        "+?",
        "??",
    ),
    *(
        "{2}",
        "{1,}",
        "{0,3}",
        "{,2}",
        "{3,2}",
        "{1001}",
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "\\s",
        "\\b",
        "\\B",
        "\\A",
        "\\z",
        "\\Z",
    ),
    *(
        "\\pL",
        "\\p{Lu}",
        "\\P{Greek}",
        "\\p{^Han}",
        "\\x41",
        "\\x{1F600}",
        "\\101",
        "\\n",
        "\\t",
        "\\.",
        "\\/",
        "\\-",
        "\\Q",
    ),
    *(
        "\\E",
        "\\1",
        "\\k",
        "(?i)",
        "(?s)",
        "(?m)",
        "(?U)",
        "(?-s)",
        "(?i:",
        "(?P<n>",
        "(?<m>",
        "(?=",
        "(?!",
        "(?#c)",
        "[:",
    ),
    *(
        "[[:alpha:]]",
        "[[:^digit:]]",
        "a-z",
        "[a-c]",
        "[^\\n]",
        "[\\d-z]",
        "[]a]",
        "[^]a]",
        "[\\Q",
        "\\a",
        "\\f",
        "\\v",
        "\\0",
    ),
)
_CLAUSES = (
    "%s",
    "%d",
    "%f",
    "%e",
    "%b",
    "%x",
    "%X",
    "%o",
    "%%",
    "%.0f",
    "%.1f",
    "%.3e",
    "%.17f",
    "%.25f",
    "%.2s",
    "%.1",
    "%",
)


def _joined(random: Random, pieces: Sequence[str], most: int) -> str:
    return "".join(random.choice(pieces) for _ in range(random.randint(0, most)))


def _digits(random: Random, most: int) -> str:
    return _joined(random, "0123456789" if random.random() < 0.7 else "019", most)


def _decimal(random: Random) -> str:
    """With a sign and a fraction, or without."""
    fraction = "." + _digits(random, 12) if random.random() < 0.4 else ""
    return random.choice(("", "", "", "-", "+")) + _digits(random, random.choice((1, 3, 9, 20, 30))) + fraction


def _nearly(random: Random, text: str) -> str:
    """Now and then wrong in a place."""
    if random.random() < 0.75:
        return text
    at = random.randint(0, len(text))
    return text[:at] + random.choice((*_LETTERS, "")) + text[at + random.randint(0, 1) :]


def literal(random: Random, text: str) -> str:
    """A text as one of the ways to write it."""
    quote = random.choice(('"', '"', "'"))
    if random.random() < 0.15 and not set(text) & set("\n\r") and quote not in text:
        return f"{random.choice('rR')}{quote}{text}{quote}"
    return quote + "".join(_letter(random, c) for c in text) + quote


def _letter(random: Random, letter: str) -> str:
    if letter in _PLAIN:
        return _PLAIN[letter]
    code = ord(letter)
    if random.random() < 0.95 and letter.isprintable():
        return letter
    if code < 0x100 and random.random() < 0.5:
        return random.choice((f"\\x{code:02x}", f"\\{code:03o}", f"\\X{code:02X}"))
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08X}"


def _text(make: Callable[[Random], str]) -> Callable[[Random], str]:
    return lambda random: literal(random, _nearly(random, make(random)))


def _amount(random: Random) -> str:
    exponent = random.choice(("", "e", "E")) + random.choice(("", "", "-", "+")) + _digits(random, 3)
    return _decimal(random) + (random.choice(_SUFFIXES) if random.random() < 0.8 else exponent)


def _version(random: Random) -> str:
    numbers = [
        _digits(random, random.choice((1, 2, 3, 20))) or "0" for _ in range(random.choice((1, 2, 3, 3, 3, 3, 4)))
    ]
    words = ("rc", "alpha", "1", "01", "0", "-", "a-b", "é", "", "10", "99999999999999999999")
    tails = [sign + ".".join(random.choices(words, k=random.randint(1, 3))) for sign in "-+" if random.random() < 0.4]
    return random.choice(("", "", "", "v", "V", " ")) + ".".join(numbers) + "".join(tails)


def _period(random: Random) -> str:
    parts = [_decimal(random).lstrip("+-") + random.choice(_UNITS) for _ in range(random.choice((1, 1, 2, 3)))]
    return random.choice(("", "", "-", "+")) + "".join(parts)


def _moment(random: Random) -> str:
    year = random.choice((1, 2, 1600, 1883, 1900, 1969, 1970, 1999, 2000, 2024, 2038, 9998, 9999))
    month, day = random.randint(0, 13), random.choice((1, 15, 28, 29, 30, 31, 32))
    clock = (
        f"{random.choice((0, 3, 12, 23, 24)):02d}:{random.choice((0, 30, 59, 60)):02d}:{random.choice((0, 59, 60)):02d}"
    )
    fraction = random.choice(("", "", ".5", ".", ",25", "." + _digits(random, 12)))
    return f"{year:04d}-{month:02d}-{day:02d}T{clock}{fraction}{random.choice(('Z', 'Z', _offset(random)))}"


def _offset(random: Random) -> str:
    return (
        f"{random.choice('+-')}{random.choice((0, 1, 5, 14, 23, 24, 25)):02d}:{random.choice((0, 30, 59, 60, 61)):02d}"
    )


def _zone(random: Random) -> str:
    return random.choice((random.choice(_ZONES), _offset(random)))


def _number(random: Random) -> str:
    exponent = (
        random.choice("eEpP") + random.choice(("", "-", "+")) + _digits(random, 3) if random.random() < 0.3 else ""
    )
    return random.choice(("", "", "", "0x", "0b", "0")) + _decimal(random) + exponent


def _int(random: Random) -> str:
    number = random.getrandbits(random.choice((3, 8, 31, 32, 53, 54, 62, 63)))
    sign = random.choice(("", "", "-"))
    return sign + random.choice((str(number), f"0x{number:x}"))


def _double(random: Random) -> str:
    if random.random() < 0.5:
        return f"{random.choice(('', '-'))}{_digits(random, 20) or '1'}.{_digits(random, 20) or '0'}"
    return f"{random.choice(('', '-'))}{random.randint(1, 9)}.{_digits(random, 16) or '0'}e{random.randint(-330, 308)}"


def _bytes(random: Random) -> str:
    return "b" + _nearly_bytes(random) if random.random() < 0.5 else 'b"' + _octets(random) + '"'


def _nearly_bytes(random: Random) -> str:
    return literal(random, _joined(random, [c for c in _LETTERS if c.isprintable()], 4))


def _octets(random: Random) -> str:
    return "".join(
        random.choice((f"\\x{n:02x}", f"\\{n:03o}")) for n in random.choices(range(256), k=random.randint(0, 4))
    )


MADE: Mapping[str, Callable[[Random], str]] = {
    "string": _text(lambda random: _joined(random, _LETTERS, 6)),
    "bytes": _bytes,
    "int": _int,
    "uint": lambda random: f"{random.getrandbits(random.choice((3, 32, 53, 54, 63, 64)))}u",
    "double": _double,
    "number": _text(_number),
    "amount": _text(_amount),
    "version": _text(_version),
    "period": _text(_period),
    "moment": _text(_moment),
    "second": lambda random: str(random.randint(-62135596900, 253402300900)),
    "zone": _text(_zone),
    "pattern": lambda random: literal(random, _joined(random, _PIECES, 6)),
    "format": _text(lambda random: _joined(random, (*_CLAUSES, "a", "é"), 3)),
    "quantity": lambda random: f"quantity({literal(random, _amount(random))})",
    "duration": lambda random: f'duration("{random.randint(-(10**12), 10**12)}{random.choice(("ns", "us", "ms"))}")',
    "timestamp": lambda random: f"timestamp({random.randint(-62135596800, 253402300799)})",
}
"""By sort, a maker of leaves."""
