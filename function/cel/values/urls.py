"""URLs, as Kubernetes reads them: absolute, or a path from the root.

Grammar and sentences are those of net/url of Go 1.26 (Parse, ParseRequestURI, String, ParseQuery). A sentence is part
of what a selector can see: `format.uri().validate` hands it out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from function.cel.effort import spend, write
from function.cel.values import addresses, escapes
from function.cel.values.escapes import FRAGMENT, HOST, PATH, QUERY, USER, ZONE, escaped, kept, unescaped
from function.cel.values.kinds import Keyed
from function.cel.values.quoting import Malformed

MOST_PARAMETERS = 10_000
"""Of a query. One with more has none."""
_STEPS, _CHARACTERS = 20, 3
"""That reading a parameter takes, and that one step reads."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)?:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PORT = re.compile(r"(?::[0-9]*)?")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_STRICT = ("http", "https")
"""Schemes whose hosts have one colon, before the port."""


@dataclass(frozen=True, slots=True, eq=False)
class Url:
    """Two are equal when they are written alike."""

    scheme: str = ""
    opaque: str = ""
    """What follows the scheme, where that is no path."""
    user: str | None = None
    """As it is written anew."""
    host: str = ""
    """With its port, without escapes."""
    has_authority: bool = False
    path: str = ""
    """With its escapes, as it was written."""
    query: str = ""
    asks: bool = False
    """Whether it ends with a question mark that nothing follows."""
    fragment: str = ""
    _seen: dict[str, Any] = field(default_factory=dict, repr=False)
    """What was worked out of it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and str(self) == str(other)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        if "text" not in self._seen:
            write(len(self.host) + len(self.path) + len(self.query) + len(self.fragment))
            self._seen["text"] = _written(self)
        return str(self._seen["text"])

    @property
    def port(self) -> str:
        return self._split()[1]

    @property
    def hostname(self) -> str:
        return self._split()[0]

    @property
    def escaped_path(self) -> str:
        if "path" not in self._seen:
            write(len(self.path))
            self._seen["path"] = kept(self.path, PATH)
        return str(self._seen["path"])

    @property
    def parameters(self) -> Keyed:
        if "parameters" not in self._seen:
            self._seen["parameters"] = _parameters(self.query)
        return self._seen["parameters"]  # type: ignore[no-any-return]  # nothing else is put there

    def _split(self) -> tuple[str, str]:
        name, colon, port = self.host.rpartition(":")
        if not colon or not _PORT.fullmatch(colon + port):
            name, port = self.host, ""
        if name.startswith("[") and name.endswith("]"):
            name = name[1:-1]
        return name, port


def url(text: str) -> Url:
    """ValueError for what is none. A fragment is told apart only here."""
    check(text)
    rest, _, fragment = text.partition("#")
    found = _read(rest, is_requested=False)
    escapes.check(fragment, FRAGMENT)
    return Url(*found, fragment)


def check(text: str) -> None:
    """Malformed for what could not be requested: neither absolute, nor a path from the root."""
    spend(len(text) // _CHARACTERS)
    _read(text, is_requested=True)


def _read(text: str, *, is_requested: bool) -> tuple[str, str, str | None, str, bool, str, str, bool]:
    """The fields of a URL, but for its fragment."""
    if _CONTROL.search(text):
        raise Malformed("net/url: invalid control character in URL")
    if not text:
        raise Malformed("empty url")
    if text == "*":
        return "", "", None, "", False, "*", "", False
    scheme, rest = _scheme(text)
    rest, mark, query = rest.partition("?")
    asks = bool(mark) and not query
    if not rest.startswith("/"):
        if scheme:
            return scheme, rest, None, "", False, "", query, asks
        raise Malformed("invalid URI for request")
    user, host = None, ""
    has_authority = rest.startswith("//") and (bool(scheme) or (not is_requested and not rest.startswith("///")))
    if has_authority:
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _authority(scheme, authority)
    escapes.check(rest, PATH)
    return scheme, "", user, host, has_authority, rest, query, asks


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
        ip, _ = addresses.read(found)
    except Malformed as malformed:
        raise malformed.within("invalid host: ") from None
    if ip.family == 4:  # noqa: PLR2004  (IPv4)
        raise Malformed("invalid IP-literal")
    return f"[{found}]{host[end + 1 :]}"


def _check_port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise Malformed("invalid port {} after host", text)


def _written(url: Url) -> str:
    text = f"{url.scheme}:" if url.scheme else ""
    if url.opaque:
        text += url.opaque
    else:
        text += _place(url) + url.escaped_path
    if url.query or url.asks:
        text += f"?{url.query}"
    return text + (f"#{kept(url.fragment, FRAGMENT)}" if url.fragment else "")


def _place(url: Url) -> str:
    """Who and where, with the slashes before it."""
    if url.user is not None:
        return f"//{url.user}@{escaped(url.host, HOST)}"
    if url.host:
        return f"//{escaped(url.host, HOST)}"
    is_empty = url.has_authority and bool(url.scheme)
    return "//" if is_empty and url.path else ""


def _parameters(query: str) -> Keyed:
    found = Keyed()
    write(len(query))
    count = query.count("&") + 1
    if count > MOST_PARAMETERS:
        return found
    spend(count * _STEPS)
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        try:
            name, one = unescaped(key, QUERY), unescaped(value, QUERY)
        except Malformed:
            continue
        if ";" not in pair:
            found.setdefault(name, []).append(one)
    return found
