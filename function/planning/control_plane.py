"""The embedded control plane: the sandbox with our kinds, our function and simulated clusters."""

from __future__ import annotations

from dataclasses import dataclass, field

from function import registry
from function.core import Request, Result
from function.planning.clusters import Clusters
from function.planning.faults import Faults
from function.publish import catalog, xrd
from function.sandbox import schemas, usages
from function.sandbox.admission import Admission
from function.sandbox.control_loop import ControlLoop
from function.sandbox.errors import Fatal
from function.sandbox.extensions import CompositionFunction
from function.sandbox.store import Store
from function.vocabulary import namespaces

_LEVELS = {
    "ModelReplica": 1,
    "ModelEndpoint": 1,
    "InferenceCluster": 2,
    "ModelCache": 2,
    "ModelDeployment": 3,
    "ModelService": 4,
}
"""Kinds that read others wait for them: clusters for their serving stacks and for the replicas that they count,
deployments for both."""
_AHEAD = {"ModelDeployment": ("InferenceCluster",)}
"""A deployment is placed by the free nodes that clusters publish, after those before it have taken theirs."""


@dataclass(slots=True)
class ControlPlane:
    """A control loop with our kinds, and the clusters behind it."""

    function: CompositionFunction = field(default_factory=lambda: in_process)
    seed: int | None = None
    clusters: Clusters = field(default_factory=Clusters)
    loop: ControlLoop = field(init=False)

    def __post_init__(self) -> None:
        store = Store(kinds(), Admission(), usages.refuses, namespaces.UNSTATED)
        self.loop = ControlLoop(
            store, self.function, (self.clusters,), step=xrd.STEP, seed=self.seed, levels=_LEVELS, ahead=_AHEAD
        )

    def copied(self, function: CompositionFunction | None = None) -> ControlPlane:
        """A control plane in the same state that changes independently. It calls the same function by default."""
        function = function or self.function
        other = ControlPlane(function, self.seed, self.clusters.copied())
        other.loop = self.loop.copied(self.store.copied(), (other.clusters,), function)
        return other

    @property
    def store(self) -> Store:
        return self.loop.store

    @property
    def faults(self) -> Faults:
        return self.clusters.faults


def kinds() -> schemas.ServedKinds:
    """Our kinds, from the XRDs that are published."""
    return schemas.load(xrd.definition(kind) for kind in catalog.KINDS)


def in_process(request: Request) -> Result:
    """Our function, called directly.

    Raises:
        Fatal: The function does not know the kind.
    """
    try:
        return registry.compose(request)
    except registry.UnknownKind as unknown:
        raise Fatal(str(unknown)) from unknown
