"""Reads a cluster once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import httpx2

from function.apiserver import client as api
from function.observe import kinds
from function.observe.inventory import Snapshot
from function.observe.kinds import Kind
from function.observe.records import DeviceClass


@dataclass(frozen=True, slots=True)
class Seen:
    """What a cluster told."""

    snapshot: Snapshot
    device_classes: tuple[DeviceClass, ...]
    missing: tuple[str, ...]
    """Kinds that could not be read, each with its reason."""


async def see(client: httpx2.AsyncClient, selector: str = "") -> Seen:
    """Read all kinds that an observation needs. A kind that is refused is missing; the others are read.

    Args:
        client: Of the cluster.
        selector: Selects nodes by their labels, as Kubernetes writes it.

    Raises: NoAnswer.
    """
    missing: list[str] = []
    chosen = replace(kinds.NODES, selectors={"labelSelector": selector}) if selector else kinds.NODES
    nodes, slices, claims, pods, classes = [
        await _read(client, kind, missing)
        for kind in (chosen, kinds.SLICES, kinds.CLAIMS, kinds.PODS, kinds.DEVICE_CLASSES)
    ]
    return Seen(Snapshot(nodes, slices, claims, pods), tuple(classes), tuple(missing))


async def _read(client: httpx2.AsyncClient, kind: Kind, missing: list[str]) -> list[Any]:
    """The records of a kind. If it is refused, the reason is added to `missing`.

    Raises: NoAnswer.
    """
    try:
        return await api.listed(client, kind, kind.read)
    except api.KindRefused as refused:
        missing.append(str(refused))
        return []
