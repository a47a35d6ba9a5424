"""Requests to an API server. lightkube's own watch has neither bookmarks nor a bound on silence, so lists and watches
are requested here, and objects stay plain data.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Protocol

import httpx2
from lightkube.core.exceptions import ConfigError

from function.core import dig, dig_list, redaction

PAGE = 500
"""Objects of one response, as kubectl asks for."""
_MOST_PAGES = 2_000
"""A million objects. Kubernetes supports 150,000 pods (kubernetes.io, "Considerations for large clusters")."""
TRIES = 3
"""Times that a list is read when its pages expire."""
_GONE, _FORBIDDEN, _UNAUTHORIZED, _NOT_FOUND, _CONFLICT = 410, 403, 401, 404, 409
_MOST_MESSAGE = 256


class Kind(Protocol):
    """A kind, or some objects of a kind. Its text names it in messages."""

    @property
    def path(self) -> str:
        """Of the list, below the API server's address."""

    @property
    def selectors(self) -> Mapping[str, str]:
        """Parameters that restrict the list."""


class NoAnswer(Exception):
    """The API server does not answer as it should. Another try may help."""


class Unauthorized(NoAnswer):
    """The API server does not accept the credentials."""


class KindRefused(Exception):
    """The API server refuses a kind, or does not have it. The message names the kind."""


class Forbidden(KindRefused):
    """Who asks has no right to read a kind."""


class NotServed(KindRefused):
    """The API server does not have a kind."""


class VersionGone(Exception):
    """The server no longer has the version from which to go on."""


FAULTS = (httpx2.HTTPError, ConfigError, OSError, ValueError, KeyError, TypeError)
"""What a request can raise: the network, and a credential plugin that is missing or answers with something else."""


# Requests


async def pages(client: httpx2.AsyncClient, kind: Kind) -> AsyncIterator[tuple[list[Any], str]]:
    """All objects of a kind, page by page, each with the resource version of the list.

    Raises: KindRefused, NoAnswer, VersionGone.
    """
    following = ""
    for _ in range(_MOST_PAGES):
        more = {"continue": following} if following else {}
        answer = await get(client, kind, {**kind.selectors, "limit": str(PAGE), **more})
        if not isinstance(answer, Mapping) or not isinstance(answer.get("items"), list | None):
            raise NoAnswer(f"{kind}: the answer is no list of objects")
        yield list(dig_list(answer, "items")), str(dig(answer, "metadata", "resourceVersion") or "")
        following = str(dig(answer, "metadata", "continue") or "")
        if not following:
            return
    raise NoAnswer(f"{kind}: the list does not end after {_MOST_PAGES:,} pages")


async def listed(client: httpx2.AsyncClient, kind: Kind, read: Callable[[Any], Any] = lambda given: given) -> list[Any]:
    """What `read` makes of each object of a kind, page by page; None leaves an object out.

    A list whose pages expire while they are read is read again.

    Raises: KindRefused, NoAnswer.
    """
    for _ in range(TRIES):
        try:
            made = [read(one) async for objects, _version in pages(client, kind) for one in objects]
            return [one for one in made if one is not None]
        except VersionGone:
            continue
    raise NoAnswer(f"{kind}: the list changes faster than it can be read")


async def get(client: httpx2.AsyncClient, kind: Kind, parameters: Mapping[str, str]) -> Any:
    try:
        response = await client.get(kind.path, params=dict(parameters))
    except FAULTS as error:
        raise NoAnswer(f"{kind}: {fault(error)}") from None
    check(response.status_code, response.content, kind)
    try:
        return response.json()
    except ValueError:
        raise NoAnswer(f"{kind}: the answer is not JSON") from None


async def write(client: httpx2.AsyncClient, kind: Kind, manifest: Mapping[str, Any], *, is_new: bool) -> None:
    """Create or replace an object.

    Raises: KindRefused, NoAnswer; also where another one wrote it in between.
    """
    name = dig(manifest, "metadata", "name")
    try:
        if is_new:
            response = await client.post(kind.path, json=dict(manifest))
        else:
            response = await client.put(f"{kind.path}/{name}", json=dict(manifest))
    except FAULTS as error:
        raise NoAnswer(f"{kind} {name}: {fault(error)}") from None
    if response.status_code in (_NOT_FOUND, _CONFLICT):
        raise NoAnswer(f"{kind} {name}: {message(response.content) or 'it changed meanwhile'}")
    check(response.status_code, response.content, kind)


def check(status: int, body: bytes, kind: Kind) -> None:
    """Raises: KindRefused, NoAnswer, VersionGone."""
    if status < 300:  # noqa: PLR2004
        return
    if status == _GONE:
        raise VersionGone(str(kind))
    told = message(body) or f"status {status}"
    if status == _FORBIDDEN:
        raise Forbidden(f"{kind}: forbidden: {told}")
    if status == _NOT_FOUND:
        raise NotServed(f"{kind}: the cluster does not have this API ({kind.path})")
    if status == _UNAUTHORIZED:
        raise Unauthorized(f"{kind}: the API server does not accept the credentials")
    raise NoAnswer(f"{kind}: {told}")


def message(body: bytes) -> str:
    """The message of a Status, or of the Status in an event, without credentials that it quotes."""
    try:
        given = json.loads(body)
        told = dig(given, "message") or dig(given, "object", "message")
    except ValueError:
        return ""
    return redaction.excerpt(told, _MOST_MESSAGE) if isinstance(told, str) else ""


def fault(error: Exception) -> str:
    """What is wrong, on one line. The answer of a credential plugin is not repeated: it may hold the credential."""
    if isinstance(error, httpx2.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx2.LocalProtocolError):  # its message repeats the header
        return "the credentials have characters that no header may have, such as a line break"
    told = (
        str(error) if isinstance(error, httpx2.HTTPError | ConfigError | OSError) else "the credentials cannot be read"
    )
    return redaction.excerpt(told, _MOST_MESSAGE) or type(error).__name__
