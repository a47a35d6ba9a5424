"""The memory of a deployment's revisions: which were tried, and which have served.

Terms:

- A *revision* is a deployment's spec, as its replicas are made of it, with the version of the rules by which workloads
  are composed from it. It is identified by its hash.
- It is *tried* once a replica was given it, and has *served* once a replica was ready with it.
- A *note* is what the deployment's status says of a revision, as the previous call wrote it.

`remember` works in this order:

1. Read evidence from the replicas: their hashes are tried, and those of ready ones have served.
2. Unite it with the notes. The notes outlive the replicas: a replica that was scaled away, or was lost with its
   cluster, takes no evidence along. The replicas outlive the notes: a status can be lost in a restored backup or a
   failed call.
3. Take back the trials of replicas that lost their nodes before they could start. If nobody else has tried such a
   revision, it counts as untried again.
4. Forget all but the last four revisions. Those that a replica has are forgotten last.

Deliberately coarse: a revision that has served once counts as proven for good, even if it fails later. The memory
protects against specs that never worked, and not against those that stop working.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from function.scheduling.fleet import Replica

MOST_REVISIONS = 4
"""Revisions that are remembered of one deployment."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What is known of one revision."""

    hash: str
    """What identifies it. Empty for replicas whose revision was not noted."""
    tried: bool = False
    """Whether a replica was given it."""
    served: bool = False
    """Whether a replica was ready with it."""

    @property
    def is_untried(self) -> bool:
        """Whether it was not tried and has not served."""
        return not self.tried and not self.served


def remember(
    current: str, noted: Iterable[Revision], ours: Collection[Replica], denied: Collection[Replica]
) -> dict[str, Revision]:
    """Return the known revisions by hash, the current one first, at most MOST_REVISIONS.

    Args:
        current: The hash of the deployment's revision, which is always returned.
        noted: The revisions of the deployment's status, the latest first.
        ours: The replicas of the deployment.
        denied: Those of `ours` that never had the nodes that they were given. Their revision was not tried by them.
    """
    before = {revision.hash: revision for revision in noted}
    tried = {r.spec_hash for r in ours if r not in denied}
    untried = {r.spec_hash for r in denied} - tried
    served = {r.spec_hash for r in ours if r.ready and r.answered}
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
    """Forget the oldest first, and those in `keep` last. The first of `found` is never forgotten."""
    kept = list(found)
    for hash_ in [h for h in reversed(kept) if h not in keep] + [h for h in reversed(kept[1:]) if h in keep]:
        if len(kept) <= MOST_REVISIONS:
            break
        kept.remove(hash_)
    return {hash_: found[hash_] for hash_ in kept}
