"""The observer of an inference cluster: follows its objects, and writes what changed.

Phases (`run`):

1. Follow every kind in a task of its own (`watching`).
2. When all kinds are known, and then whenever something changed, decide what to write (`texts`), in a thread, so that
   the watches go on.
3. Write the ConfigMaps whose data differ from what is there. Then rest: no ConfigMap is written twice in PACE seconds.

What cannot be written is tried again after the rest. The observer keeps no state: whatever it needs after a restart is
in the cluster.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import httpx2

from function.apiserver import client as api
from function.observe import kinds, stored, texts
from function.observe.health import Health
from function.observe.inventory import Snapshot
from function.observe.kinds import Kind
from function.observe.stored import Stored
from function.observe.view import View
from function.observe.watching import Pace, Say, follow
from function.vocabulary import labels

PACE = 10.0
"""Seconds between two writes of a ConfigMap."""
_TURN = 1.0
"""Seconds between two turns of the loop that prove that it lives."""


@dataclass(frozen=True, slots=True)
class Settings:
    namespace: str
    rest: float = PACE
    pace: Pace = field(default_factory=Pace)


async def run(client: httpx2.AsyncClient, settings: Settings, health: Health, say: Say) -> None:
    """Observe until the task is cancelled.

    Args:
        client: Of the cluster.
        settings: The namespace, and paces.
        health: What the probes read.
        say: Logs a line.
    """
    observer = Observer(client, settings, health, say)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_turning(health))
            for view in observer.views.values():
                tasks.create_task(follow(client, view, say, settings.pace))
            tasks.create_task(observer.writing())
    except BaseExceptionGroup as bugs:
        raise bugs.exceptions[0] from None  # whose place the log tells


async def _turning(health: Health) -> None:
    while True:
        health.turn()
        await asyncio.sleep(_TURN)


class Observer:
    """The views of a cluster, and what is written of them."""

    def __init__(self, client: httpx2.AsyncClient, settings: Settings, health: Health, say: Say) -> None:
        self._client = client
        self._settings = settings
        self._health = health
        self._say = say
        self._changed = asyncio.Event()
        self._own = stored.kind(settings.namespace)
        self._said: set[str] = set()
        followed = (*kinds.CAPACITY, *kinds.OWNERS, *kinds.EVENTS, kinds.AUTOSCALER, self._own)
        self.views = {kind: View(kind, self._changed.set, time.monotonic) for kind in followed}
        health.views = tuple(self.views.values())
        health.vital = self.views[self._own]

    async def writing(self) -> None:
        """Write whenever something changed, and rest between two rounds. Does not return."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if not all(view.is_known for view in self.views.values()):
                continue
            if await self._round():
                self._changed.set()
            await asyncio.sleep(self._settings.rest)

    async def _round(self) -> bool:
        """Write what differs. Return whether something must be tried again."""
        there = self._records(self._own)
        self._complain(there)
        missing = [str(view.kind) for view in self.views.values() if view.refusal]
        wanted = await asyncio.to_thread(texts.wanted, self._snapshot(), there, missing, self._settings.namespace)
        known = {one.name: one for one in there}
        unwritten: dict[str, str] = {}
        for manifest in wanted:
            name = manifest["metadata"]["name"]
            if name in known and _is_written(known[name], manifest):
                continue
            try:
                await api.write(self._client, self._own, manifest, is_new=name not in known)
            except (api.KindRefused, api.NoAnswer, api.VersionGone) as fault:
                unwritten[name] = str(fault)
                self._say(f"cannot write {fault}")
        self._health.wrote(unwritten)
        return bool(unwritten)

    def _snapshot(self) -> Snapshot:
        """Copies of the lists: the watches go on meanwhile."""
        return Snapshot(
            nodes=self._records(kinds.NODES),
            slices=self._records(kinds.SLICES),
            claims=self._records(kinds.CLAIMS),
            pods=self._records(kinds.PODS),
            owners=self._all(kinds.OWNERS),
            events=self._all(kinds.EVENTS),
            autoscaler=list(chain.from_iterable(self._records(kinds.AUTOSCALER))),
        )

    def _records(self, kind: Kind) -> list[Any]:
        return list(self.views[kind].records.values())

    def _all(self, several: Iterable[Kind]) -> list[Any]:
        return [record for kind in several for record in self._records(kind)]

    def _complain(self, there: Iterable[Stored]) -> None:
        """Log each malformed declaration once, until it changes."""
        problems = {f"ConfigMap {one.name} is left out: {one.problem}" for one in there if one.problem}
        for problem in sorted(problems - self._said):
            self._say(problem)
        self._said = problems


def _is_written(there: Stored, manifest: Mapping[str, Any]) -> bool:
    role = manifest["metadata"]["labels"][labels.OBSERVATION]
    return (there.role, there.digest) == (role, stored.digest(manifest["data"]))
