"""Where an endpoint's URL leads, and whether that may be reached."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from function.api.modelendpoint import Spec
from function.core import InvalidSpec
from function.vocabulary import conditions as c
from function.vocabulary import hosts, names

_PORTS = {"http": 80, "https": 443}
_LONGEST_PATH = 1024
"""Longest path that a route can rewrite to (gateway-api v1.6)."""
_API = "/v1"
"""The path that clients of an OpenAI-compatible API append to a model's URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint's URL, parsed and checked."""

    host: str
    """In lower case. An IPv6 address is compressed and has no brackets."""
    port: int
    address_type: str
    """IPv4, IPv6 or FQDN, as in EndpointSlices."""
    tls: bool
    base_path: str | None
    """Replaces the /v1 of clients' paths; no slash at its end. None if rewrite_path says where requests go."""
    rewrite_path: str
    """Replaces a ModelService's path. It ends with a slash, unless the user's own does not."""
    is_former: bool = False
    """Whether requests go on to where an earlier version sent them, although the URL now means another path."""

    @property
    def is_name(self) -> bool:
        return self.address_type == "FQDN"


def parse(spec: Spec, routed_path: str | None = None) -> Target:
    """Return the target of an endpoint. Raises InvalidSpec for a host that nobody may ask.

    `routed_path` is the path to which routes rewrite so far. Earlier versions put clients' /v1 behind every URL: an
    endpoint that serves so goes on, because its requests would reach another path otherwise.
    """
    url = urlsplit(spec.url)
    host, address_type = _address(url.hostname or "", tls=url.scheme == "https")
    is_former = _is_base(spec, url.path) and spec.basePath is None and routed_path == _path(url.path)
    base = (spec.basePath or url.path).rstrip("/") if _is_base(spec, url.path) and not is_former else None
    return Target(
        host=host,
        port=url.port or _PORTS[url.scheme],
        address_type=address_type,
        tls=url.scheme == "https",
        base_path=base,
        rewrite_path="/" if base is not None else spec.rewritePath or _path(spec.basePath or url.path),
        is_former=is_former,
    )


def _is_base(spec: Spec, path: str) -> bool:
    """Return whether clients' /v1 is replaced: the API's path neither ends in /v1 nor is left to the server's root."""
    if spec.rewritePath is not None:
        return False
    if spec.basePath is not None:
        return not spec.basePath.rstrip("/").endswith(_API)
    return path.rstrip("/") != "" and not path.rstrip("/").endswith(_API)


def needs_proxy(spec: Spec, target: Target, *, is_checked: bool) -> bool:
    """Return whether only a proxy can call the target: with TLS or a key, by a short name, or with rewritten requests.

    A slice accepts no short name. `is_checked` tells whether the addresses of a name are checked, which a gateway
    cannot do.
    """
    rewrites = target.base_path is not None or bool(spec.query) or spec.model is not None
    by_name = target.is_name and (is_checked or "." not in target.host)
    return target.tls or spec.auth is not None or by_name or rewrites


def _address(host: str, *, tls: bool) -> tuple[str, str]:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _name(host, tls=tls), "FQDN"
    _check_host(host)
    address = (address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None) or address
    return str(address), f"IPv{address.version}"


def _check_host(host: str) -> None:
    why = hosts.fault(host)
    if why:
        raise refused(f"no endpoint may lead to {host}: {why}; use a host at which other machines reach the model")


def _name(host: str, *, tls: bool) -> str:
    """Check a host name. Raises InvalidSpec if it leads to the proxy itself or to a metadata service.

    Names below localhost are allowed with TLS, because the server needs a certificate for the name.
    """
    if not (tls and host.endswith(".localhost")):
        _check_host(host)
    if len(host) > names.DNS_SUBDOMAIN:
        raise refused(f"a host name has at most {names.DNS_SUBDOMAIN} characters")
    return host


def _path(path: str) -> str:
    """Return the path of a URL without the API's own, which clients append."""
    found = f"{path.rstrip('/').removesuffix(_API)}/"
    if len(found) > _LONGEST_PATH:
        raise refused(f"its path has more than {_LONGEST_PATH} characters, the most that a route can rewrite to")
    return found


def refused(problem: str) -> InvalidSpec:
    """Return the refusal of a URL."""
    return InvalidSpec(c.INVALID_URL(field="spec.url", problem=problem))
