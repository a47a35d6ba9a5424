"""What is to be placed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from function.core import NamespacedName
from function.scheduling.revision import Revision


class Selector(Protocol):
    """One device selector, compiled. Selectors of equal text are equal."""

    @property
    def text(self) -> str: ...

    @property
    def price(self) -> int:
        """What judging a device takes at most, in the units of a budget."""
        ...

    def judge(self, published: Hashable, /) -> bool | str:
        """Whether a device satisfies it, or what went wrong when it was asked."""


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """`count` devices of one node that satisfy every selector."""

    name: str
    count: int
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class Member:
    role: str
    pods: int
    requests: tuple[DeviceRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    copies: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Toleration:
    """Kubernetes' rules: an empty effect is every effect, an empty key with Exists is every taint."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class CachePhase(IntEnum):
    """How far a deployment's weights are on a cluster; lower is better."""

    STAGED = 0
    HYDRATING = 1
    PENDING = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class Job:
    """A deployment: `replicas` times a set of engines."""

    deployment: NamespacedName
    """As the labels of its replicas name it."""
    replicas: int
    engines: tuple[Engine, ...]
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that its clusters must have."""
    placed_under: str = ""
    """That selector, as it is noted on what is placed under it."""
    spec_hash: str = ""
    revisions: tuple[Revision, ...] = ()
    """What was noted of the deployment's revisions."""
    rolls_anyway: bool = False
    """Whether the user waves the current revision through to replicas that serve."""
    tolerations: tuple[Toleration, ...] = ()
    cache_selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that its cache's clusters must have."""
    cache: Mapping[str, CachePhase] | None = None
    """The clusters that have, or will have, its weights. None where it needs no cache."""
