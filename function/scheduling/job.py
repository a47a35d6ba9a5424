"""What is to be placed: a deployment, as the scheduler sees it.

Engine, Member and DeviceRequest have the names of the API's models (`function/api/modeldeployment.py`), and only the
fields that a placement depends on. A module that uses both writes `scheduling.Engine`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from function.core import NamespacedName
from function.scheduling.packing import Resources
from function.scheduling.revision import Revision
from function.scheduling.selector import Selector
from function.vocabulary.pod_security import Level


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """A request for devices of one node, each of which satisfies every selector."""

    name: str
    count: int
    """Devices for one pod."""
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """The pods of an engine that have one role."""

    role: str
    """Standalone, Leader or Worker."""
    pods: int
    """Pods of one copy of the engine. Each takes a node if it claims devices."""
    requests: tuple[DeviceRequest, ...] = ()
    """The devices of each pod. Empty if it needs none."""
    resources: Resources = (0, 0, 0)
    """What the containers of each pod request."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine of every replica."""

    name: str
    copies: int
    """How many times it runs in one replica."""
    members: tuple[Member, ...]
    """Sorted by role."""


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of cluster taints, by Kubernetes' rules.

    An empty effect tolerates every effect. An empty key with operator Exists tolerates every taint.
    """

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class PodViolation(NamedTuple):
    """A field of the pods that a level of Pod Security forbids."""

    container: str
    """The name of the container; empty if the field belongs to the pod."""
    field: str
    """The path of the field, from the deployment."""
    what: str
    """What the field must be, as the predicate of a sentence: `must not be true`."""


class CachePhase(IntEnum):
    """How far the weights of a deployment are on a cluster. A lower value is better."""

    STAGED = 0
    HYDRATING = 1
    PENDING = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class Job:
    """What a deployment wants: a number of replicas, each with the same engines."""

    deployment: NamespacedName
    """The deployment. The name is in the form of a label value, as the labels of its replicas have it."""
    replicas: int
    """Replicas that are wanted."""
    engines: tuple[Engine, ...]
    """The engines of each replica."""
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that clusters must have, from the deployment."""
    placed_under: str = ""
    """The same selector as JSON, as it is noted on replicas that are placed under it."""
    spec_hash: str = ""
    """The revision: the spec that replicas are made of, and the rules by which workloads are composed from it."""
    revisions: tuple[Revision, ...] = ()
    """The revisions that the deployment's status notes."""
    rolls_anyway: bool = False
    """Whether the user lets the current revision skip the rules of the rollout."""
    tolerations: tuple[Toleration, ...] = ()
    """Cluster taints that replicas tolerate."""
    pod_violations: Mapping[Level, Sequence[PodViolation]] = field(default_factory=dict)
    """What each level of Pod Security forbids of the pods. A level that is missing, or has none, admits them."""
    cache_selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that clusters must have, from the ModelCache."""
    cache: Mapping[str, CachePhase] | None = None
    """The phase of the weights by cluster. A cluster that is missing will not have them. None if the deployment needs
    no cache."""
