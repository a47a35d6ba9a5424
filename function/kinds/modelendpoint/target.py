"""Where an endpoint's URL leads, and what of it can be reached at all."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from function import conditions as c
from function import names
from function.core import InvalidSpec
from function.kinds.modelendpoint.model import Spec

_PORTS = {"http": 80, "https": 443}
_LONGEST_PATH = 1024
"""Of a path that a route may rewrite to (gateway-api v1.6)."""
_API = "/v1"
"""What clients of an OpenAI-compatible API put behind a model's URL themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint's URL, taken apart and checked."""

    host: str
    """In lower case; an IPv6 address compressed and without brackets."""
    port: int
    address_type: str
    """IPv4, IPv6 or FQDN, as EndpointSlices have it."""
    tls: bool
    rewrite_path: str
    """What a ModelService's own path becomes; it ends with a slash unless the user wrote it otherwise."""

    @property
    def is_name(self) -> bool:
        return self.address_type == "FQDN"


def parse(spec: Spec) -> Target:
    """Raises InvalidSpec."""
    url = urlsplit(spec.url)
    host, address_type = _address(url.hostname or "", tls=url.scheme == "https")
    return Target(
        host=host,
        port=url.port or _PORTS[url.scheme],
        address_type=address_type,
        tls=url.scheme == "https",
        rewrite_path=spec.rewritePath or _path(url.path),
    )


def needs_proxy(spec: Spec, target: Target) -> bool:
    """Whether only a proxy can ask it: over TLS, with a key, or by a short name, which is no address of a slice."""
    return target.tls or spec.auth is not None or (target.is_name and "." not in target.host)


def _address(host: str, *, tls: bool) -> tuple[str, str]:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _name(host, tls=tls), "FQDN"
    address = (address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None) or address
    if _is_nobodys(address):
        raise _invalid(f"{host} is not reachable from elsewhere (loopback, link-local or the like)")
    return str(address), f"IPv{address.version}"


def _is_nobodys(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether it means the asker itself, many at once, or nobody: the last sixteenth of IPv4 was never given out."""
    is_reserved = address.version == 4 and address.is_reserved  # noqa: PLR2004 (the version of IP)
    return is_reserved or any(
        (address.is_loopback, address.is_link_local, address.is_multicast, address.is_unspecified)
    )


def _name(host: str, *, tls: bool) -> str:
    """Raises InvalidSpec for what resolves to the asker itself (RFC 6761), or to nothing.

    Over TLS, names below localhost are let be: whoever answers must show a certificate of the name.
    """
    if host == "localhost" or (host.endswith(".localhost") and not tls):
        raise _invalid("localhost is whoever asks; give the name under which others reach it")
    if len(host) > names.DNS_SUBDOMAIN:
        raise _invalid(f"a host name has at most {names.DNS_SUBDOMAIN} characters")
    return host


def _path(path: str) -> str:
    """The path of a URL without the API's own, so that what clients append is not there twice."""
    found = f"{path.rstrip('/').removesuffix(_API)}/"
    if len(found) > _LONGEST_PATH:
        raise _invalid(f"its path has more than {_LONGEST_PATH} characters, which no route can write")
    return found


def _invalid(problem: str) -> InvalidSpec:
    return InvalidSpec(c.INVALID_URL(field="spec.url", problem=problem))
