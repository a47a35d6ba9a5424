"""A replay: the encoded calls of a sample, and the file that keeps them.

The file is a line of JSON for each call, each followed by the bytes of the call. Requests are encoded as Go does it,
with maps in random order.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, groupby
from pathlib import Path

from tests.bench import shuffled
from tests.load.day import Reconcile, Size, sample


@dataclass(frozen=True, slots=True)
class Call:
    """A RunFunction call."""

    reconcile: int
    """The number of the reconcile that it belongs to. Calls of a reconcile follow one another."""
    phase: str
    kind: str
    """Of the XR."""
    data: bytes = b""


Replay = Sequence[Sequence[Call]]
"""Reconciles, each with its calls."""


def make(size: Size, seed: int) -> Replay:
    """Play a day, and encode a sample of its calls."""
    shuffled.seed(seed)
    was_enabled = gc.isenabled()
    gc.disable()  # as the commands do: what is kept of the day has no garbage
    try:
        return [_encoded(number, one) for number, one in enumerate(sample(size, seed))]
    finally:
        if was_enabled:
            gc.enable()


def _encoded(number: int, one: Reconcile) -> list[Call]:
    return [
        Call(
            number,
            one.phase,
            request.xr["kind"],
            shuffled.request(request.xr, request.observed, request.required, tag=f"{number}-{i}"),
        )
        for i, request in enumerate(one.calls)
    ]


def calls(replay: Replay) -> list[Call]:
    """All calls, in order."""
    return [call for one in replay for call in one]


def save(replay: Replay, path: Path) -> None:
    """Write a replay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for call in calls(replay):
            about = {**asdict(call), "data": len(call.data)}
            file.write(json.dumps(about).encode() + b"\n" + call.data)


def load(path: Path) -> Replay:
    """Read a replay."""
    found: list[Call] = []
    with path.open("rb") as file:
        while line := file.readline():
            about = json.loads(line)
            found.append(Call(**{**about, "data": file.read(about["data"])}))
    return grouped(found)


def first(replay: Replay, most: int) -> Replay:
    """The first reconciles, with so many calls or a few more. They are in random order, so this is a sample as well."""
    counts = accumulate(map(len, replay), initial=0)
    return [one for one, before in zip(replay, counts, strict=False) if before < most]


def grouped(found: Iterable[Call]) -> Replay:
    """Calls by reconcile."""
    return [list(group) for _, group in groupby(found, key=lambda call: call.reconcile)]
