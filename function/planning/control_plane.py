"""The embedded control plane, put together: our kinds, our function, and clusters that answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from function import registry
from function.core import Request, Result
from function.planning.clusters import Clusters
from function.planning.controllers import Faults
from function.publish import catalog, xrd
from function.sandbox import schemas, usages
from function.sandbox.admission import Admission
from function.sandbox.control_loop import World
from function.sandbox.reconcile import Fatal
from function.sandbox.settle import Compose
from function.sandbox.store import Store
from function.vocabulary import namespaces

_LEVELS = {"ModelReplica": 1, "ModelEndpoint": 1, "ModelCache": 1, "ModelDeployment": 2, "ModelService": 3}
"""Who reads whom: clusters come to rest before replicas, and replicas before the deployments that count them."""


@dataclass(slots=True)
class ControlPlane:
    """A world of our kinds, and the clusters behind it."""

    compose: Compose = field(default_factory=lambda: in_process)
    seed: int | None = None
    clusters: Clusters = field(default_factory=Clusters)
    world: World = field(init=False)

    def __post_init__(self) -> None:
        store = Store(kinds(), Admission(), usages.refuses, namespaces.UNSTATED)
        self.world = World(store, self.compose, self.clusters, seed=self.seed, levels=_LEVELS)

    def copied(self) -> ControlPlane:
        """Another one that stands where this one stands. What becomes of either leaves the other alone."""
        other = ControlPlane(self.compose, self.seed, self.clusters.copied())
        other.world = self.world.copied(self.store.copied(), other.clusters)
        return other

    @property
    def store(self) -> Store:
        return self.world.store

    @property
    def faults(self) -> Faults:
        return self.clusters.faults


def kinds() -> schemas.Kinds:
    """Our kinds, as their definitions say."""
    return schemas.load(xrd.definition(kind) for kind in catalog.KINDS)


def in_process(request: Request) -> Result:
    """Our function, without a wire. Raises Fatal for a kind that it does not know."""
    try:
        return registry.compose(request)
    except registry.UnknownKind as unknown:
        raise Fatal(str(unknown)) from unknown
