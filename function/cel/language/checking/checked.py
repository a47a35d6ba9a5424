"""The result of the static check."""

from __future__ import annotations

from dataclasses import dataclass, field

from function.cel.language.declarations.overload import Overload
from function.cel.language.declarations.types import Type
from function.cel.language.syntax.tree import Node


@dataclass(slots=True)
class Checked:
    """The result of the static check: what is known of a tree's nodes, each by its identity."""

    root: Node
    types: dict[int, Type] = field(default_factory=dict)
    overloads: dict[int, tuple[Overload, ...]] = field(default_factory=dict)
    """The overloads that the arguments of a call fit."""

    open: set[int] = field(default_factory=set)
    """Nodes whose type was inferred from what is done with them, which their values need not follow."""

    is_growing: bool = False
    """Whether a function is called whose result can be longer than the text."""
    reads_state: bool = False
    """Whether a function is called that can tell apart equal values, or that changes one."""
    is_underestimated: bool = False
    """Whether a call's actual cost may exceed its estimate."""
    is_loose: bool = False
    """Whether values may have other types than were found. That is so where a null is written out, which may stand for
    an amount as well, or where the checker inferred a type from a value that can be anything."""
    has_loops: bool = False
    depth: int = 0
    """Levels of the tree."""
    has_own_keys: bool = False
    """Whether a map literal may have keys that are equal to nothing but themselves: lists, amounts."""

    def type(self, node: Node) -> Type:
        return self.types[id(node)]
