"""Which version of the function composed the workloads of a ModelReplica.

Terms:

- A *rendering* is a version of the rules by which workloads are composed from the spec of a replica
  (`versions.RENDERING`). A replica notes the one that it was given in an annotation.
- A *revision* is what a rollout gives to replicas one after the other: a spec, and the rendering that makes workloads
  of it. It is written as the hash of the spec and the number of the rendering, such as `1a2b3c4d-2`. The first
  rendering has no number, because the releases that used it knew no other.

A new version of the function is no edit of all replicas at once. It works in these steps:

1. The ModelReplica composer finds that the rendering of a replica is not its own. It composes nothing anew, repeats
   what is observed, and says that the replica awaits its turn (`conditions.AWAITING_TURN`).
2. The ModelDeployment finds that the replica has another revision than its own. The rollout gives a turn to one replica
   at a time (scheduling/rollout.py): the annotation gets the new rendering.
3. The composer composes the workloads anew. Its condition no longer says that the replica awaits its turn.
4. The ModelDeployment sees that, and goes on once the replica is ready.

Steps 1 and 3 are needed because an annotation changes no `metadata.generation`: what a replica says of itself may be
older than the turn that it was given, and only the condition tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.core import Manifest, condition, dig
from function.fleet.values import whole
from function.scheduling import Revision
from function.vocabulary import conditions as c
from function.vocabulary import labels, versions

_FIRST = 1
"""The rendering of replicas that note none."""


def rendering(metadata: Manifest) -> int:
    """Return the rendering that a replica was given, from its metadata; 0 if the note cannot be read."""
    noted = dig(metadata, "annotations", labels.RENDERING)
    if noted is None:
        return _FIRST
    return whole(noted) if isinstance(noted, str) and noted.isascii() and noted.isdecimal() else 0


def is_current(metadata: Manifest) -> bool:
    """Whether a replica has the rendering of this version of the function."""
    return rendering(metadata) == versions.RENDERING


def awaits_turn(replica: Manifest) -> bool:
    """Whether a replica says that another version of the function composed its workloads."""
    return bool(dig(condition(replica, c.MODEL_ACCEPTED.type), "reason") == c.AWAITING_TURN.reason)


def revision(spec_hash: str, number: int | None = None) -> str:
    """Return the revision of a spec and a rendering, by default this version's; empty if the hash is."""
    number = versions.RENDERING if number is None else number
    return spec_hash if number == _FIRST or not spec_hash else f"{spec_hash}-{number}"


def spec_hash(of: str) -> str:
    """Return the hash of the spec in a revision."""
    head, _, number = of.rpartition("-")
    return head if head and number.isdecimal() else of


def tried_before(noted: Sequence[Revision], current: str) -> Iterator[Revision]:
    """Yield the current revision as tried, if its spec was tried with other renderings and has served with none.

    A spec that never worked does not become worth a serving replica by a new version of the function. A spec that has
    served is new again: then it is the rendering that must prove itself.
    """
    same = [revision for revision in noted if spec_hash(revision.hash) == spec_hash(current)]
    is_noted = any(revision.hash == current for revision in same)
    if not is_noted and any(r.tried for r in same) and not any(r.served for r in same):
        yield Revision(current, tried=True)
