"""Operator settings, read from the environment at startup."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass

from function.vocabulary import versions


class Invalid(ValueError):
    """A setting cannot be parsed. The message names the variable, its value, and what is accepted."""


HYDRATE_IMAGE = os.environ.get("MODELPLANE_HYDRATE_IMAGE") or versions.HYDRATE_IMAGE
"""The image whose `modelplane hydrate` stages weights, for example a mirror of ours."""
OBSERVER_IMAGE = os.environ.get("MODELPLANE_OBSERVER_IMAGE") or HYDRATE_IMAGE
"""The image whose `modelplane observe` observes inference clusters. By default the one that stages weights."""
EGRESS_IMAGE = os.environ.get("MODELPLANE_EGRESS_IMAGE") or versions.ENVOY_IMAGE
"""The Envoy image of egress proxies, for example a mirror of the stock image."""
HUB_ENDPOINT = os.environ.get("MODELPLANE_HUB_ENDPOINT") or ""
"""A mirror of the Hugging Face hub for all hydrations. Empty means the hub itself."""
RESERVED_NAMESPACES_VARIABLE = "MODELPLANE_RESERVED_NAMESPACES"
RESERVED_NAMESPACES = os.environ.get(RESERVED_NAMESPACES_VARIABLE) or ""
"""Changes of the list of reserved namespaces (api/tenancy.py), such as `+team-infra,-monitoring`; empty for none."""
RATELIMIT_VARIABLE = "MODELPLANE_RATELIMIT"
RATELIMIT = os.environ.get(RATELIMIT_VARIABLE) or ""
"""Address of a gRPC rate-limit server, which counts the tokens of ModelCallers with limits; empty for none."""

_LAST_PORT = 65535
_LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_NAME = rf"({_LABEL}\.)*[a-z]([-a-z0-9]{{0,61}}[a-z0-9])?"
_SERVER = re.compile(
    rf"({_NAME}|(?P<four>[0-9.]+)|\[(?P<six>[0-9a-f:.]+)\]):(?P<port>[1-9][0-9]{{0,4}})", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Server:
    """A host and a port."""

    host: str
    """A host name, or an IP address without brackets."""
    port: int


def rate_limit_server() -> Server | None:
    """Return the rate-limit server, or None if there is none.

    Raises Invalid if the setting cannot be parsed.
    """
    if not RATELIMIT:
        return None
    found = _SERVER.fullmatch(RATELIMIT)
    if not found or int(found["port"]) > _LAST_PORT or not _has_sound_address(found):
        accepted = "must be the host and port of a gRPC rate-limit server, such as ratelimit.infra.svc:8081"
        raise Invalid(f"{RATELIMIT_VARIABLE}: {accepted}, not {RATELIMIT!r}")
    return Server(found["six"] or found[1], int(found["port"]))


def _has_sound_address(found: re.Match[str]) -> bool:
    """Return whether the address is one, if the host is not a name."""
    try:
        if found["four"]:
            ipaddress.IPv4Address(found["four"])
        if found["six"]:
            ipaddress.IPv6Address(found["six"])
    except ValueError:
        return False
    return True
