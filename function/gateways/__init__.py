"""The implementations of Gateway API that can serve the gateway of the control cluster.

An implementation is a folder here and a line in the table below; function/contracts/gateway.py has the contract. No
implementation imports another.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias

from function.contracts.gateway import Implementation, Setup
from function.core import Manifest, dig
from function.schema import Member

_FOLDERS = (
    "traefik",  # the default
)
"""The table of implementations, each by the name of its folder."""


def _implementation(folder: str) -> Implementation:
    found = import_module(f"{__name__}.{folder}").IMPLEMENTATION
    assert isinstance(found, Implementation), folder
    return found


IMPLEMENTATIONS: tuple[Implementation, ...] = tuple(map(_implementation, _FOLDERS))
BY_NAME: Mapping[str, Implementation] = {implementation.name: implementation for implementation in IMPLEMENTATIONS}
DEFAULT = IMPLEMENTATIONS[0]

if TYPE_CHECKING:
    ImplementationName: TypeAlias = str
else:
    ImplementationName = Literal[tuple(BY_NAME)]


def members() -> tuple[Member, ...]:
    """Return the blocks in the spec of an InferenceGateway."""
    return tuple(Member(implementation.name, implementation.block) for implementation in IMPLEMENTATIONS)


def of(gateway: Manifest | None) -> Implementation:
    """Return the implementation that an InferenceGateway names, whatever its spec is; else the default."""
    name = dig(gateway, "spec", "backend")
    return BY_NAME.get(name, DEFAULT) if isinstance(name, str) else DEFAULT


__all__ = [
    "BY_NAME",
    "DEFAULT",
    "IMPLEMENTATIONS",
    "Implementation",
    "ImplementationName",
    "Setup",
    "members",
    "of",
]
