"""Exit codes of `plan` and `what-if`."""

from __future__ import annotations

from collections.abc import Collection

NOTHING_CHANGES, ERROR, SOMETHING_IS_LOST, SOMETHING_CHANGES = 0, 1, 2, 3
FAILED_ON = SOMETHING_IS_LOST
"""Something that `--fail-on` names is so."""
_WORST_FIRST = (SOMETHING_IS_LOST, SOMETHING_CHANGES, NOTHING_CHANGES)


def worst(codes: Collection[int]) -> int:
    """The worst of several exit codes; NOTHING_CHANGES if there are none."""
    return next((code for code in _WORST_FIRST if code in codes), NOTHING_CHANGES)
