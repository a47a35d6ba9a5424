"""Texts to trees."""

from __future__ import annotations

from function.cel.problem import Fault
from function.cel.tree import Node

LONGEST = 10_240
"""Of a selector. Source: k8s.io/api v0.36, resource/v1 (CELSelectorExpressionMaxLength)."""


def parse(text: str) -> Node:
    """Fault where it is wrong."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

    from function.cel import grammar

    if len(text.encode(errors="replace")) > LONGEST:
        raise Fault(f"it is longer than {LONGEST} bytes", LONGEST)
    try:
        built: Node = grammar.parser().parse(text).node
    except VisitError as error:
        raise error.orig_exc from None
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        raise Fault(_unreadable(text, at), at) from None
    except UnexpectedToken as error:
        at = len(text) if error.token.type == "$END" else error.token.start_pos or 0
        raise Fault(_unexpected(str(error.token)), at) from None
    return built


def _unreadable(text: str, at: int) -> str:
    if text[at] in "\"'":
        return "this string does not end, or has an escape that does not exist"
    if text[at] == "=":
        return "a single = means nothing here; equality is =="
    return f"{text[at]!r} means nothing here"


def _unexpected(token: str) -> str:
    return f'"{token}" is not expected here' if token else "the expression ends too early"
