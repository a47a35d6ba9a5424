"""Homogeneity: the entries of a list or map literal must have one type.

Source: github.com/google/cel-go v0.26, cel/validator.go (ValidateHomogeneousAggregateLiterals).
"""

from __future__ import annotations

from function.cel.language.checking import explain
from function.cel.language.checking.checked import Checked
from function.cel.language.declarations.types import content_of
from function.cel.language.errors import Fault
from function.cel.language.syntax.tree import ListLiteral, MapLiteral, Node


def check(literal: ListLiteral | MapLiteral, checked: Checked) -> None:
    """Fault where entries have different types. An attribute value, whose type is not known, differs from a string."""
    if isinstance(literal, ListLiteral):
        _alike(literal.items, [i in literal.optional for i in range(len(literal.items))], checked)
    else:
        _alike([k for k, _, _ in literal.entries], [False] * len(literal.entries), checked)
        _alike([v for _, v, _ in literal.entries], [optional for _, _, optional in literal.entries], checked)


def _alike(nodes: list[Node], optional: list[bool], checked: Checked) -> None:
    for node, with_mark in zip(nodes, optional, strict=True):
        if with_mark and not content_of(checked.type(node))[1]:
            raise Fault("an entry with ? wants an optional value: Kubernetes cannot compile what may be one", node.at)
    types = [content_of(checked.type(n))[0] if o else checked.type(n) for n, o in zip(nodes, optional, strict=True)]
    for node, found in zip(nodes, types, strict=True):
        if found != types[0]:
            raise explain.mixed(types[0], found, node.at)
