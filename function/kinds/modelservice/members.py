"""Which endpoints the configuration of a service's proxy has, and in which state of theirs.

An endpoint that needs a Secret is asked only once the Secret is mounted in all pods. Until then a new endpoint waits,
and one that was changed is reached as before. So the configuration records how each endpoint is reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, dig
from function.fleet import upstreams
from function.fleet.upstreams import Reached
from function.kinds.modelservice import notes
from function.kinds.modelservice.decide import Decision
from function.kinds.modelservice.inputs import Endpoint
from function.manifests import proxies, running

RECORD = "endpoints.json"
"""Key of the proxy's ConfigMap: how each endpoint is reached, by name. Envoy does not read it."""
Published = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An endpoint in the configuration."""

    endpoint: Endpoint
    weight: int
    published: Mapping[str, Any]
    """How it is reached now, which an edit may be about to change."""
    is_healthy: bool = True

    @property
    def reached(self) -> Reached:
        found = upstreams.of_published(self.published)
        assert found is not None, "only legible states become members"
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The endpoints of a configuration."""

    members: tuple[Member, ...]
    unpublished: tuple[Endpoint, ...]
    """Endpoints that are not asked, because they have not published how they are reached."""
    unmounted: tuple[Endpoint, ...]
    """Endpoints that are not asked yet, or as before, because a Secret of theirs is not mounted yet."""
    secrets: tuple[upstreams.SecretKey, ...]
    """What the pods must mount: for the members, and for those that wait."""
    authorities: int
    """The number of them that hold certificates of authorities."""


def of(decision: Decision, record: Published, deployment: Manifest | None) -> Members:
    """Return the members for a decision. `record` is the state of the last pass."""
    there = _mounted(record, deployment)
    weighted = [*decision.chosen, *((one, 1) for one in decision.withdrawn)]
    withdrawn = {one.name for one in decision.withdrawn}
    states = [(one, weight, _state(one, record, there)) for one, weight in weighted]
    members = tuple(
        Member(endpoint=one, weight=weight, published=state, is_healthy=one.name not in withdrawn)
        for one, weight, state in states
        if state is not None
    )
    unmounted = tuple(one for one, _, state in states if one.upstream is not None and state is not one.upstream)
    wanted = [*(one.published for one in members), *(one.upstream for one in unmounted if one.upstream is not None)]
    return Members(
        members=members,
        unpublished=tuple(one for one, _ in weighted if one.upstream is None),
        unmounted=unmounted,
        secrets=_secrets(wanted),
        authorities=len({one.upstream.authority for one in map(upstreams.of_published, wanted) if one} - {None}),
    )


def record(config: Manifest | None) -> dict[str, Mapping[str, Any]]:
    """Return how the endpoints of a configuration are reached, by name; nothing if it is not legible."""
    found = notes.read(dig(config, "data", RECORD))
    return {name: one for name, one in found.items() if isinstance(one, dict) and upstreams.of_published(one)}


def _state(endpoint: Endpoint, record: Published, there: frozenset[upstreams.SecretKey] | None) -> Any:
    """Return how an endpoint can be reached now: as it wants, as before, or None."""
    wanted = endpoint.upstream
    if wanted is None:
        return None
    is_mounted = there is None or there >= set(_secrets([wanted]))
    return wanted if is_mounted else record.get(endpoint.name)


def _mounted(record: Published, deployment: Manifest | None) -> frozenset[upstreams.SecretKey] | None:
    """Return the Secrets that all pods have mounted; None if there are no pods yet, which will start with any.

    During a rollout, it is known only of those that are in use.
    """
    if deployment is None:
        return None
    if running.is_current(deployment):
        return frozenset(upstreams.SecretKey(*pair) for pair in proxies.mounted(deployment))
    return frozenset(_secrets(record.values()))


def _secrets(published: Iterable[Mapping[str, Any]]) -> tuple[upstreams.SecretKey, ...]:
    found = (upstreams.of_published(one) for one in published)
    return tuple(sorted({secret for one in found if one for secret in one.secrets}))
