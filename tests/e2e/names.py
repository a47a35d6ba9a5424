"""A DNS server on loopback whose answers a test changes, and the resolver of a proxy that asks it."""

import ipaddress
import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from function.manifests.envoy import places
from tests.e2e.egress import Composed

_HEADER = struct.Struct("!HHHHHH")
_TYPES = {4: 1, 6: 28}  # A and AAAA
_TTL = 1
_NO_SUCH_NAME = 3


@dataclass(slots=True)
class Zone:
    """Names and their addresses, in the order of the answer."""

    port: int
    addresses: dict[str, list[str]] = field(default_factory=dict)


@contextmanager
def serving() -> Iterator[Zone]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        zone = Zone(server.getsockname()[1])
        threading.Thread(target=serve, args=(server, zone), daemon=True).start()
        yield zone


def serve(server: socket.socket, zone: Zone) -> None:
    while True:
        try:
            query, client = server.recvfrom(2048)
            server.sendto(answer(query, zone), client)
        except OSError:
            return


def answer(query: bytes, zone: Zone) -> bytes:
    """The addresses of the asked type, each with a lifetime of a second."""
    name, end = asked(query)
    (type_,) = struct.unpack_from("!H", query, end)
    there = [ipaddress.ip_address(one) for one in zone.addresses.get(name, ())]
    found = [one for one in there if _TYPES[one.version] == type_]
    code = 0 if name in zone.addresses else _NO_SUCH_NAME
    (number,) = struct.unpack_from("!H", query)
    header = _HEADER.pack(number, 0x8180 | code, 1, len(found), 0, 0)
    records = [struct.pack("!HHHIH", 0xC00C, type_, 1, _TTL, len(one.packed)) + one.packed for one in found]
    return header + query[_HEADER.size : end + 4] + b"".join(records)


def asked(query: bytes) -> tuple[str, int]:
    """The name of the first question, in lower case, and where it ends."""
    labels, at = [], _HEADER.size
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    return ".".join(labels), at + 1


def resolving(what: Composed, zone: Zone) -> Composed:
    """A proxy that asks the zone, in place of its pod's DNS server."""
    bootstrap = json.loads(what.files[places.BOOTSTRAP_FILE])
    for cluster in bootstrap["static_resources"]["clusters"]:
        cluster["cluster_type"]["typed_config"]["typed_dns_resolver_config"] = resolver(zone)
    return replace(what, files={**what.files, places.BOOTSTRAP_FILE: json.dumps(bootstrap)})


def resolver(zone: Zone) -> Mapping[str, Any]:
    type_ = "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig"
    server = {"socket_address": {"address": "127.0.0.1", "port_value": zone.port}}
    options = {"no_default_search_domain": True}
    return {
        "name": "envoy.network.dns_resolver.cares",
        "typed_config": {"@type": type_, "resolvers": [server], "dns_resolver_options": options},
    }
