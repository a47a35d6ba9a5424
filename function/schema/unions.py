"""Unions as the Kubernetes API has them: a field that chooses, and a block for each choice.

Which choices there are comes from a table, so that another one needs no edit of the model.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import Field, create_model

from function.schema.model import Api, Rule

Union = TypeVar("Union", bound=Api)


class Member(NamedTuple):
    """One choice of a union."""

    choice: str
    """The value that chooses it, which also names the field of its block: EKS is eks, HuggingFace is huggingFace."""
    block: type[Api]
    """The model of the block. Its docstring describes the field."""

    @property
    def field(self) -> str:
        return field_of(self.choice)


def field_of(choice: str) -> str:
    """Return the field of a choice's block: its leading capitals in lower case, except one that begins a word."""
    return re.sub(r"^[A-Z]+(?![a-z])|^[A-Z]", lambda capitals: capitals[0].lower(), choice)


def union(
    discriminator: str, members: Sequence[Member], *, is_block_required: bool = True
) -> Callable[[type[Union]], type[Union]]:
    """Return a decorator that adds the block of every member to a model, and the rules between them.

    The model declares the discriminator itself. The block of the chosen member is needed, unless `is_block_required` is
    False; no other member's is taken, since it would do nothing.
    """

    def with_members(model: type[Union]) -> type[Union]:
        fields: dict[str, Any] = {
            member.field: (member.block | None, Field(default=None, description=_description(member)))
            for member in members
        }
        made = create_model(model.__name__, __base__=model, __module__=model.__module__, **fields)
        needed = (_needed(discriminator, member.choice) for member in members if is_block_required)
        only = (_only(discriminator, member.choice) for member in members if len(members) > 1)
        made.RULES = (*needed, *only, *model.RULES)
        made.IS_GENERATED = True
        return made

    return with_members


def _description(member: Member) -> str:
    return inspect.cleandoc(member.block.__doc__ or "")


def _needed(field: str, choice: str) -> Rule:
    block = field_of(choice)
    return Rule(
        f"self.{field} != '{choice}' || has(self.{block})",
        f"{field} {choice} needs {block}",
        lambda union: getattr(union, field) != choice or getattr(union, block) is not None,
        at=block,
    )


def _only(field: str, choice: str) -> Rule:
    block = field_of(choice)
    return Rule(
        f"self.{field} == '{choice}' || !has(self.{block})",
        f"{block} is only for {field} {choice}",
        lambda union: getattr(union, field) == choice or getattr(union, block) is None,
        at=block,
    )
