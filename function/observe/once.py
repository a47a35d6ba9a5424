"""Reads a cluster once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx2

from function.observe import client as api
from function.observe.inventory import Snapshot
from function.observe.kinds import CLAIMS, NODES, PODS, SLICES, Kind


@dataclass(frozen=True, slots=True)
class Seen:
    """What a cluster told."""

    snapshot: Snapshot
    missing: tuple[str, ...]
    """Kinds that could not be read, each with its reason."""


async def see(client: httpx2.AsyncClient) -> Seen:
    """Read all kinds that an observation needs. A kind that is refused is missing; the others are read.

    Raises: Unreachable.
    """
    missing: list[str] = []
    nodes, slices, claims, pods = [await read(client, kind, missing) for kind in (NODES, SLICES, CLAIMS, PODS)]
    return Seen(Snapshot(nodes, slices, claims, pods), tuple(missing))


async def read(client: httpx2.AsyncClient, kind: Kind, missing: list[str]) -> list[Any]:
    """The records of a kind. If it is refused, the reason is added to `missing`.

    Raises: Unreachable.
    """
    records: list[Any] = []
    try:
        async for objects, _ in api.pages(client, kind):
            records += [record for given in objects if (record := kind.read(given)) is not None]
    except api.Refused as refused:
        missing.append(str(refused))
    except api.Gone:  # the list changed for longer than the server keeps a page
        return await read(client, kind, missing)
    return records
