"""URLs: absolute, or a path from the root.

A URL is read and written as net/url of Go 1.26 does (`golang.url_parser`). Source: k8s.io/apiserver v0.36,
pkg/cel/library (urls.go, cost.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from function.cel.golang.strconv import Malformed, explained, is_parsed, is_text
from function.cel.golang.url_escapes import FRAGMENT, HOST, PATH, QUERY, escaped, preserved, unescaped
from function.cel.golang.url_parser import PORT, Parts, check, parse
from function.cel.language.declarations.cost import TRAVERSAL, UNIT, Argument, Estimate, by_function, text_charge
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.errors import Abort, Failure
from function.cel.language.limits import URL_PARAMETERS
from function.cel.language.limits.step_budget import spend, write
from function.cel.language.values.kinds import CelMap
from function.cel.language.values.opaque import OpaqueType

_PARAMETER = 20
"""Steps of reading a parameter."""


@dataclass(frozen=True, slots=True, eq=False)
class Url:
    """A URL. Two are equal when they are written alike."""

    parts: Parts
    _computed: dict[str, Any] = field(default_factory=dict, repr=False)
    """What was computed from the parts."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and str(self) == str(other)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        if "text" not in self._computed:
            parts = self.parts
            write(len(parts.host) + len(parts.path) + len(parts.query) + len(parts.fragment))
            self._computed["text"] = _written(self)
        return str(self._computed["text"])

    @property
    def port(self) -> str:
        return self._split()[1]

    @property
    def hostname(self) -> str:
        return self._split()[0]

    @property
    def escaped_path(self) -> str:
        if "path" not in self._computed:
            write(len(self.parts.path))
            self._computed["path"] = preserved(self.parts.path, PATH)
        return str(self._computed["path"])

    @property
    def parameters(self) -> CelMap:
        if "parameters" not in self._computed:
            self._computed["parameters"] = _parameters(self.parts.query)
        return self._computed["parameters"]  # type: ignore[no-any-return]  # nothing else is put there

    def _split(self) -> tuple[str, str]:
        name, colon, port = self.parts.host.rpartition(":")
        if not colon or not PORT.fullmatch(colon + port):
            name, port = self.parts.host, ""
        if name.startswith("[") and name.endswith("]"):
            name = name[1:-1]
        return name, port


def _written(url: Url) -> str:
    parts = url.parts
    text = f"{parts.scheme}:" if parts.scheme else ""
    if parts.opaque:
        text += parts.opaque
    else:
        text += _authority(parts) + url.escaped_path
    if parts.query or parts.ends_with_mark:
        text += f"?{parts.query}"
    return text + (f"#{preserved(parts.fragment, FRAGMENT)}" if parts.fragment else "")


def _authority(url: Parts) -> str:
    """User and host, with the slashes before them."""
    if url.user is not None:
        return f"//{url.user}@{escaped(url.host, HOST)}"
    if url.host:
        return f"//{escaped(url.host, HOST)}"
    is_empty = url.has_authority and bool(url.scheme)
    return "//" if is_empty and url.path else ""


def _parameters(query: str) -> CelMap:
    found = CelMap()
    write(len(query))
    count = query.count("&") + 1
    if count > URL_PARAMETERS:
        return found
    spend(count * _PARAMETER)
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        try:
            name, one = unescaped(key, QUERY), unescaped(value, QUERY)
        except Malformed:
            continue
        if ";" not in pair:
            found.setdefault(name, []).append(one)
    return found


# Functions


def _url(text: str) -> Url:
    try:
        return Url(parse(text))
    except Malformed as malformed:
        raise Failure(explained(text, "URL", malformed)) from None


def _text(text: str) -> str:
    """A part without its escapes: in Kubernetes it can be bytes that are no UTF-8."""
    if not is_text(text):
        raise Abort("a part of the URL is no UTF-8, and a string here is a text")
    return text


def _query(url: Url) -> CelMap:
    found = url.parameters
    if "%" in url.parts.query:
        _text("".join(chain(found, *found.values())))
    return found


# Prices


def _estimate(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    return Estimate(args[0].known_size.scaled(TRAVERSAL), args[0].known_size) if len(args) == 1 else None


LIBRARY = Library(
    name="urls",
    types=(
        OpaqueType(
            name="url",
            type_name="kubernetes.URL",
            values=Url,
            is_written=True,
            is_readable=False,
            equality_size=None,
        ),
    ),
    overloads=(
        function("string_to_url: url(string) -> url", _url, by_function(_estimate, text_charge)),
        function("is_url_string: isURL(string) -> bool", lambda text: is_parsed(check, text), UNIT),
        method("url_get_scheme: url.getScheme() -> string", lambda url: url.parts.scheme, UNIT),
        method("url_get_host: url.getHost() -> string", lambda url: _text(url.parts.host), UNIT),
        method("url_get_hostname: url.getHostname() -> string", lambda url: _text(url.hostname), UNIT),
        method("url_get_port: url.getPort() -> string", lambda url: url.port, UNIT),
        method("url_get_escaped_path: url.getEscapedPath() -> string", lambda url: url.escaped_path, UNIT),
        method("url_get_query: url.getQuery() -> map(string, list(string))", _query, UNIT),
    ),
)
