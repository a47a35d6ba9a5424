"""The functions of Kubernetes over URLs, addresses and named formats.

Source: k8s.io/apiserver v0.36, pkg/cel/library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from function.cel.problem import Abort, Failure
from function.cel.values import addresses, urls
from function.cel.values.addresses import Cidr, Ip
from function.cel.values.formats import FORMATS, Format
from function.cel.values.kinds import NONE, Keyed, Optional
from function.cel.values.quoting import Malformed, is_text, quoted, shortened
from function.cel.values.urls import Url

_LOOPBACK = {32: (127, 8), 128: (1, 128)}
"""By the bits of an address: what it begins with, and how many bits that is."""
_LINK_LOCAL = {32: (0xA9FE, 16), 128: (0x3FA, 10)}
_LINK_LOCAL_MULTICAST = {32: (0xE00000, 24)}
_MULTICAST = {32: (0xE, 4), 128: (0xFF, 8)}
_BROADCAST = Ip(2**32 - 1, 32)


def _read(read: Callable[[str], Any], what: str) -> Callable[[str], Any]:
    def call(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            reason = error.reason if isinstance(error, Malformed) else error
            raise Failure(f"{quoted(shortened(text))} is no {what}: {reason}") from None

    return call


def _told(read: Callable[[Url], str]) -> Callable[[Url], str]:
    """A part of a URL without its escapes: in Kubernetes it can be bytes that are no text."""

    def call(url: Url) -> str:
        return _text(read(url))

    return call


def _text(text: str) -> str:
    if not is_text(text):
        raise Abort("a part of the URL is no UTF-8, and a string here is a text")
    return text


def _parameters(url: Url) -> Keyed:
    found = url.parameters
    if "%" in url.query:
        _text("".join(chain(found, *found.values())))
    return found


def _holds(read: Callable[[str], Any]) -> Callable[[str], bool]:
    def call(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return call


_ip, _cidr = _read(addresses.address, "IP address"), _read(addresses.block, "CIDR")


def _is_loopback(ip: Ip) -> bool:
    return ip.begins(*_LOOPBACK[ip.bits])


def _is_link_local_unicast(ip: Ip) -> bool:
    return ip.begins(*_LINK_LOCAL[ip.bits])


def _is_link_local_multicast(ip: Ip) -> bool:
    if ip.bits in _LINK_LOCAL_MULTICAST:
        return ip.begins(*_LINK_LOCAL_MULTICAST[ip.bits])
    return ip.number >> 112 & 0xFF0F == 0xFF02  # noqa: PLR2004  (ff?2::/16)


def _is_global_unicast(ip: Ip) -> bool:
    is_special = not ip.number or ip == _BROADCAST or ip.begins(*_MULTICAST[ip.bits])
    return not (is_special or _is_loopback(ip) or _is_link_local_unicast(ip))


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return cidr.has(ip, cidr.length)


def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    return cidr.length <= other.length and cidr.has(other.ip, cidr.length)


def _named(name: str) -> Optional:
    return Optional((FORMATS[name],)) if name in FORMATS else NONE


def _validated(format_: Format, text: str) -> Optional:
    faults = format_.faults(text)
    return Optional((faults,)) if faults else NONE


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "string_to_url": _read(urls.url, "URL"),
    "is_url_string": _holds(urls.check),
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": _told(lambda url: url.host),
    "url_get_hostname": _told(lambda url: url.hostname),
    "url_get_port": lambda url: url.port,
    "url_get_escaped_path": lambda url: url.escaped_path,
    "url_get_query": _parameters,
    "string_to_ip": _ip,
    "is_ip": _holds(addresses.address),
    "ip_is_canonical": lambda text: str(_ip(text)) == text,
    "ip_family": lambda ip: ip.family,
    "ip_is_unspecified": lambda ip: ip.number == 0,
    "ip_is_loopback": _is_loopback,
    "ip_is_link_local_multicast": _is_link_local_multicast,
    "ip_is_link_local_unicast": _is_link_local_unicast,
    "ip_is_global_unicast": _is_global_unicast,
    "ip_to_string": str,
    "string_to_cidr": _cidr,
    "is_cidr": _holds(addresses.block),
    "cidr_contains_ip_string": lambda cidr, text: _contains_ip(cidr, _ip(text)),
    "cidr_contains_ip_ip": _contains_ip,
    "cidr_contains_cidr_string": lambda cidr, text: _contains_cidr(cidr, _cidr(text)),
    "cidr_contains_cidr": _contains_cidr,
    "cidr_ip": lambda cidr: cidr.ip,
    "cidr_prefix_length": lambda cidr: cidr.length,
    "cidr_masked": lambda cidr: cidr.masked(),
    "cidr_to_string": str,
    "format-named": _named,
    "format-validate": _validated,
    **{f"format.{name}": _always(format_) for name, format_ in FORMATS.items()},
}
"""By overload."""
