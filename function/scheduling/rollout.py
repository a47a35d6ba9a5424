"""The rules by which a changed spec reaches the replicas of a deployment.

Terms:

- A *revision* is a deployment's spec, as its replicas are made of it, with the version of the rules by which workloads
  are composed from it (see `revision.py`).
- A revision is *tried* once a replica was given it, and has *served* once a replica was ready with it.
- A replica is *free* if an update costs nothing: it does not serve, and would not serve again by itself. A replica that
  does not serve for a moment, but has served with a proven revision, is not free.
- A replica is *held back* if it has the spec of the job, and only another version of the function composed its
  workloads. A new version of the function holds back all replicas.

Rules, in the order in which the solver asks for them:

0. `is_left_alone`: a held-back replica that serves counts as current, and gets no update, if only one replica is
   wanted or if no other serves. No user asked for the update, and it would take the last replica away. It is updated
   with the next edit of the spec, once others serve, or when it does not serve. It also counts as current until it has
   said that it is held back (see `fleet/renderings.py`).
1. `is_free`: every free replica gets the revision at once.
2. `may_update`: a replica that is not free gets the revision only if the revision has served, or was never tried; and
   one that serves only while `replicas - 1` others serve.
3. `needs_proof`: a revision that was tried and has not served is given to no replica that serves. The solver may let a
   new replica try it.

So a bad image costs at most one replica, even if replicas are scaled, lost or edited meanwhile. The user can skip the
rules for one revision with an annotation (`Job.rolls_anyway`).

Deliberately coarse: one replica at a time, without a surge or an unavailability budget. A replica takes whole GPU
nodes, so there is seldom room for a surge. The rule counts replicas, and not their capacity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from function.scheduling.fleet import Replica
from function.scheduling.job import Job
from function.scheduling.plan import NotProven, TooFewServe, Wait
from function.scheduling.revision import Revision


@dataclass(slots=True)
class Rollout:
    """The rules of a rollout, for one decision of the solver."""

    job: Job
    revision: Revision
    """The current revision of the job."""
    serving: Sequence[Replica]
    """Replicas that serve and that this decision does not drop."""
    wait: Wait | None = None
    """Why `may_update` refused the last replica; None if it refused none."""

    @property
    def needs_proof(self) -> bool:
        """Whether the revision was tried, has never served, and is not waved through by the user."""
        return self.revision.tried and not self.revision.served and not self.job.rolls_anyway

    def is_left_alone(self, replica: Replica) -> bool:
        """Whether a replica that is held back counts as current."""
        return is_left_alone(replica, self.job, self.serving)

    def is_free(self, replica: Replica, revisions: Mapping[str, Revision]) -> bool:
        """Whether nothing is lost if a replica gets the revision: it does not serve, and would not by itself.

        A replica that would serve again by itself is still free if the revision is proven, if the user waves it
        through, or if no replica serves anyway. `revisions` are those that are known, by hash.
        """
        if replica.serving:
            return False
        known = revisions.get(replica.spec_hash)
        recovers = replica.served and known is not None and known.served
        return self.revision.served or self.job.rolls_anyway or not self.serving or not recovers

    def may_update(self, replica: Replica) -> bool:
        """Whether a replica that is not free may get the revision now. Sets `wait` if it may not."""
        if self.job.rolls_anyway:
            return True
        others = sum(r is not replica for r in self.serving)
        if self.needs_proof:
            self.wait = NotProven()
        elif replica.serving and others < self.job.replicas - 1:
            self.wait = TooFewServe(others, self.job.replicas - 1)
        else:
            return True
        return False


def is_left_alone(replica: Replica, job: Job, serving: Sequence[Replica]) -> bool:
    """Whether a replica that is held back counts as current. `serving` are the replicas that serve and stay."""
    if not replica.held_back or not replica.serving:
        return False
    if not replica.awaits_turn:
        return True
    is_alone = job.replicas == 1 or all(other is replica for other in serving)
    return is_alone and not job.rolls_anyway
