"""What is known of a deployment's revisions: which were tried, and which have served.

A revision is a deployment's spec as its replicas are made of it, known by its hash. The memory outlives the replicas:
a replica that was scaled away, or lost with its cluster, takes no evidence along.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from function.scheduling.fleet import Replica

MOST_REVISIONS = 4


@dataclass(frozen=True, slots=True)
class Revision:
    """`tried`: a replica was given it. `served`: a replica was ready with it."""

    hash: str
    tried: bool = False
    served: bool = False

    @property
    def is_untried(self) -> bool:
        return not self.tried and not self.served


def remember(
    current: str, noted: Iterable[Revision], ours: Collection[Replica], denied: Collection[Replica]
) -> dict[str, Revision]:
    """Return the revisions by hash, the current one first.

    Unites what was noted with what the replicas show, since a note can be missing (a restored backup, a failed pass).
    The `denied` replicas never had the nodes that they were given, so what they carry was not tried.
    """
    before = {revision.hash: revision for revision in noted}
    tried = {r.spec_hash for r in ours if r not in denied}
    untried = {r.spec_hash for r in denied} - tried
    served = {r.spec_hash for r in ours if r.ready}
    hashes = dict.fromkeys((current, *before, *sorted(r.spec_hash for r in ours)))
    found = {
        hash_: Revision(
            hash_,
            tried=hash_ in tried or (hash_ not in untried and hash_ in before and before[hash_].tried),
            served=hash_ in served or (hash_ in before and before[hash_].served),
        )
        for hash_ in hashes
        if hash_ or hash_ == current
    }
    return _bounded(found, keep={current, *tried})


def _bounded(found: Mapping[str, Revision], keep: Collection[str]) -> dict[str, Revision]:
    """Forget the oldest first, and those that a replica carries last."""
    kept = list(found)
    for hash_ in [h for h in reversed(kept) if h not in keep] + [h for h in reversed(kept[1:]) if h in keep]:
        if len(kept) <= MOST_REVISIONS:
            break
        kept.remove(hash_)
    return {hash_: found[hash_] for hash_ in kept}
