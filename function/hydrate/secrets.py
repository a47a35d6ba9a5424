"""Values that no log may repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote, urlsplit

CREDENTIALS = ("HF_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY")
_SHOWN = "***"
_SHORTEST = 4
"""Shorter values are not replaced: they would be found in many words."""


def redactor(environment: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces the secret values of an environment in a text."""
    found = [environment.get(name, "") for name in CREDENTIALS]
    for url in (environment.get(name, "") for name in PROXIES):
        password = _password(url)
        found += [password, unquote(password)]
    known = sorted({value for value in found if len(value) >= _SHORTEST}, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, known))) if known else None
    return lambda text: pattern.sub(_SHOWN, text) if pattern else text


def _password(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""
