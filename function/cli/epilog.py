"""The end of a command's help: examples and exit codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

INVALID_OPTION = "an invalid option"
UNWRITTEN = "the output cannot be written"
_USAGE = 2
"""Click's exit code for an invalid option."""


class Epilog(str):
    """The text that click prints, and the data that it is made of."""

    __slots__ = ("examples", "exit_codes", "invalid_option")

    examples: tuple[str, ...]
    exit_codes: Mapping[int, str]
    invalid_option: int
    """The exit code for an invalid option."""


def epilog(
    examples: Sequence[str], exit_codes: Mapping[int, str], note: str = "", *, invalid_option: int = _USAGE
) -> Epilog:
    """Click's `epilog` of a command.

    Args:
        examples: Command lines.
        exit_codes: What each exit code means, in the order in which they are shown.
        note: A paragraph between the two.
        invalid_option: The exit code for an invalid option, if the usual one means something else.
    """
    width = max(len(str(code)) for code in exit_codes)
    codes = [f"{code:>{width}}  {meaning}" for code, meaning in exit_codes.items()]
    blocks = [_block("Examples:" if len(examples) > 1 else "Example:", examples), note, _block("Exit codes:", codes)]
    text = Epilog("\n\n".join(block for block in blocks if block))
    text.examples, text.exit_codes, text.invalid_option = tuple(examples), exit_codes, invalid_option
    return text


def of(command: click.Command) -> Epilog | None:
    """The epilog of a command. A group has none."""
    return command.epilog if isinstance(command.epilog, Epilog) else None


def _block(title: str, lines: Sequence[str]) -> str:
    """Lines that click does not wrap."""
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])
