"""Changes that may place one more replica on a cluster. Each is a type that holds its facts.

A change is a proposal of `suggestion.py`. It says nothing about whether it helps: whoever proposes it to a person tries
it on a whole fleet first (`planning/explanation/`). One that nobody can try there has the reason in `untried`.
"""

from __future__ import annotations

from dataclasses import dataclass

from function.core import plural


@dataclass(frozen=True, slots=True)
class AddNodes:
    """More nodes for a pool."""

    pool: str
    nodes: int

    def __str__(self) -> str:
        return f"add {plural(self.nodes, 'node')} to pool {self.pool}"


@dataclass(frozen=True, slots=True)
class ShareNodes:
    """Pods that share the nodes of a pool."""

    pool: str

    def __str__(self) -> str:
        return f"set sharing of pool {self.pool} to Devices"


@dataclass(frozen=True, slots=True)
class AddPool:
    """A pool of whole nodes beside one whose nodes are shared."""

    like: str
    nodes: int

    def __str__(self) -> str:
        count = plural(self.nodes, "node")
        return f"add a pool of {count} with the class of pool {self.like}, whose nodes are not shared"


@dataclass(frozen=True, slots=True)
class PromisePlacement:
    """The weaker promise for pods on shared nodes."""

    def __str__(self) -> str:
        return "set spec.capacity.promise of the cluster to Placement: the replica fits on the nodes as they are"


@dataclass(frozen=True, slots=True)
class Tolerate:
    """A toleration of a taint of clusters."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"tolerate {self.key}{f'={self.value}' if self.value else ''}:{self.effect} in spec.tolerations"


@dataclass(frozen=True, slots=True)
class LabelCluster:
    """A label for the cluster."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"label the cluster {self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class Deselect:
    """One label less in the selectors of clusters."""

    key: str
    selectors: tuple[str, ...]
    """Where the selectors are, in words."""

    def __str__(self) -> str:
        return f"remove {self.key} from {' and '.join(self.selectors)}"


@dataclass(frozen=True, slots=True)
class Reselect:
    """Another label in the selectors of clusters, in place of one that no cluster has."""

    key: str
    wanted: str
    label: tuple[str, str]
    """The key and the value that clusters have."""
    selectors: tuple[str, ...]
    """Where the selectors are, in words."""

    def __str__(self) -> str:
        new, old = "=".join(self.label), f"{self.key}={self.wanted}"
        return f"select {new} instead of {old} in {' and '.join(self.selectors)}"


@dataclass(frozen=True, slots=True)
class EnforceLevel:
    """A weaker level of Pod Security."""

    level: str

    def __str__(self) -> str:
        return f"set spec.podSecurity.enforce of the cluster to {self.level}"


@dataclass(frozen=True, slots=True)
class Reword:
    """Another text of a device selector."""

    before: str
    after: str
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class ChangePods:
    """Pods that the level of Pod Security admits."""

    demand: str
    untried: str = "whether the engine still works without it is not known here"

    def __str__(self) -> str:
        return f"change the pods ({self.demand})"


@dataclass(frozen=True, slots=True)
class MakeServe:
    """A cluster that serves."""

    untried: str = "it depends on what its conditions show"

    def __str__(self) -> str:
        return "make the cluster serve"


@dataclass(frozen=True, slots=True)
class GiveAddress:
    """An address for the gateway of a cluster."""

    untried: str = "the network of the cluster gives the address"

    def __str__(self) -> str:
        return "give the gateway of the cluster an address"


Change = (
    AddNodes
    | ShareNodes
    | AddPool
    | PromisePlacement
    | Tolerate
    | LabelCluster
    | Deselect
    | Reselect
    | EnforceLevel
    | Reword
    | ChangePods
    | MakeServe
    | GiveAddress
)
