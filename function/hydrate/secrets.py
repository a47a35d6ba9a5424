"""Values that no log may repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from function.core import known_secrets, redaction

CREDENTIALS = ("HF_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY")
_SHOWN = "***"
_SHORTEST = 4
"""Shorter values are not replaced: they would be found in many words."""


def redactor(environment: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces the secret values of an environment, and other credentials, in a text."""
    found = [environment.get(name, "") for name in CREDENTIALS]
    for url in (environment.get(name, "") for name in PROXIES):
        found += _passwords(url)
    known = sorted({value for value in found if len(value) >= _SHORTEST}, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, known)) or r"(?!)")
    parts = known_secrets.Parts(known)

    def told(text: str) -> str:
        """Without the values, without parts of them, and without what servers add: a redirect to a signed URL."""
        return parts.hidden_from(redaction.message(pattern.sub(_SHOWN, text)))

    return told


def _passwords(url: str) -> Iterator[str]:
    """Yield what may be the password in the URL of a proxy, in each form in which a client may tell it.

    The URL need not be sound. Without a colon, the user is what may be secret.
    """
    authority = url.partition("://")[2] or url
    user, _, password = authority.rpartition("@")[0].partition(":")
    secret = password or user
    yield from (secret, unquote(secret))
    yield from re.split(r"[/@\[\]?#]", secret)  # where a client ends a host, or a user
