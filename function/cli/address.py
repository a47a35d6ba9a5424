"""An option whose value is `host:port`."""

from __future__ import annotations

import ipaddress
import re

import click

_LARGEST_PORT = 65_535
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?")
_SHAPE = re.compile(r"(?:\[(?P<v6>[^\[\]]+)\]|(?P<name>[^:\[\]]*)):(?P<port>[0-9]+)", re.ASCII)


class Address(click.ParamType[str]):
    """A host name or IP address, and a port. Port 0 lets the system choose; without a host, all addresses are used."""

    name = "host:port"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = _SHAPE.fullmatch(value)
        if found is None:
            self.fail(f"{value!r} is not host:port; an IPv6 address stands in brackets, as in [::1]:9443", param, ctx)
        if int(found["port"]) > _LARGEST_PORT:
            self.fail(f"{value!r}: the port must be 0 to {_LARGEST_PORT:,}", param, ctx)
        if found["v6"] and not _is_v6(found["v6"]):
            self.fail(f"{value!r}: {found['v6']!r} is no IPv6 address", param, ctx)
        if found["name"] and not _NAME.fullmatch(found["name"]):
            self.fail(f"{value!r}: {found['name']!r} is neither a host name nor an IPv4 address", param, ctx)
        return value if found["v6"] or found["name"] else f"0.0.0.0{value}"  # noqa: S104  (a pod serves others)


def _is_v6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
