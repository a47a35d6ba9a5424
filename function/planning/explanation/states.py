"""A fleet that has converged, as one deployment sees it: its replicas, and which cluster rejects it why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from function.core import Condition, InvalidSpec, NotYet, dig, identity, plural, serves
from function.kinds.modeldeployment import explain as explaining
from function.kinds.modeldeployment.explain import ClusterExplanation, Explanation
from function.planning import parts
from function.planning.control_plane import ControlPlane
from function.planning.explanation.references import Dangling, dangling
from function.planning.explanation.steps import Step, Steps
from function.sandbox.store import Ref
from function.scheduling.rejection import NotInCacheFootprint
from function.vocabulary import versions

_LOOK_UPS = 2
"""The clusters, and then what is observed of them."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What must change before anything else can help."""

    message: str
    clusters: frozenset[str]
    """The clusters that reject because of it."""
    fix: Step | None
    """What names the nearest thing that exists."""
    is_shared: bool = True
    """Whether the deployment itself is wrong, and not one cluster."""


@dataclass(frozen=True)
class State:
    """A deployment in a fleet that has converged. What it takes to know is worked out once, when it is asked for."""

    control: ControlPlane
    deployment: Ref

    @cached_property
    def replicas(self) -> dict[str, tuple[str, bool]]:
        """The cluster of each replica of the deployment, and whether it serves, by name."""
        ours = identity(self.control.store.get(self.deployment) or {})
        found = self.control.store.of_kind(versions.MODELPLANE, "ModelReplica")
        return {
            m["metadata"]["name"]: (str(dig(m, "spec", "clusterName")), serves(m, "ModelReady"))
            for m in found
            if parts.owner(m) == ours and not dig(m, "metadata", "deletionTimestamp")
        }

    @cached_property
    def others(self) -> dict[tuple[str, str], str]:
        """The deployments of all replicas of others that serve, by namespace and name."""
        ours = identity(self.control.store.get(self.deployment) or {})
        found = self.control.store.of_kind(versions.MODELPLANE, "ModelReplica")
        owners = {tuple(identity(m)): parts.owner(m) for m in found if serves(m, "ModelReady")}
        return {(name[0], name[1]): str(owner) for name, owner in owners.items() if owner != ours}

    @cached_property
    def _explained(self) -> Explanation | Condition:
        reconciler = self.control.loop.reconciler
        request = reconciler.request(self.control.store.get(self.deployment) or {})
        try:
            for _ in range(_LOOK_UPS):
                request = reconciler.answered(request, explaining.requirements(request))
            return explaining.explain(request)
        except (InvalidSpec, NotYet) as why:
            return why.condition

    @property
    def held(self) -> Condition | None:
        """Why the deployment is not decided at all; None if it is."""
        return self._explained if isinstance(self._explained, Condition) else None

    @property
    def explanation(self) -> Explanation | None:
        return self._explained if isinstance(self._explained, Explanation) else None

    @property
    def rejections(self) -> dict[str, ClusterExplanation]:
        """The clusters that take no more replicas, by name."""
        return {one.name: one for one in self.explanation.clusters} if self.explanation else {}

    @cached_property
    def steps(self) -> Steps:
        name = dig(self.control.store.get(self.deployment), "spec", "modelCacheRef", "name")
        cache = Ref(versions.MODELPLANE, "ModelCache", self.deployment.namespace, str(name)) if name else None
        return Steps(self.deployment, cache)

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What the deployment, its ModelCache and the clusters name and does not exist."""
        found = [self._missing(one, _without_cache(self)) for one in dangling(self.control, self.deployment)]
        for cause in self.explanation.causes if self.explanation else ():
            fix = self.steps.of(cause.fix, "") if cause.fix else None
            found.append(Cause(cause.message, cause.clusters, fix))
        return (*found, *self._of_clusters())

    def _of_clusters(self) -> Iterator[Cause]:
        """What clusters name and does not exist: one cause for all that name the same."""
        missing: dict[Ref, list[Dangling]] = {}
        for name in self.rejections:
            for one in dangling(self.control, Ref(versions.MODELPLANE, "InferenceCluster", "", name)):
                missing.setdefault(one.to, []).append(one)
        for first, *more in missing.values():
            there = frozenset(one.by.name for one in (first, *more))
            also = f" (named by {plural(len(more), 'more cluster')})" if more else ""
            yield Cause(f"{first}{also}", there, self.steps.rename(first, *more), is_shared=False)

    def _missing(self, missing: Dangling, clusters: set[str]) -> Cause:
        return Cause(str(missing), frozenset(clusters), self.steps.rename(missing))


def _without_cache(state: State) -> set[str]:
    """The clusters that reject because the deployment's ModelCache does not exist."""
    return {name for name, one in state.rejections.items() if one.reason == NotInCacheFootprint.__name__}
