"""URLs: absolute, or a path from the root, with the grammar and the messages of net/url of Go 1.26.

Parse and ParseRequestURI only: what a URL is written as, and its parameters, are of the value (`libraries.url`). A
message is part of what a selector can see: `format.uri().validate` returns it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from function.cel.golang import netip, url_escapes
from function.cel.golang.strconv import Malformed
from function.cel.golang.url_escapes import FRAGMENT, HOST, PATH, USER, ZONE, escaped, unescaped
from function.cel.language.limits.step_budget import spend

_READ = 3
"""Characters that one step reads."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)?:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
PORT = re.compile(r"(?::[0-9]*)?")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_STRICT = ("http", "https")
"""Schemes whose hosts have one colon, before the port."""


class Parts(NamedTuple):
    """The parts of a URL."""

    scheme: str = ""
    opaque: str = ""
    """The rest after the scheme, where that is no path."""
    user: str | None = None
    """With the escapes that it is written with anew."""
    host: str = ""
    """With its port, without escapes."""
    has_authority: bool = False
    path: str = ""
    """With its escapes, as it was written."""
    query: str = ""
    ends_with_mark: bool = False
    """Whether it ends with a question mark that nothing follows."""
    fragment: str = ""


def parse(text: str) -> Parts:
    """The parts of a URL, with its fragment. Malformed where it is none."""
    check(text)
    rest, _, fragment = text.partition("#")
    found = _parts(rest, is_requested=False)
    url_escapes.check(fragment, FRAGMENT)
    return found._replace(fragment=fragment)


def check(text: str) -> None:
    """Malformed where a text cannot be requested: it is neither absolute nor a path from the root."""
    spend(len(text) // _READ)
    _parts(text, is_requested=True)


def _parts(text: str, *, is_requested: bool) -> Parts:
    """The parts of a URL without a fragment."""
    if _CONTROL.search(text):
        raise Malformed("net/url: invalid control character in URL")
    if not text:
        raise Malformed("empty url")
    if text == "*":
        return Parts(path="*")
    scheme, rest = _scheme(text)
    rest, mark, query = rest.partition("?")
    asks = bool(mark) and not query
    if not rest.startswith("/"):
        if scheme:
            return Parts(scheme, rest, query=query, ends_with_mark=asks)
        raise Malformed("invalid URI for request")
    user, host = None, ""
    has_authority = rest.startswith("//") and (bool(scheme) or (not is_requested and not rest.startswith("///")))
    if has_authority:
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _authority(scheme, authority)
    url_escapes.check(rest, PATH)
    return Parts(scheme, "", user, host, has_authority, rest, query, asks)


def _scheme(text: str) -> tuple[str, str]:
    found = _SCHEME.match(text)
    if found is None:
        return "", text
    if found[1] is None:
        raise Malformed("missing protocol scheme")
    return found[1].lower(), text[found.end() :]


def _authority(scheme: str, authority: str) -> tuple[str | None, str]:
    user, at, host = authority.rpartition("@")
    found = _host(scheme, host)
    return (_user(user) if at else None), found


def _user(text: str) -> str:
    if not _USER.fullmatch(text):
        raise Malformed("net/url: invalid userinfo")
    name, colon, password = text.partition(":")
    parts = [escaped(unescaped(part, USER), USER) for part in (name, password)]
    return colon.join(parts)


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise Malformed("invalid IP-literal")
    if bracket == 0:
        return _literal(host)
    colon = host.find(":") if scheme in _STRICT else host.rfind(":")
    if colon >= 0:
        _check_port(host[colon:])
    return unescaped(host, HOST)


def _literal(host: str) -> str:
    """An IPv6 address in brackets, and a port."""
    end = host.rfind("]")
    if end < 0:
        raise Malformed("missing ']' in host")
    _check_port(host[end + 1 :])
    name, mark, zone = host[1:end].partition("%25")
    found = unescaped(name, HOST) + unescaped(mark + zone, ZONE)
    try:
        _, bits, _ = netip.parse_addr(found)
    except Malformed as malformed:
        raise malformed.within("invalid host: ") from None
    if bits == netip.IPV4_BITS:
        raise Malformed("invalid IP-literal")
    return f"[{found}]{host[end + 1 :]}"


def _check_port(text: str) -> None:
    if not PORT.fullmatch(text):
        raise Malformed("invalid port {} after host", text)
