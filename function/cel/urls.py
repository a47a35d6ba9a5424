"""URLs, as rules see them: absolute, or a path from the root.

Source: k8s.io/apiserver v0.36, pkg/cel/library/urls.go, and net/url of Go (ParseRequestURI).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_plus, unquote_to_bytes

from function.cel.problem import Failure

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_OF_HOST = r"[^\x00-\x20\"#/?@\[\]\\^`{|}\x7f"
_HOST = re.compile(rf"\[[^\[\]]*\](?::[0-9]*)?|{_OF_HOST}:]*|{_OF_HOST}]*:[0-9]*")
_ESCAPES = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = "/$&+,:;=@!'()*~"
"""What a path may hold as it is."""


@dataclass(frozen=True, slots=True)
class Url:
    scheme: str
    host: str
    """With its port."""
    path: str
    """As it was escaped."""
    query: str

    @property
    def port(self) -> str:
        found = re.fullmatch(r"(?:\[.*\]|[^:]*)(?::([0-9]*))?", self.host)
        return (found[1] or "") if found else ""

    @property
    def hostname(self) -> str:
        name = self.host.removesuffix(f":{self.port}") if self.port else self.host.removesuffix(":")
        return name[1:-1] if name.startswith("[") else name


def parse(text: str) -> Url:
    """ValueError on what is none."""
    if not text or _CONTROL.search(text):
        raise ValueError(f"{text!r} is no URL")
    scheme, rest = _scheme(text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme or text == "*":
            return Url(scheme, "", "", query)
        raise ValueError(f"{text!r} is neither an absolute URL nor a path from the root")
    host = ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = _host(authority, text), slash + path
    if _ESCAPES.search(rest):
        raise ValueError(f"{text!r} has an escape that is none")
    return Url(scheme, host, _escaped(rest), query)


def _scheme(text: str) -> tuple[str, str]:
    before, colon, after = text.partition(":")
    if colon and _SCHEME.fullmatch(before):
        return before.lower(), after
    if text.startswith(":"):
        raise ValueError(f"{text!r} has no scheme")
    return "", text


def _host(authority: str, text: str) -> str:
    user, at, host = authority.rpartition("@")
    if (at and not _USER.fullmatch(user)) or not _HOST.fullmatch(host) or _ESCAPES.search(authority):
        raise ValueError(f"{text!r} has no valid host")
    return host


def _escaped(path: str) -> str:
    """As it was written, if that is an escape of what it says; else anew."""
    if re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=:@/\[\]%-]*", path):
        return path
    return quote(unquote_to_bytes(path), safe=_PLAIN)


def _url(text: str) -> Url:
    try:
        return parse(text)
    except ValueError as error:
        raise Failure(str(error)) from None


def _is_url(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _query(url: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in url.query.split("&"):
        key, _, value = pair.partition("=")
        if pair and ";" not in pair and not _ESCAPES.search(pair):
            found.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return found


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "string_to_url": _url,
    "is_url_string": _is_url,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": lambda url: url.hostname,
    "url_get_port": lambda url: url.port,
    "url_get_escaped_path": lambda url: url.path,
    "url_get_query": _query,
}
"""By overload."""
