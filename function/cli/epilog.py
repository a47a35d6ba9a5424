"""The end of a command's help: examples and exit codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

INVALID_OPTION = "an invalid option"


def epilog(examples: Sequence[str], exit_codes: Mapping[int, str], note: str = "") -> str:
    """Click's `epilog` of a command.

    Args:
        examples: Command lines.
        exit_codes: What each exit code means, in the order in which they are shown.
        note: A paragraph between the two.
    """
    width = max(len(str(code)) for code in exit_codes)
    codes = [f"{code:>{width}}  {meaning}" for code, meaning in exit_codes.items()]
    blocks = [_block("Examples:" if len(examples) > 1 else "Example:", examples), note, _block("Exit codes:", codes)]
    return "\n\n".join(block for block in blocks if block)


def _block(title: str, lines: Sequence[str]) -> str:
    """Lines that click does not wrap."""
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])
