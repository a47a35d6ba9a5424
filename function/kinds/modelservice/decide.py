"""Decide which endpoints get traffic, and how much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from function.api.modelservice import Spec
from function.kinds.modelservice import weights
from function.kinds.modelservice.inputs import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision about the endpoints that a service selects."""

    matched: tuple[Endpoint, ...]
    chosen: tuple[tuple[Endpoint, int], ...]
    """Endpoints that get traffic, with their weights."""
    left_out: tuple[Endpoint, ...]
    """Endpoints that would get traffic if the route had room for them."""
    withdrawn: tuple[Endpoint, ...]
    """Ready endpoints that get no traffic because their clusters do not answer."""
    idle: tuple[int, ...]
    """Indexes of entries none of whose endpoints gets traffic."""
    priority: int | None
    """The priority that answers: the lowest with an endpoint that gets traffic."""

    @property
    def ready(self) -> int:
        return sum(endpoint.ready for endpoint in self.matched)

    @property
    def is_lost(self) -> bool:
        """Whether endpoints of lost clusters get traffic, because no cluster answers."""
        return any(endpoint.lost for endpoint, _ in self.chosen)


def decide(spec: Spec, found: Sequence[Endpoint], *, most: int, routed: Collection[str]) -> Decision:
    """Decide who gets traffic. `most` is the number of backends there is room for, `routed` the Services so far."""
    matched = [e for e in found if not e.leaving]
    usable = _usable([e for e in matched if e.ready], routed)
    chosen = _spread(usable, [entry.parts for entry in spec.endpoints], most)
    serving, kept = {endpoint.entry for endpoint in chosen}, {endpoint.name for endpoint in usable}
    return Decision(
        matched=tuple(matched),
        chosen=tuple(_weighted(chosen, spec)),
        left_out=tuple(e for e in usable if e not in chosen),
        withdrawn=tuple(e for e in matched if e.ready and e.name not in kept),
        idle=tuple(i for i in range(len(spec.endpoints)) if i not in serving),
        priority=min((spec.endpoints[i].priority for i in serving), default=None),
    )


def first(spec: Spec, decision: Decision, most: int) -> Decision:
    """Return what of a decision a route can do: the priority that answers, within the room for backends."""
    chosen = [e for e, _ in decision.chosen if spec.endpoints[e.entry].priority == decision.priority]
    spread = _spread(chosen, [entry.parts for entry in spec.endpoints], most)
    return replace(decision, chosen=tuple(_weighted(spread, spec)))


def nobody(decision: Decision) -> Decision:
    """Return a decision that sends traffic to nobody, about the same endpoints."""
    return replace(decision, chosen=())


def doubtful(decision: Decision, routed: Collection[str]) -> tuple[str, ...]:
    """Return the names of the requirements that would move traffic by what they did not find.

    Without a probe or Objects, an endpoint counts as one whose cluster answers. Two moves of traffic rest on that: to
    an endpoint that the route does not lead to, and away from lost clusters if no other cluster is known to answer. An
    endpoint that only keeps its traffic contradicts nothing.
    """
    chosen = [endpoint for endpoint, _ in decision.chosen]
    usable = (*chosen, *decision.left_out)
    is_moving = any(e.service in routed for e in decision.withdrawn) and all(e.unseen for e in usable)
    moving = chosen if is_moving else [e for e in chosen if e.service not in routed]
    return tuple(sorted({e.unseen for e in moving if e.unseen}))


def _usable(ready: list[Endpoint], routed: Collection[str]) -> list[Endpoint]:
    """Return the endpoints that may get traffic.

    Those of lost clusters are left out as long as another is ready. If all are lost, those already routed to stay, or
    all of them if the route leads to none.
    """
    alive = [e for e in ready if not e.lost]
    return alive or [e for e in ready if e.service in routed] or ready


def _spread(usable: Sequence[Endpoint], entry_weights: Sequence[int], most: int) -> list[Endpoint]:
    """Choose at most `most` endpoints.

    Every entry gets one place first; each further place goes to the entry with the highest weight per place. An entry
    takes its endpoints from one cluster after another.
    """
    if len(usable) <= most:
        return list(usable)
    waiting = {i: _round_robin(e for e in usable if e.entry == i) for i in {e.entry for e in usable}}
    taken: dict[int, int] = defaultdict(int)
    chosen = []
    for _ in range(most):
        entry = min(
            (i for i in waiting if waiting[i]), key=lambda i: (taken[i] > 0, -entry_weights[i] / (taken[i] + 1), i)
        )
        chosen.append(waiting[entry].pop(0))
        taken[entry] += 1
    return sorted(chosen, key=lambda e: (e.entry, e.name))


def _round_robin(endpoints: Iterable[Endpoint]) -> list[Endpoint]:
    """Order endpoints so that the first of every cluster comes first, then the second of every cluster, and so on."""
    seen: dict[str, int] = defaultdict(int)
    turns = []
    for endpoint in sorted(endpoints, key=lambda e: e.name):
        turns.append((seen[endpoint.cluster], endpoint.cluster, endpoint))
        seen[endpoint.cluster] += 1
    return [endpoint for *_, endpoint in sorted(turns, key=lambda turn: turn[:2])]


def _weighted(chosen: Sequence[Endpoint], spec: Spec) -> Iterator[tuple[Endpoint, int]]:
    """Yield the endpoints with their weights, which count within a priority."""
    for priority in sorted({entry.priority for entry in spec.endpoints}):
        entries = [i for i, entry in enumerate(spec.endpoints) if entry.priority == priority]
        by_entry = [(spec.endpoints[i].parts, [e for e in chosen if e.entry == i]) for i in entries]
        there = [(parts, found) for parts, found in by_entry if found]
        shared = weights.shares([(parts, len(found)) for parts, found in there])
        yield from zip((e for _, found in there for e in found), (w for entry in shared for w in entry), strict=True)
