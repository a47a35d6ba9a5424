"""Reads a fleet from the API server of its control cluster.

Phases (`read`):

1. List our kinds, a few at a time. A kind that the server does not have is empty: a release before this one made the
   cluster, or no cloud is used.
2. List the kinds that these composed, as their resourceRefs say, and keep what one of them controls. List the provider
   configs of the clouds in use.

Lists are of slightly different moments. An object that is deleted between two of them may be missing from one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from function.apiserver import client as api
from function.core import controller, dig
from function.live import kinds, rights
from function.live.kinds import LiveKind
from function.live.rights import Missing

_AT_ONCE = 4
"""Lists that are read at the same time."""
_LEFT_OUT = ("managedFields",)
"""Metadata that is half of an object's size. kubectl leaves it out, too."""


class NotInstalled(Exception):
    """The API server has none of our kinds."""


@dataclass(frozen=True, slots=True)
class LiveFleet:
    """What could be read."""

    objects: tuple[dict[str, Any], ...]
    forbidden: tuple[Missing, ...]
    """Kinds of ours that may not be listed."""
    unread: tuple[Missing, ...]
    """Foreign kinds that may not be listed. What our objects composed of them is not known."""
    absent: tuple[str, ...]
    """Kinds of ours that the server does not have."""


async def read(client: httpx2.AsyncClient, namespace: str = "", *, composed: bool = True) -> LiveFleet:
    """Read a fleet.

    Args:
        client: Of the control cluster.
        namespace: The only namespace to read of kinds that have one; empty for all.
        composed: Whether to read what our objects composed.

    Raises: NoAnswer, NotInstalled.
    """
    reader = _Reader(client, asyncio.Semaphore(_AT_ONCE))
    asked = [*kinds.ours(namespace)]
    objects = await reader.all(asked)
    if len(reader.absent) == len(asked):
        raise NotInstalled
    ours, reader.forbidden = tuple(reader.forbidden), []
    if composed:
        made = await reader.all(kinds.composed(objects))
        objects += [*_controlled(made, objects), *await reader.all(kinds.provider_configs(objects))]
    return LiveFleet(tuple(objects), ours, tuple(reader.forbidden), tuple(sorted(map(str, reader.absent))))


class _Reader:
    """Reads kinds, and notes those that cannot be read."""

    def __init__(self, client: httpx2.AsyncClient, room: asyncio.Semaphore) -> None:
        self._client = client
        self._room = room
        self.forbidden: list[Missing] = []
        self.absent: list[LiveKind] = []

    async def all(self, asked: Sequence[LiveKind]) -> list[dict[str, Any]]:
        """The objects of some kinds, kind by kind. Raises NoAnswer.

        The first kind is read alone: a credential plugin runs once then, and asks a person once, too.
        """
        first = [one for kind in asked[:1] for one in await self._one(kind)]
        try:
            async with asyncio.TaskGroup() as tasks:
                reading = [tasks.create_task(self._one(kind)) for kind in asked[1:]]
        except* api.NoAnswer as faults:
            raise faults.exceptions[0] from None
        return [*first, *(one for task in reading for one in task.result())]

    async def _one(self, kind: LiveKind) -> list[dict[str, Any]]:
        async with self._room:
            try:
                return await api.listed(self._client, kind, lambda given: _object(kind, given))
            except api.Forbidden as refused:
                self.forbidden.append(rights.missing(kind, refused))
            except api.NotServed:
                self.absent.append(kind)
        return []


def _object(kind: LiveKind, given: Any) -> dict[str, Any]:
    """An item of a list as an object of its own: a server may leave out what all items share. Raises NoAnswer."""
    if not isinstance(given, Mapping) or not isinstance(given.get("metadata"), Mapping):
        raise api.NoAnswer(f"{kind}: the answer is no list of objects")
    metadata = {name: value for name, value in given["metadata"].items() if name not in _LEFT_OUT}
    return {**given, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}


def _controlled(made: Iterable[dict[str, Any]], objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What one of our objects controls: other compositions have composed resources, too."""
    uids = {dig(one, "metadata", "uid") for one in objects}
    return [one for one in made if dig(controller(one["metadata"]), "uid") in uids]
