"""Calls that wait to be received, and which of them is received next.

A connection is prompt, late or unknown (`function.server.admission` says when). The kinds keep clients that send
nothing from shutting others out: a connection that is known as late yields to one that is new, and among new ones the
last comes first.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

_REMEMBERED = 1_024
"""Number of connections that are known as prompt, and of those that are known as late."""


@dataclass(slots=True, eq=False)
class Waiting:
    peer: str
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class _Peers:
    """The last connections that were found to be of some kind, oldest first."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

    def __contains__(self, peer: str) -> bool:
        return peer in self._known

    def add(self, peer: str) -> str | None:
        """Add a connection. Return the one that is no longer known for it, if one is."""
        self._known[peer] = None
        if len(self._known) <= _REMEMBERED:
            return None
        forgotten = next(iter(self._known))
        del self._known[forgotten]
        return forgotten

    def discard(self, peer: str) -> None:
        self._known.pop(peer, None)


_Calls = dict[Waiting, None]
"""Oldest first."""


class Queue:
    """Calls that wait for a place: of prompt connections in order, then of unknown and of late ones, the last first."""

    def __init__(self) -> None:
        self.prompt: _Calls = {}
        self.unknown: _Calls = {}
        self.late: _Calls = {}
        self._prompt = _Peers()
        self._late = _Peers()

    def __len__(self) -> int:
        return len(self.prompt) + len(self.unknown) + len(self.late)

    def is_prompt(self, call: Waiting) -> bool:
        return call.peer in self._prompt

    def first(self) -> Waiting | None:
        """Return the call to receive next."""
        return next(iter(self.prompt), None) or next(reversed(self.unknown or self.late), None)

    def least(self) -> Waiting | None:
        """Return the call to refuse when there are too many: the one that would be received last."""
        return next(iter(self.late or self.unknown), None)

    def add(self, call: Waiting) -> None:
        self._of(call.peer)[call] = None

    def remove(self, call: Waiting) -> None:
        """Remove a call, if it is there."""
        for calls in (self.prompt, self.unknown, self.late):
            calls.pop(call, None)

    def remember(self, peer: str) -> None:
        """Call a connection prompt."""
        if peer in self._prompt:
            return
        self._late.discard(peer)
        forgotten = self._prompt.add(peer)
        self._move(peer, self.unknown, self.late)
        if forgotten is not None:
            self._move(forgotten, self.prompt)

    def forget(self, peer: str) -> None:
        """Call a connection late."""
        if peer in self._late:
            return
        self._prompt.discard(peer)
        forgotten = self._late.add(peer)
        self._move(peer, self.prompt, self.unknown)
        if forgotten is not None:
            self._move(forgotten, self.late)

    def _of(self, peer: str) -> _Calls:
        if peer in self._prompt:
            return self.prompt
        return self.late if peer in self._late else self.unknown

    def _move(self, peer: str, *sources: _Calls) -> None:
        """Bring the calls of a connection to where they belong now."""
        target = self._of(peer)
        for source in sources:
            for call in [call for call in source if call.peer == peer]:
                del source[call]
                target[call] = None
