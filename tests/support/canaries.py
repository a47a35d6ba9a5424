"""Canaries: values that look like secrets, each unique to the place where it was planted, and the search for them.

A canary is found in plain text, base64 (at any offset, once or twice), hexadecimal, percent-encoded or escaped as JSON,
split across lines, cut to its first or last eight characters, and as an unsalted digest.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

PART = 8
"""Characters from which a part of a canary counts as the canary."""
_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True, order=True)
class Canary:
    """A secret and the place where it is."""

    place: str
    is_word: bool = False
    """Whether it has small letters only, as passwords that people choose: its form does not tell that it is one."""

    @property
    def token(self) -> str:
        """Twenty-four letters and digits, as tokens of providers are."""
        number, letters = int.from_bytes(hashlib.sha256(f"canary {self.place}".encode()).digest()), _LETTERS
        if self.is_word:
            letters = letters[:25]
        return "".join(letters[number // len(letters) ** n % len(letters)] for n in range(24))

    @property
    def odd(self) -> str:
        """The same with characters that JSON, YAML, URLs and shells escape."""
        return f"{self.token[:12]}\"\\%/+&'= ü:@{self.token[12:]}"

    @property
    def pem(self) -> str:
        """A key of several lines, each of which has a part."""
        lines = (f"{self.token}{self.token[::-1]}", f"{self.token[12:]}{self.token[:12]}")
        return "\n".join(("-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""))

    @property
    def kubeconfig(self) -> str:
        """A kubeconfig whose user has a token and a key."""
        key = base64.b64encode(self.pem.encode()).decode()
        return (
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
            "clusters:\n- name: c\n  cluster: {server: https://192.0.2.7}\n"
            "contexts:\n- name: c\n  context: {cluster: c, user: u}\n"
            f"users:\n- name: u\n  user:\n    token: {self.token}\n    client-key-data: {key}\n"
        )

    @property
    def json(self) -> str:
        """Credentials of a cloud."""
        return f'{{"type": "service_account", "client_secret": "{self.token}", "project_id": "p"}}'

    def base64(self, text: str | None = None) -> str:
        return base64.b64encode((self.token if text is None else text).encode()).decode()


@dataclass(frozen=True)
class Leak:
    """A canary that was found."""

    place: str
    where: str
    form: str
    around: str = field(default="", compare=False)


def search(canaries: Iterable[Canary], outputs: Mapping[str, str]) -> list[Leak]:
    """Return where canaries are in some outputs, by the outputs' names."""
    return [leak for where, text in outputs.items() for leak in _search(tuple(canaries), where, text)]


def _search(canaries: tuple[Canary, ...], where: str, text: str) -> Iterator[Leak]:
    joined = re.sub(r"[\s\"'│|+\\]+", "", text) if re.search(r"\s", text) else ""
    lower, joined_lower = text.lower(), joined.lower()
    for canary in canaries:
        for form, needle, is_hex in _needles(canary):
            here, also = (lower, joined_lower) if is_hex else (text, joined)
            at = here.find(needle)
            if at >= 0 or needle in also:
                yield Leak(canary.place, where, form, text[max(0, at - 120) : at + 80] if at >= 0 else "split")
                break


@lru_cache(maxsize=100_000)
def _needles(canary: Canary) -> tuple[tuple[str, str, bool], ...]:
    """Return the forms of a canary: name, text, and whether its case is unknown."""
    token = canary.token
    parts = (token[:PART], token[-PART:], token[8:16], token[::-1][:PART])
    ends = token[:PART], token[-PART:]
    once = [one for part in (token[:12], token[-12:]) for one in _inside_base64(part)]
    longer = [one for part in (token[:16], token[-16:]) for one in _inside_base64(part)]
    return (
        *(("plain", part, False) for part in parts),
        *(("base64", part, False) for part in once),
        *(("base64 of base64", two, False) for one in longer for two in _inside_base64(one)),
        *(("hex", part.encode().hex(), True) for part in ends),
        *(("percent-encoded", "".join(f"%{b:02x}" for b in part.encode()), True) for part in ends),
        *(("escaped", "".join(f"\\u{ord(c):04x}" for c in part), True) for part in ends),
        *(("digest", digest, True) for digest in _digests(canary)),
    )


def _inside_base64(part: str) -> Iterator[str]:
    """Yield what base64 makes of a part of a text, at each offset, without the characters that neighbours decide."""
    for offset in range(3):
        size = (offset + len(part)) // 3 * 3 - offset
        coded = base64.b64encode(b"\0" * offset + part[:size].encode()).decode()
        yield coded[4 if offset else 0 :]


def _digests(canary: Canary) -> Iterator[str]:
    """Yield the start of the unsalted digests of a value alone: who knows it can try values."""
    for text in (canary.token, canary.base64()):
        for algorithm in (hashlib.sha256, hashlib.sha1, hashlib.md5):
            yield algorithm(text.encode()).hexdigest()[:PART]
