"""The invariants that a simulation checks, and what it reports when one is broken.

`losses` and `decisions` look at every write when it is made, `swings` at all writes until the world has settled,
`settled` and `truths` at a world that has settled, and `calm` compares it with the world that had settled before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum


class Invariant(Enum):
    """An invariant: its name, and what it claims."""

    KEPT = "kept", "nothing that serves is deleted or stops without a decision of its owner"
    CAPACITY = "capacity", "no pool has more placed on it than it has nodes and devices"
    ONCE = "once", "no decision gives a node that is taken"
    ACCEPTED = "accepted", "the API server accepts all that is desired, and no result is fatal"
    CONVERGES = (
        "converges",
        "the fleet settles within a number of rounds that its size bounds, whatever happened before",
    )
    STEADY = "steady", "no field returns again and again to a value that it had, while nothing happens"
    AT_REST = "at-rest", "a settled fleet that is reconciled again does not change"
    TRUE = "true", "statuses agree with what exists and runs, and conditions are current"
    RECOVERS = "recovers", "once no fault is left, every replica serves whose pods run"
    APART = "apart", "nothing of a namespace is placed in another, and no two owners share an object"
    NO_BUG = "no-bug", "no exception leaves the function or the control plane"

    def __init__(self, title: str, claim: str) -> None:
        self.title = title
        self.claim = claim


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that does not hold."""

    invariant: Invariant
    subject: str
    """The object that it is about, such as `ModelReplica ml/qwen-1`."""
    problem: str

    def __str__(self) -> str:
        return f"{self.invariant.title}: {self.subject}: {self.problem}"


Checked = Counter[Invariant]
"""How often each invariant was checked, in cases in which it could have been broken."""

INJECTED = "simulated"
"""Part of the message of a failure that a step causes."""
TAKEN = "is controlled by another object"
"""Part of the message of a failure that Crossplane causes: it does not take over what another XR composed."""
