"""Credentials in texts, by their form: what a message, a log or a report shows instead of them.

A bearer token, the value of a flag, variable or field whose name says so, the user of a URL, a private key, a
kubeconfig, the beginning of a known kind of token, and in messages a long random word. Values without any of these
forms are found by `known_secrets`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from function.core.wording import bare, visible

SENSITIVE = "(sensitive)"
"""What is shown instead of a credential."""
ALIKE = "a value that looks like a credential"
"""What an error says instead of a wrong value."""

_READ = 4
"""How many times as many characters are looked at as are shown: what is hidden leaves room for more."""

Hide = Callable[[str], str]
"""Returns what is shown in place of a sensitive text."""

_NAMED = r"[\w-]*?(?:token|(?:key|password|passwd|passphrase|secret|credential)s?)"
"""Names of flags. `--max-num-batched-tokens` counts tokens of another sort."""
FLAG = re.compile(rf"--?{_NAMED}", re.IGNORECASE)
"""A flag that takes a secret."""
_WHOLE = re.compile(r"PRIVATE KEY-----|client-key-data|client-certificate-data")
_KUBECONFIG, _USERS = re.compile(r"kind: Config\b"), re.compile(r"\busers:")
"""Private keys and kubeconfigs."""
NAMED = (
    re.compile(rf"(?<![\w-])(?P<lead>--?{_NAMED}[=\s]+)(?P<value>[^\s-][^\s]*)", re.IGNORECASE),
    re.compile(r"(?P<lead>(?:TOKEN|KEY|PASSWORD|SECRET)\w{0,64}=)(?P<value>[^\s&;]+)"),
    re.compile(
        r"(?P<lead>(?:token|password|passphrase|secret|api[_-]?key)\\?[\"']?\s*:\s*\\?[\"']?)"
        r"(?P<value>[^\"'\s,{}\[\]\\]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<lead>(?:token|passwd|password|secret|api[_-]?key|sig|signature|(?:amz|goog)-credential)=)"
        r"(?P<value>[^\s&;,\"']+)",
        re.IGNORECASE,
    ),
)
"""What follows a name of a secret."""
_NAMES = ("token", "pass", "secret", "key", "credential", "sig")
"""Parts of these names."""
_MARKS = ("=", ":", "--", " -")
"""What is before or after such a name."""
_BARE = (
    re.compile(r"(?P<lead>\b(?:[Bb]earer|BEARER)\s+)(?P<value>(?=[a-z]*[^a-z\s]|[a-z]{16})[\w.~+/=-]+)"),
    re.compile(r"(?P<lead>://)(?P<value>[^\s/]+)(?=@)"),
    re.compile(
        r"(?P<lead>(?<![\w-]))(?P<value>(?:hf_|sk-|gh[opsu]_|github_pat_|glpat-|xox[abprs]-|nvapi-|gsk_|ya29\.|AIza"
        r"|AKIA|ASIA|eyJ)[\w.-]{12,})"
    ),
)
"""What is sensitive by itself. The last are the beginnings of tokens that GitHub's secret scanning knows."""
_WORD = re.compile(r"(?<![A-Za-z0-9])(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}")
_TURNS = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_CHARACTERS_PER_TURN = 2.5
"""Characters between two changes of capitals, small letters and digits. Random words have fewer, and names of fields,
machines and models (`standardNDSv5H100Family`) have more."""
_BASIC = re.compile(r"(?P<lead>\b[Bb]asic\s+)(?P<value>(?=[a-z]*[A-Z0-9+/=])[\w+/=-]{8,})")


def text(value: str, hide: Hide = lambda _: SENSITIVE) -> str:
    """Return a text without what of it is sensitive."""
    return hide(value) if _is_whole(value) else without(value, _parts(value), hide)


def message(value: str) -> str:
    """Return a message without credentials: as `text` does, and without long random words."""
    return uncovered(value, _message)


def beginning(value: str, longest: int) -> str:
    """Return the first words of a text. A word that does not fit is left out: a part of a credential has no form."""
    if len(value) <= longest:
        return value
    words = re.match(r"(?s).*\s", value[:longest])
    return words[0] if words else ""


def opening(value: str, longest: int) -> str:
    """Return the beginning of a message without credentials: enough of it to show a number of characters."""
    return message(beginning(value, _READ * longest))


def excerpt(value: str, longest: int) -> str:
    """Return the beginning of a message on one line, visibly and without credentials."""
    return visible(opening(value, longest))[:longest]


def uncovered(value: str, hide: Hide) -> str:
    """Return what `hide` makes of a text, also if colors or invisible characters split what it would hide.

    Then they are left out of the whole text.
    """
    shown = bare(value)
    if shown == value:
        return hide(value)
    hidden = hide(shown)
    return hidden if hidden != shown else hide(value)


def _message(value: str) -> str:
    if _is_whole(value):
        return SENSITIVE
    return _WORD.sub(_unless_a_name, without(value, (*_parts(value), _BASIC), lambda _: SENSITIVE))


def _is_whole(value: str) -> bool:
    """Return whether a text is sensitive as a whole."""
    config = _KUBECONFIG.search(value)
    return bool(_WHOLE.search(value) or (config and _USERS.search(value, config.end())))


def is_credential(value: str) -> bool:
    """Return whether a value looks like a credential, or has one."""
    return message(value) != value


def _parts(value: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns to look for: most texts have none of the names, and those patterns are slow."""
    lower = value.lower()
    is_named = any(mark in lower for mark in _MARKS) and any(name in lower for name in _NAMES)
    return (*NAMED, *_BARE) if is_named else _BARE


def _unless_a_name(word: re.Match[str]) -> str:
    return SENSITIVE if len(_TURNS.findall(word[0])) * _CHARACTERS_PER_TURN >= len(word[0]) else word[0]


def without(value: str, parts: tuple[re.Pattern[str], ...], hide: Hide) -> str:
    for part in parts:
        value = part.sub(lambda found: f"{found['lead']}{_once(found['value'], hide)}", value)
    return value


def _once(value: str, hide: Hide) -> str:
    """Hide a value, unless it is hidden already, or is a reference to a variable."""
    is_hidden = "\ue000" in value or SENSITIVE in value or value.startswith(("$", "…"))
    return value if is_hidden else hide(value)
