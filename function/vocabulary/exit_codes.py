"""Exit codes of `modelplane hydrate`. They are all that a hydration Job reports to the control plane."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


class ExitCode(IntEnum):
    """An exit code of `modelplane hydrate`."""

    STAGED = 0
    RETRY = 1
    """The origin of the weights or the network failed. The next try resumes where this one stopped."""
    INVALID = 2
    """The command line is wrong."""
    NOT_FOUND = 10
    GATED = 11
    NO_REVISION = 12
    NO_ROOM = 13
    NOTHING = 14
    UNTRUSTED = 15
    PROXY_REFUSED = 16


FINAL = tuple(int(o) for o in ExitCode if o > ExitCode.RETRY)
"""Exit codes that another try would not change."""

Meaning = Mapping[ExitCode, str]
"""What each exit code means for one kind of source."""

_ANY: Meaning = {
    ExitCode.STAGED: "the weights are staged",
    ExitCode.INVALID: "the command was refused",
    ExitCode.NO_ROOM: "the volume is too small for the weights",
    ExitCode.PROXY_REFUSED: "the proxy refuses the connection; see spec.proxy",
}
HUB: Meaning = {
    **_ANY,
    ExitCode.RETRY: "the hub or the network failed, even after several tries",
    ExitCode.NOT_FOUND: "the hub has no such repository, or hides it from this token",
    ExitCode.GATED: "the repository is gated, and this token has no access to it",
    ExitCode.NO_REVISION: "the repository has no such revision",
    ExitCode.NOTHING: "the repository has no file that an engine would load",
    ExitCode.UNTRUSTED: "no known authority signed the hub's certificate; see spec.proxy.caBundle",
}
BUCKET: Meaning = {
    **_ANY,
    ExitCode.RETRY: "the store or the network failed, even after several tries",
    ExitCode.NOT_FOUND: "there is no such bucket at the endpoint and in the region",
    ExitCode.GATED: "the store refuses access to the bucket with these credentials",
    ExitCode.NO_REVISION: "the bucket has no such revision",
    ExitCode.NOTHING: "the bucket has no object under the prefix",
    ExitCode.UNTRUSTED: "no known authority signed the store's certificate; see spec.proxy.caBundle",
}
