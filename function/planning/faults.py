"""Faults of clusters and clouds that a test or a what-if switches on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from function.core import Manifest, dig
from function.vocabulary import crossplane

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class CreationFault:
    """A cloud that refuses to create a managed resource: a quota, a permission, a region that is out of stock."""

    message: str
    """What the cloud says."""
    attempts: int | None = None
    """How many attempts fail, one in each round. None if all do, until the fault is switched off."""
    is_async: bool = True
    """Whether the cloud refuses only after it has accepted the request, as it does for what takes minutes to make."""


@dataclass(slots=True)
class Faults:
    """Faults that are switched on, by the name of an InferenceCluster. Empty by default.

    Those of managed resources are by the name of a resource, by its key in its composite (pool-l4), or by its kind
    (NodePool). The first of these that is there counts.
    """

    unreachable: set[str] = field(default_factory=set)
    """Clusters whose API server does not answer."""
    lost_pools: set[tuple[str, str]] = field(default_factory=set)
    """Cluster and pool: pools without any node."""
    broken_images: set[str] = field(default_factory=set)
    """Images that never start, anywhere."""
    provider_errors: dict[str, str] = field(default_factory=dict)
    """Clusters on which the provider cannot apply anything, with its error message."""
    unauthorized: set[str] = field(default_factory=set)
    """Clusters that do not accept the provider's credentials any more."""
    object_errors: dict[str, str] = field(default_factory=dict)
    """Objects that the provider cannot apply, by their names, with its error message."""
    without_address: set[str] = field(default_factory=set)
    """Clusters whose gateway has no address."""
    failed_hydrations: dict[str, int] = field(default_factory=dict)
    """Clusters on which weights cannot be staged, with the exit code of their Jobs."""

    in_steps: bool = False
    """Whether each managed resource takes one step in a round. By default it takes all that it can take."""
    creations: dict[str, CreationFault] = field(default_factory=dict)
    """Managed resources that the cloud refuses to create."""
    slow: dict[str, int] = field(default_factory=dict)
    """Managed resources whose creation takes longer, with the number of rounds: until then they have no external
    name."""
    never_ready: set[str] = field(default_factory=set)
    """Managed resources that the cloud has made, and that never become ready."""

    def cut_off(self, cluster: str) -> bool:
        """Whether the provider cannot act on a cluster, so that what is known of it may be old."""
        return cluster in self.unreachable or cluster in self.unauthorized or cluster in self.provider_errors


def of(faults: Mapping[str, V], manifest: Manifest) -> V | None:
    """Return the fault of a managed resource; None if it has none."""
    return next((faults[title] for title in titles(manifest) if title in faults), None)


def has(faults: Iterable[str], manifest: Manifest) -> bool:
    """Return whether a managed resource has a fault."""
    return any(title in faults for title in titles(manifest))


def titles(manifest: Manifest) -> tuple[str, ...]:
    """Return what a managed resource is called in Faults: its name, its key and its kind."""
    metadata = manifest["metadata"]
    return metadata["name"], str(dig(metadata, "annotations", crossplane.COMPOSITION_KEY)), manifest["kind"]
