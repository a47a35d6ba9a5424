"""Secret values in objects, which no report shows.

Sensitive are: the data of Secrets; the value of a variable, header or field whose name says so (`HF_TOKEN`,
`Authorization`, `apiKey`); kubeconfigs and private keys; and inside a text, the value of such a flag or variable
(`--api-key x`, `API_KEY=x`), a bearer token, and the user of a URL. References to Secrets are names, and are shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core.manifest import is_list
from function.core.redaction import FLAG, SENSITIVE, Hide, text
from function.sandbox.invented import KNOWN_LATER

CHANGED = "(sensitive, changed)"

_VARIABLE = re.compile(r"TOKEN|KEY|PASSW|PASSPHRASE|SECRET|CREDENTIAL|AUTHORIZATION|COOKIE", re.IGNORECASE)
"""Names of variables and headers. They name values, never references."""
_FIELD = re.compile(
    r"(^|[_.-])(token|password|passwd|passphrase|secret|credentials?|authorization|cookie|kubeconfig)$"
    r"|(api|access|private|secret|auth|signing|encryption|account|client|license|hmac)[_.-]?keys?([_.-]?data)?$"
    r"|(Token|Password|Passphrase|Secret|Credentials?)$"
    r"|(api|access|private|secret|auth|signing|encryption|account|client|license|hmac)Keys?(Data)?$"
    r"|^[A-Z0-9_]*(TOKEN|KEY|PASSWORD|SECRET|CREDENTIAL)[A-Z0-9_]*$",
)
"""Names of fields. `key` and `secretName` name references."""


@dataclass(slots=True)
class Tokens:
    """Stand-ins for texts that are not shown. Equal ones have the same, so that a difference remains one."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def hide(self, text: str) -> str:
        """Return the stand-in of a sensitive text."""
        return f"\ue000{self._numbers.setdefault(text, len(self._numbers))}\ue001"

    def later(self, text: str) -> str:
        """Return the stand-in of a value that is known after apply."""
        return f"\ue000-{self._numbers.setdefault(text, len(self._numbers))}\ue001"


_TOKEN = re.compile("\ue000(-?)[0-9]+\ue001")


def tokens_in(text: str) -> frozenset[str]:
    """The stand-ins in a text."""
    return frozenset(found[0] for found in _TOKEN.finditer(text))


def shown(text: str, known: frozenset[str] | None = None) -> str:
    """Return a text with what is shown for its stand-ins.

    Args:
        text: A text with stand-ins.
        known: The stand-ins of the text before, if there was one: all others are shown as changed.
    """

    def mark(found: re.Match[str]) -> str:
        if found[1]:
            return KNOWN_LATER
        return SENSITIVE if known is None or found[0] in known else CHANGED

    return _TOKEN.sub(mark, text)


def masked(value: Any, hide: Hide = lambda _: SENSITIVE) -> Any:
    """Return a value without its sensitive texts.

    Args:
        value: An object, or a part of one.
        hide: Called with each sensitive text.
    """
    if isinstance(value, Mapping):
        return _mapping(value, hide)
    if is_list(value):
        return _list(value, hide)
    return text(value, hide) if isinstance(value, str) else value


def _mapping(value: Mapping[str, Any], hide: Hide) -> dict[str, Any]:
    whole = ("data", "stringData") if value.get("kind") == "Secret" else ()
    is_variable = _VARIABLE.search(str(value.get("name") or "")) is not None
    found: dict[str, Any] = {}
    for key, one in value.items():
        if key in whole:
            found[key] = _all(one, hide)
        elif (is_variable and key == "value") or _FIELD.search(str(key)):
            found[key] = _scalar(one, hide)
        else:
            found[key] = masked(one, hide)
    return found


def _all(value: Any, hide: Hide) -> Any:
    """Hide every value of a Secret's data."""
    return {key: hide(str(one)) for key, one in value.items()} if isinstance(value, Mapping) else hide(str(value))


def _scalar(value: Any, hide: Hide) -> Any:
    """Hide the value of a field. An object in its place refers to one."""
    if isinstance(value, Mapping):
        return masked(value, hide)
    if is_list(value):
        return [_scalar(one, hide) for one in value]
    return value if value is None or isinstance(value, bool) else hide(str(value))


def _list(value: Any, hide: Hide) -> list[Any]:
    """Hide the argument after a flag that takes a secret, too."""
    items: list[Any] = []
    is_next = False
    for one in value:
        is_value = is_next and isinstance(one, str) and not one.startswith(("-", "$"))
        items.append(hide(one) if is_value else masked(one, hide))
        is_next = isinstance(one, str) and bool(FLAG.fullmatch(one))
    return items
