"""The cache on one cluster, and the weights that engines may mount there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from function.api.modelcache import Phase
from function.core import Manifest, dig_objects, dig_text
from function.kinds.modelcache.inputs import Cluster


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights that engines may mount, as the status publishes them."""

    claim: str | None
    """The claim; None for the cache's own."""
    directory: str | None
    """The directory of the claim; None for its root."""
    repo: str | None
    """Their repository."""
    served_model_name: str | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """The cache on one cluster."""

    name: str
    cluster: Cluster | None
    """None if nothing is composed there. What replicas mount there stays."""
    phase: Phase
    message: str | None
    weights: Weights | None
    job: str | None = None
    """Key of the Job that stages the current spec, until it is done and its result recorded in the status."""
    claim: str | None = None
    """Name of the claim that someone else made there and that the spec names."""
    not_found: tuple[str, ...] = ()
    """Requirements with a first empty result, if the weights are kept only for that reason."""

    @property
    def is_ready(self) -> bool:
        return self.phase == "Ready"


def left(name: str, before: Weights) -> Site:
    """Return the site of a cluster that an edit excludes, as long as its replicas mount what was published there."""
    claim = f"PersistentVolumeClaim {before.claim}" if before.claim else "the cache's own volume"
    message = f"The cache no longer selects the cluster; its replicas keep {claim}"
    return Site(name, None, "Pending", message, before)


def published(xr: Manifest) -> Mapping[str, Weights]:
    """Return what the last status published, by cluster."""
    return {
        str(status.get("name")): Weights(
            *(dig_text(status, field) for field in ("claimName", "staged", "repo", "servedModelName"))
        )
        for status in dig_objects(xr, "status", "clusters")
        if dig_text(status, "claimName") or dig_text(status, "staged")
    }
