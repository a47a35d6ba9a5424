"""How a ModelService splits the requests of a priority over its endpoints, in percent.

The weight of an entry counts among the entries of its priority that have an endpoint which gets traffic; the endpoints
of an entry share it evenly. A higher priority gets requests only as far as those before it fail: its percentages are
of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from function.core import NamespacedName
from function.planning import tiers
from function.planning.outcome import EndpointOutcome, ServiceOutcome

_WHOLE = 100


@dataclass(frozen=True, slots=True)
class Share:
    """What an endpoint gets of the requests of its priority."""

    endpoint: str
    entry: int
    """Index of the entry that it belongs to."""
    priority: int
    percent: float
    model: str
    """The name under which requests ask it for the model; empty for the one that clients ask for."""


Shares = tuple[Share, ...]
SharesByService = Mapping[NamespacedName, Shares]


@dataclass(frozen=True, slots=True)
class ShareChange:
    """What an endpoint gets, before and after; None where the service does not lead to it."""

    endpoint: str
    before: Share | None
    after: Share | None

    @property
    def is_kept(self) -> bool:
        return self.before == self.after


def of(services: Iterable[ServiceOutcome], endpoints: Iterable[EndpointOutcome]) -> SharesByService:
    """The shares of the endpoints of each service."""
    owned = tiers.owners_of(services, endpoints)
    return {service.identity: tuple(_shares(service, owned[service.identity])) for service in services}


def _shares(service: ServiceOutcome, owned: Mapping[str, int]) -> Iterator[Share]:
    led = {name: owned[name] for name in service.routed if name in owned}
    counts = Counter(led.values())
    totals: Counter[int] = Counter()
    for index in counts:
        totals[service.entries[index].priority] += service.entries[index].weight
    for name in sorted(led, key=lambda name: (service.entries[led[name]].priority, led[name], name)):
        entry = service.entries[led[name]]
        part = entry.weight / totals[entry.priority] / counts[led[name]]
        yield Share(name, led[name], entry.priority, round(_WHOLE * part, 1), entry.model)


def changes(before: Shares, after: Shares) -> tuple[ShareChange, ...]:
    """The shares before and after, in the order of those after."""
    old, new = ({share.endpoint: share for share in shares} for shares in (before, after))
    named = [*new, *(name for name in old if name not in new)]
    return tuple(ShareChange(name, old.get(name), new.get(name)) for name in named)
