"""URLs of http and https, as patterns in the common syntax of Go and Python."""

from __future__ import annotations

from typing import Annotated

from function.schema.fields import Text

_LABEL = "[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
_TOP_LABEL = "[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_HEX = "[0-9a-fA-F]{1,4}"
_IPV6 = "|".join(
    [
        f"({_HEX}:){{7}}{_HEX}",
        f"({_HEX}:){{1,7}}:",
        *(f"({_HEX}:){{1,{left}}}(:{_HEX}){{1,{7 - left}}}" for left in range(6, 0, -1)),
        f":((:{_HEX}){{1,7}}|:)",
    ]
)
HOST = rf"(({_LABEL}\.)*{_TOP_LABEL}|({_OCTET}\.){{3}}{_OCTET}|\[({_IPV6})\])"
"""The host of a URL: a name whose last label starts with a letter, an IPv4 address, or an IPv6 address in brackets."""
PORT = "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})"
_PART = "[-A-Za-z0-9_~][-A-Za-z0-9_.~]*"

Endpoint = Annotated[
    str,
    Text(
        2048,
        rf"^https?://{HOST}(:{PORT})?(/{_PART})*/?$",
        "an http or https URL with a host, without user, password, query or fragment",
        secret=True,  # a user may put a password there
    ),
]
"""The address of a service that a client asks."""
