"""Why replicas of a ModelDeployment are missing: the causes, the clusters that reject, and the changes that help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.core import Manifest, dig, dig_objects
from function.kinds.modeldeployment.explain import ClusterExplanation, PoolExplanation
from function.planning.control_plane import ControlPlane
from function.planning.explanation.remedies import Remedy, grouped, remedies
from function.planning.explanation.states import State
from function.planning.explanation.trials import Trials
from function.sandbox.store import Ref, ref_of
from function.scheduling.rejection import CacheFailed, NoGatewayAddress, NotInCacheFootprint, NotReady
from function.vocabulary import versions


@dataclass(frozen=True, slots=True)
class CauseExplanation:
    """Something that is wrong before any cluster is looked at."""

    message: str
    clusters: tuple[str, ...]
    """The clusters that reject because of it."""


@dataclass(frozen=True, slots=True)
class Rejecting:
    """A cluster that takes no more replicas."""

    name: str
    reason: str
    message: str
    pools: tuple[PoolExplanation, ...]
    conditions: tuple[str, ...]
    """What the conditions of a cluster that does not serve say, or those of the ModelCache, each as type, reason and
    message."""
    remedies: tuple[Remedy, ...]
    """What places a replica, and else what may. The remedies of its group."""
    group: int
    """Clusters with the same number reject for the same reason."""


@dataclass(frozen=True, slots=True)
class DeploymentExplanation:
    """Why a deployment is not placed as specified."""

    wanted: int
    placed: int
    causes: tuple[CauseExplanation, ...]
    clusters: tuple[Rejecting, ...]
    """Sorted by name. Empty if no replica is missing, or nothing was decided."""
    untried: int = 0
    """Changes that were not tried because of the limit."""
    waiting: tuple[tuple[str, str], ...] = ()
    """Replicas that do not serve, each with its own reason and message."""
    conditions: tuple[str, ...] = ()
    """Why it is not ready although all replicas are placed, each as type, reason and message."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        unmet = (self.causes, self.clusters, self.waiting, self.conditions)
        return not any(unmet) and self.placed >= self.wanted


def explain(control: ControlPlane, deployment: Manifest) -> DeploymentExplanation:
    """Explain a deployment of a fleet that has converged. The fleet stays as it is."""
    state = State(control, ref_of(deployment))
    if state.held is not None or state.explanation is None:
        return _undecided(state, deployment)
    found = state.explanation
    causes = tuple(_causes(state)) if found.clusters else ()
    if paused := _paused(deployment):
        causes = (paused, *causes)
    trials = Trials(state)
    groups = list(grouped(state))
    found_for = [() if paused else remedies(trials, group) for group in groups]
    numbers = {name: number for number, group in enumerate(groups) for name in group}
    clusters = tuple(_rejecting(state, one, found_for[numbers[one.name]], numbers[one.name]) for one in found.clusters)
    conditions = () if clusters else tuple(_conditions(state, state.deployment, _SERVING))
    untried = sum(one.is_beyond_limit for told in found_for for one in told)
    return DeploymentExplanation(found.wanted, found.placed, causes, clusters, untried, conditions=conditions)


def _undecided(state: State, deployment: Manifest) -> DeploymentExplanation:
    """A deployment that is held as it is: its condition is the cause."""
    wanted = dig(deployment, "spec", "replicas")
    held = state.held
    causes = [CauseExplanation(f"{held.reason}: {held.message}", ())] if held else []
    causes += _causes(state)
    if paused := _paused(deployment):
        causes.insert(0, paused)
    return DeploymentExplanation(
        wanted if isinstance(wanted, int) else 1, len(state.replicas), tuple(causes), clusters=()
    )


def _causes(state: State) -> Iterator[CauseExplanation]:
    return (CauseExplanation(one.message, tuple(sorted(one.clusters))) for one in state.causes)


def _paused(deployment: Manifest) -> CauseExplanation | None:
    """Crossplane reconciles nothing that is paused, so no change would have an effect."""
    if dig(deployment, "metadata", "annotations", _PAUSED) != "true":
        return None
    return CauseExplanation(f"the deployment is paused: remove its annotation {_PAUSED}, and explain it again", ())


_PAUSED = "crossplane.io/paused"


_SILENT = (NotReady.__name__, NoGatewayAddress.__name__)
"""Reasons that only the conditions of the cluster explain."""
_OF_CACHES = (NotInCacheFootprint.__name__, CacheFailed.__name__)
"""Reasons that only the conditions of the ModelCache explain."""
_OWN = ("ClusterReady", "BackendReady")
"""The conditions of an InferenceCluster that say why it does not serve."""
_CACHES = ("ClustersMatched", "ArtifactReady")
"""The conditions of a ModelCache that say why its weights are not there."""
_SERVING = ("ReplicasReady", "ModelCacheResolved")
"""The conditions of a ModelDeployment that are not about places for replicas."""


def _rejecting(state: State, found: ClusterExplanation, remedies: tuple[Remedy, ...], group: int) -> Rejecting:
    cluster = Ref(versions.MODELPLANE, "InferenceCluster", "", found.name)
    told = {**dict.fromkeys(_SILENT, (cluster, _OWN)), **dict.fromkeys(_OF_CACHES, (state.steps.cache, _CACHES))}
    ref, types = told.get(found.reason, (None, ()))
    conditions = tuple(_conditions(state, ref, types)) if ref else ()
    return Rejecting(found.name, found.reason, found.message, found.pools, conditions, remedies, group)


def _conditions(state: State, ref: Ref, types: tuple[str, ...]) -> Iterator[str]:
    for one in dig_objects(state.control.store.get(ref), "status", "conditions"):
        if one["type"] in types and one["status"] != "True" and one.get("message"):
            yield f"{one['type']}: {one['reason']}: {one['message']}"
