"""Exit codes of `modelplane hydrate`. They are all that a hydration Job reports to the control plane."""

from __future__ import annotations

from enum import IntEnum


class Outcome(IntEnum):
    """An exit code of `modelplane hydrate`."""

    STAGED = 0
    RETRY = 1
    """The hub or the network failed. The next try resumes where this one stopped."""
    INVALID = 2
    """The command line is wrong."""
    NOT_FOUND = 10
    GATED = 11
    NO_REVISION = 12
    NO_ROOM = 13
    NOTHING = 14


FINAL = tuple(int(o) for o in Outcome if o > Outcome.RETRY)
"""Outcomes that another try would not change."""

MEANING = {
    Outcome.STAGED: "the weights are staged",
    Outcome.RETRY: "the hub or the network failed, even after several tries",
    Outcome.INVALID: "the command was refused",
    Outcome.NOT_FOUND: "the hub has no such repository, or hides it from this token",
    Outcome.GATED: "the repository is gated, and this token has no access to it",
    Outcome.NO_REVISION: "the repository has no such revision",
    Outcome.NO_ROOM: "the volume is too small for the weights",
    Outcome.NOTHING: "the repository has no file that an engine would load",
}
