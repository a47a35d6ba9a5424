"""How a changed spec reaches the replicas of a deployment.

A revision is *tried* once a replica has it, and *served* once a replica was ready with it. Until it has served, at most
one replica that serves, or would serve again by itself, is given it. So a bad image costs one replica, whatever is
scaled, lost or edited meanwhile.

A replica that serves is given a revision only while one fewer others serve than are wanted. Where fewer are placed for
want of room, the edit waits. The user can wave it through.
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
    """The rules for one decision."""

    job: Job
    revision: Revision
    """The current one."""
    serving: Sequence[Replica]
    """The replicas that serve and are not dropped by this decision."""
    wait: Wait | None = None
    """Why the last replica that was asked about may not be updated."""

    @property
    def needs_proof(self) -> bool:
        """Whether the revision was tried and never served."""
        return self.revision.tried and not self.revision.served and not self.job.rolls_anyway

    def is_free(self, replica: Replica, revisions: Mapping[str, Revision]) -> bool:
        """Whether nothing is lost if a replica is given the revision: it does not serve, and would not by itself."""
        if replica.serving:
            return False
        known = revisions.get(replica.spec_hash)
        recovers = replica.served and known is not None and known.served
        return self.revision.served or self.job.rolls_anyway or not self.serving or not recovers

    def may_update(self, replica: Replica) -> bool:
        """Whether a replica that serves, or would serve again by itself, may be given the revision now."""
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
