"""Follows a kind: lists it, then watches it for changes, for as long as the process lives.

Phases (`follow`):

1. List all objects, page by page. Each page becomes records before the next one is read.
2. Watch from the version of the list. The server ends a watch after a minute with a bookmark, and the next one starts
   where it ended: a watch that is silent for longer is dead.
3. After a fault, watch again from the last version, a little later each time. If the server no longer has that version
   (410 Gone), or the fault lasts, list again.

A kind that the server refuses (403, 404) is asked for again every minute: a role can be granted and an API installed
later. It is no fault, and the other kinds go on. A server that starts refuses what it allows a moment later, so a kind
that was read before is refused only after several tries.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx2

from function.apiserver import client as api
from function.apiserver import credentials
from function.core import dig
from function.observe.kinds import Kind
from function.observe.view import View, identity

Say = Callable[[str], None]
_MOST_LINE = 32 * 2**20
"""Bytes of one event. The API server accepts objects of 3 MB."""
_SURE = 3
"""Refusals in a row of a kind that was read before."""
_LINE_FEED = b"\n"
_MOST_RECORDS = 300_000
"""Records of a kind. Kubernetes supports 150,000 pods (kubernetes.io, "Considerations for large clusters")."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between tries, and bounds on silence. Tests have shorter ones."""

    watch: float = 60.0
    """After which the server ends a watch."""
    silence: float = 30.0
    """For which a watch may be overdue."""
    again: float = 60.0
    """Until a refused kind is asked for again."""
    first: float = 1.0
    most: float = 30.0
    """Waits after faults: the first one, doubled up to the most."""
    tries: int = 5
    """Watches that fail before the kind is listed again."""

    def after(self, fault: int) -> float:
        """The wait after so many faults in a row, with some randomness, so that observers do not ask in step."""
        return float(min(self.most, self.first * 2 ** min(fault - 1, 16)) * random.uniform(0.75, 1.25))  # noqa: S311


async def follow(client: httpx2.AsyncClient, view: View, say: Say, pace: Pace) -> None:
    """Keep a view up to date. Does not return and does not raise; it ends when its task is cancelled."""
    faults = refusals = 0
    while True:
        try:
            version = await _list(client, view)
            faults = refusals = 0
            await _watch(client, view, version, say, pace)
        except api.KindRefused as refused:
            refusals += 1
            if view.is_known and not view.refusal and refusals < _SURE:
                await asyncio.sleep(pace.after(refusals))
                continue
            if view.refusal != str(refused):
                say(f"cannot read {refused}")
            view.refused(str(refused))
            await asyncio.sleep(pace.again)
        except api.VersionGone:
            await asyncio.sleep(pace.after(1))
        except api.NoAnswer as fault:
            faults += 1
            say(f"cannot read {fault}")
            await asyncio.sleep(pace.after(faults))


async def _list(client: httpx2.AsyncClient, view: View) -> str:
    """List the kind, and return the version of the list."""
    records, version = {}, ""
    async for objects, told in api.pages(client, view.kind):
        view.heard()
        version = told
        for given in objects:
            record = view.kind.read(given)
            if record is not None:
                records[identity(given)] = record
        _check_number(view.kind, len(records))
    if not version:
        raise api.NoAnswer(f"{view.kind}: the list has no resource version")
    view.listed(records)
    return version


def _check_number(kind: Kind, number: int) -> None:
    """Raises: KindRefused: there are more objects than the observer keeps."""
    if number > _MOST_RECORDS:
        raise api.KindRefused(f"{kind}: there are more than {_MOST_RECORDS:,}")


async def _watch(client: httpx2.AsyncClient, view: View, version: str, say: Say, pace: Pace) -> None:
    """Watch the kind from a version.

    Raises: VersionGone, KindRefused; NoAnswer after too many tries.
    """
    faults = 0
    while True:
        try:
            async with aclosing(_events(client, view, version, pace)) as events:
                async for type_, given in events:
                    version = str(dig(given, "metadata", "resourceVersion") or version)
                    faults = 0
                    if type_ == "BOOKMARK":
                        view.heard()
                    else:
                        view.event(type_, given)
                        _check_number(view.kind, len(view.records))
            view.heard()
        except api.NoAnswer as fault:
            faults += 1
            if faults >= pace.tries:
                raise
            say(f"cannot watch {fault}")
            await asyncio.sleep(pace.after(faults))


async def _events(client: httpx2.AsyncClient, view: View, version: str, pace: Pace) -> AsyncGenerator[tuple[str, Any]]:
    """The events of one watch: type and object.

    Raises: VersionGone, KindRefused, NoAnswer.
    """
    kind = view.kind
    parameters = {
        **kind.selectors,
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(max(1, round(pace.watch))),
    }
    timeout = httpx2.Timeout(credentials.SECONDS, read=pace.watch + pace.silence)
    try:
        async with client.stream("GET", kind.path, params=parameters, timeout=timeout) as response:
            if response.status_code != httpx2.codes.OK:
                api.check(response.status_code, await response.aread(), kind)
            view.heard()
            async for line in _lines(response, view):
                event = _event(line, view)
                if event:
                    yield event
    except api.FAULTS as error:
        raise api.NoAnswer(f"{kind}: {api.fault(error)}") from None


async def _lines(response: httpx2.Response, view: View) -> AsyncIterator[bytes]:
    """Lines end with a line feed only: texts in JSON may contain other line ends of Unicode."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(_LINE_FEED) if _LINE_FEED in chunk else (rest + chunk,)
        if len(rest) > _MOST_LINE:
            raise api.NoAnswer(f"{view.kind}: an event has more than {_MOST_LINE:,} bytes")
        for line in lines:
            yield line


def _event(line: bytes, view: View) -> tuple[str, Any] | None:
    if not line.strip():
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise api.NoAnswer(f"{view.kind}: an event is not JSON") from None
    type_, given = dig(event, "type"), dig(event, "object")
    if type_ == "ERROR":
        code = dig(given, "code")
        if code == httpx2.codes.GONE:
            raise api.VersionGone(str(view.kind))
        raise api.NoAnswer(f"{view.kind}: the watch ended with {api.message(line) or f'code {code}'}")
    return str(type_), given
