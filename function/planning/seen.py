"""What the simulated providers and clusters have seen, and what they have to look at again.

Terms. An Object or a cluster is *pending* if it changed, or something that its answer depends on, since it was looked
at. Looking at one that is not pending, or at everything, changes nothing but the time that it takes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from function.sandbox.store import Ref


@dataclass(slots=True)
class Pending:
    """Objects that one phase has to look at, and provider configs of which it has to look at every Object."""

    objects: set[Ref] = field(default_factory=set)
    configs: set[str] = field(default_factory=set)

    def copied(self) -> Pending:
        """An independent copy."""
        return Pending(set(self.objects), set(self.configs))

    def __bool__(self) -> bool:
        return bool(self.objects or self.configs)

    def take(self, of: Mapping[str, set[Ref]]) -> Iterator[Ref]:
        """Every pending Object, in order.

        While the caller handles one, a config can become pending again. Its Objects further on are then part of this
        iteration, and the next iteration has all of them.

        Args:
            of: The Objects by the name of their provider config.
        """
        listed = self.objects.union(*(of.get(config, ()) for config in self.configs))
        waiting, complete = sorted(listed), self.configs
        self.objects, self.configs = set(), set()
        while waiting:
            now = heapq.heappop(waiting)
            yield now
            for config in self.configs - complete:
                more = {ref for ref in of.get(config, ()) if ref > now} - listed
                listed |= more
                for ref in more:
                    heapq.heappush(waiting, ref)
            complete |= self.configs


@dataclass(slots=True)
class Seen:
    """What was seen, and what is pending."""

    store: int = -1
    """The store's version at the start of the last call."""
    faults: str = ""
    """The faults at the start of the last call."""
    clusters: dict[str, Ref] = field(default_factory=dict)
    """The InferenceCluster that each provider config reaches."""
    made: dict[str, Ref] = field(default_factory=dict)
    """The composite by which a cloud makes the cluster of each provider config."""
    configs: dict[Ref, str] = field(default_factory=dict)
    """The provider config of each Object and Release, and of the cluster that each composite of a cloud makes."""
    objects: dict[str, set[Ref]] = field(default_factory=dict)
    """The Objects of each provider config."""
    releases: dict[str, set[Ref]] = field(default_factory=dict)
    """The Releases of each provider config."""
    provide: Pending = field(default_factory=Pending)
    """What the provider has to apply, or to delete."""
    observe: Pending = field(default_factory=Pending)
    """What the provider has to observe."""
    run: set[str] = field(default_factory=set)
    """Clusters whose controllers have to run."""
    guard: set[Ref] = field(default_factory=set)
    """Provider configs that may have come into use or out of it."""
    applied: dict[Ref, int] = field(default_factory=dict)
    """Of each Object: its version when its manifest was last applied to its cluster."""
    reported: dict[Ref, tuple[int, int, str]] = field(default_factory=dict)
    """Of each Object: its version, that of the remote object and the provider's error when its status was written."""

    def copied(self) -> Seen:
        """An independent copy."""
        return replace(
            self,
            clusters=dict(self.clusters),
            made=dict(self.made),
            configs=dict(self.configs),
            objects={config: set(refs) for config, refs in self.objects.items()},
            releases={config: set(refs) for config, refs in self.releases.items()},
            provide=self.provide.copied(),
            observe=self.observe.copied(),
            run=set(self.run),
            guard=set(self.guard),
            applied=dict(self.applied),
            reported=dict(self.reported),
        )

    def assign(self, ref: Ref, config: str | None, of: dict[str, set[Ref]]) -> set[str]:
        """Note the provider config of an Object or Release in an index of them; None if it is gone.

        Returns:
            The configs that it had and has.
        """
        before = self.configs.pop(ref, None)
        if before is not None:
            of[before].discard(ref)
        if config is not None:
            self.configs[ref] = config
            of.setdefault(config, set()).add(ref)
        return {found for found in (before, config) if found is not None}
