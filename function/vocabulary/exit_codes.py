"""Exit codes of `modelplane hydrate`. They are the only result that a Job reports to the control plane."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """An exit code of `modelplane hydrate`."""

    STAGED = 0
    RETRY = 1
    """The hub or the network failed; the next try continues where this one ended."""
    INVALID = 2
    """The command line is wrong."""
    NOT_FOUND = 10
    GATED = 11
    NO_REVISION = 12
    NO_ROOM = 13
    NOTHING = 14


FINAL = tuple(int(o) for o in ExitCode if o > ExitCode.RETRY)
"""Another try would have the same result."""

MEANING = {
    ExitCode.STAGED: "the weights are staged",
    ExitCode.RETRY: "the hub or the network failed, also after several tries",
    ExitCode.INVALID: "the command was refused",
    ExitCode.NOT_FOUND: "the hub knows no such repository, or not for this token",
    ExitCode.GATED: "the repository is gated, and this token has no access to it",
    ExitCode.NO_REVISION: "the repository has no such revision",
    ExitCode.NO_ROOM: "the volume has too little room for the weights",
    ExitCode.NOTHING: "the repository has no file that an engine would load",
}
