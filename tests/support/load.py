"""Requests of any size, probes that are asked all the while, and what a server process takes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import json_format

from tests.support import health_prober, prober
from tests.support.raw_client import RUN, RawClient

__all__ = ["MIB", "RUN", "HealthProber", "Memory", "Probed", "Prober", "RawClient", "big", "memory"]
MIB = 2**20


class Memory(NamedTuple):
    """MiB of a process (proc(5), /proc/PID/status)."""

    now: int
    peak: int


def memory(pid: int) -> Memory:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if line.startswith("Vm"))
    return Memory(*(int(fields[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM")))


def big(xr: Mapping[str, object], item: Mapping[str, object], size: int, empty: Sequence[str] = ()) -> bytes:
    """Return a request of about `size` bytes, whose requirement `clusters` has items that differ in their name.

    The item's name must be `item-0000000`. The requirements `empty` have no items.
    """
    req = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="load"))
    json_format.ParseDict(xr, req.observed.composite.resource)
    one = fnv1.Resource()
    json_format.ParseDict(item, one.resource)
    template = _field(1, one.SerializeToString())
    assert b"item-0000000" in template
    items = b"".join(template.replace(b"item-0000000", f"item-{i:07}".encode()) for i in range(size // len(template)))
    for name in empty:
        req.required_resources[name].SetInParent()
    return req.SerializeToString() + _field(8, _field(1, b"clusters") + _field(2, items))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


class Probed(NamedTuple):
    """What came of the probes that were asked all the while."""

    asked: int
    failed: list[str]
    slowest: float
    """Seconds."""


class Prober:
    """Asks a server's probes from another process while the block runs. Read `probed` after it."""

    probed: Probed

    def __init__(self, port: int) -> None:
        self._command = [sys.executable, str(Path(prober.__file__)), str(port)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        assert self._process.stdout.readline() == "asking\n"
        return self

    def __exit__(self, *_: object) -> None:
        told, _none = self._process.communicate(timeout=120)
        self.probed = Probed(**json.loads(told))


class HealthProber(Prober):
    """Asks gRPC's health service instead: Check on new connections, and a Watch that must go on all the while."""

    def __init__(self, port: int, certificates: Path | None = None) -> None:
        given = [str(certificates)] if certificates else []
        self._command = [sys.executable, str(Path(health_prober.__file__)), str(port), *given]
