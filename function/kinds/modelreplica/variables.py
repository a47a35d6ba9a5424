"""The variables that an engine's container gets, unless its user sets them."""

from __future__ import annotations

from dataclasses import dataclass

from function.engines import ports
from function.engines.server import OFFLINE
from function.engines.table import ENGINES


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of the engine's container."""

    name: str
    where: str
    """The pods that get it."""
    value: str
    """What its value is."""


LEADER_ADDRESS = Variable(
    name="MODELPLANE_LEADER_ADDRESS",
    where="every pod of a gang",
    value="DNS name of the leader's pod",
)
RANK = Variable(
    name="MODELPLANE_RANK",
    where="every pod of a gang",
    value="index of the pod: 0 is the leader, workers count from 1",
)
PORT = Variable(name=ports.VARIABLE, where="every pod", value="port on which the engine listens")
SIDE_CHANNEL_HOST = Variable(
    name="VLLM_NIXL_SIDE_CHANNEL_HOST",
    where="the pods of PrefillDecode whose KV caches are handed over by NIXL",
    value="IP address of the pod",
)
SIDE_CHANNEL_PORT = Variable(
    name="VLLM_NIXL_SIDE_CHANNEL_PORT",
    where=SIDE_CHANNEL_HOST.where,
    value="port of the handshake between prefill and decode engines",
)


def _offline() -> tuple[Variable, ...]:
    names = dict.fromkeys(engine.offline for engine in ENGINES if engine.offline)
    return tuple(
        Variable(
            name=name,
            where=f"every pod with weights from a ModelCache that needs no hub, of {_users(name)}",
            value="1: the engine downloads nothing",
        )
        for name in names
    )


def _users(name: str) -> str:
    known = [engine.name for engine in ENGINES if engine.offline == name]
    unknown = ["engines that are not recognised"] if name == OFFLINE else []
    return ", ".join([*known, *unknown])


ALL = (PORT, LEADER_ADDRESS, RANK, *_offline(), SIDE_CHANNEL_HOST, SIDE_CHANNEL_PORT)
"""Every variable, in the order in which readers look for them."""
