"""What the static check found out about a tree."""

from __future__ import annotations

from dataclasses import dataclass, field

from function.cel.checking.overloads import Overload
from function.cel.checking.types import Type
from function.cel.syntax.tree import Node


@dataclass(slots=True)
class Checked:
    """What is known of a tree's nodes, each by its identity."""

    root: Node
    types: dict[int, Type] = field(default_factory=dict)
    overloads: dict[int, tuple[Overload, ...]] = field(default_factory=dict)
    """Of a call, those that its arguments fit."""

    open: set[int] = field(default_factory=set)
    """Nodes whose type was inferred from what is done with them, which their values need not follow."""

    functions: set[str] = field(default_factory=set)
    """All that are called."""
    is_loose: bool = False
    """Whether values may be of other types than were found: a null is written out, which stands for an amount as well,
    or something is made of what can be anything, of which the checker then infers what it is."""
    has_loops: bool = False
    depth: int = 0
    """Levels of the tree."""
    has_own_keys: bool = False
    """Whether a map that is written out may have keys that only themselves are equal to: lists, amounts."""

    def type(self, node: Node) -> Type:
        return self.types[id(node)]
