"""How a URL spells a host, and hosts that no request may be sent to: loopback, link-local, metadata services.

`function.vocabulary.egress` has what the platform team adds to them.

A host is refused in any notation. An IPv6 address may embed an IPv4 address to which the network forwards the packet.
So an address is checked together with every address embedded in it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_SELF = "it is the calling machine itself"
_NEIGHBOUR = "it is link-local to the calling machine"
_METADATA = "it is a cloud's metadata service"
_NOBODY = "it is reserved and belongs to nobody"

NETWORKS: tuple[tuple[Network, str], ...] = tuple(
    (ipaddress.ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", _SELF),  # RFC 1122 3.2.1.3; Linux connects 0.0.0.0 to loopback
        ("127.0.0.0/8", _SELF),  # RFC 1122 3.2.1.3
        ("169.254.0.0/16", _NEIGHBOUR),  # RFC 3927; metadata of AWS, Azure, GCP, Oracle, Scaleway and others
        ("224.0.0.0/4", "it is multicast"),  # RFC 5771
        ("240.0.0.0/4", _NOBODY),  # RFC 1112 4
        ("100.100.100.200/32", _METADATA),  # Alibaba Cloud, ECS instance metadata
        ("168.63.129.16/32", _METADATA),  # Azure, "What is IP address 168.63.129.16?"
        ("192.0.0.192/32", _METADATA),  # Oracle Cloud Infrastructure Compute Classic
        ("::/128", _SELF),  # RFC 4291 2.5.2
        ("::1/128", _SELF),  # RFC 4291 2.5.3
        ("fe80::/10", _NEIGHBOUR),  # RFC 4291 2.5.6; metadata of OpenStack (fe80::a9fe:a9fe)
        ("ff00::/8", "it is multicast"),  # RFC 4291 2.7
        ("100::/64", _NOBODY),  # RFC 6666
        ("fd00:ec2::/32", _METADATA),  # AWS, IMDS over IPv6 (fd00:ec2::254), EKS Pod Identity (fd00:ec2::23)
        ("fd20:ce::/32", _METADATA),  # GCP, metadata server over IPv6 (fd20:ce::254)
        ("fd00:c1::a9fe:a9fe/128", _METADATA),  # Oracle Cloud Infrastructure, IMDS over IPv6
        ("fd00:42::42/128", _METADATA),  # Scaleway, Instance metadata over IPv6
        ("fd00:a9fe:a9fe::1/128", _METADATA),  # Akamai (Linode), Metadata service over IPv6
    )
)
"""Refused networks with the reason shown to users. The comment beside each names the source."""

NAMES: Mapping[str, str] = {
    "localhost": _SELF,  # RFC 6761 6.3
    "localhost.localdomain": _SELF,  # /etc/hosts of Red Hat's and older Debian's images, with the next five
    "localhost4": _SELF,
    "localhost4.localdomain4": _SELF,
    "localhost6": _SELF,
    "localhost6.localdomain6": _SELF,
    "ip6-localhost": _SELF,  # /etc/hosts of Debian and of Kubernetes' pods (pkg/kubelet/kubelet_pods.go), with the next
    "ip6-loopback": _SELF,
    "ip6-localnet": _NOBODY,
    "ip6-mcastprefix": _NOBODY,
    "ip6-allnodes": "it is multicast",
    "ip6-allrouters": "it is multicast",
    "metadata": _METADATA,  # GCP, by the search domain google.internal
    "metadata.google.internal": _METADATA,  # GCP, About VM metadata
    "metadata.goog": _METADATA,  # GCP, About VM metadata
    "instance-data": _METADATA,  # AWS, by the search domain ec2.internal
    "instance-data.ec2.internal": _METADATA,  # AWS, EC2 in us-east-1
    "metadata.tencentyun.com": _METADATA,  # Tencent Cloud, CVM instance metadata
    "api.metadata.cloud.ibm.com": _METADATA,  # IBM Cloud, VPC instance metadata service
    "metadata.platformequinix.com": _METADATA,  # Equinix Metal, Metadata
    "metadata.packet.net": _METADATA,  # Equinix Metal's former name
    "rancher-metadata": _METADATA,  # Rancher 1.6, Metadata Service
    "kubernetes.default": "it is the API server of the control cluster",
    "kubernetes.default.svc": "it is the API server of the control cluster",
    "kubernetes.default.svc.cluster.local": "it is the API server of the control cluster",
}
"""Refused names with the reason shown to users. The comment beside each names the source."""

_CLUSTER_DOMAINS = (".svc", ".svc.cluster.local", ".pod", ".pod.cluster.local")
"""Domains of Services and pods (Kubernetes, DNS for Services and Pods). The label before is the namespace."""

_CLUSTER_DOMAIN = ".cluster.local"
"""The rest of such a domain, which a pod's search path appends."""

_COMPATIBLE = ipaddress.IPv6Network("::/96")  # RFC 4291 2.5.5.1
_TRANSLATED = ipaddress.IPv6Network("::ffff:0:0:0/96")  # RFC 2765 2.1
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052 2.1
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # RFC 8215
_ISATAP = (0x00005EFE, 0x02005EFE)
"""First half of the interface identifier (RFC 5214 6.1)."""
_LAST = 0xFFFFFFFF

EMBEDDING: tuple[ipaddress.IPv6Network, ...] = (
    _COMPATIBLE,
    _TRANSLATED,
    ipaddress.IPv6Network("::ffff:0:0/96"),  # RFC 4291 2.5.5.2
    ipaddress.IPv6Network("2001::/32"),  # Teredo, RFC 4380
    ipaddress.IPv6Network("2002::/16"),  # 6to4, RFC 3056
)
"""Networks whose addresses embed an IPv4 address, and which nobody needs in order to reach a server. Whoever can check
prefixes only denies them as a whole: Teredo, for one, inverts the addresses."""


def in_url(host: str) -> str:
    """Return an IP address or a host name as a URL spells it: an IPv6 address in brackets (RFC 3986 3.2.2)."""
    try:
        return f"[{host}]" if isinstance(ipaddress.ip_address(host), ipaddress.IPv6Address) else host
    except ValueError:
        return host


def fault(host: str) -> str | None:
    """Return why no request may be sent to a host, or None if it may.

    The host is in lower case and without brackets.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _fault_of_name(host)
    return next((why for meant in meanings(address) for network, why in NETWORKS if meant in network), None)


def _fault_of_name(host: str) -> str | None:
    name = host.rstrip(".")
    if name.endswith(".localhost"):
        return _SELF
    if name.startswith("instance-data.") and name.endswith(".compute.internal"):  # AWS, EC2 in other regions
        return _METADATA
    return NAMES.get(name)


def namespace(host: str) -> str | None:
    """Return the namespace of the control cluster's Service or pod that a host names, or None if it names none."""
    for domain in _CLUSTER_DOMAINS:
        if host.endswith(domain):
            return host.removesuffix(domain).rpartition(".")[2]
    return None


def spellings(host: str, namespace: str) -> frozenset[str]:
    """Return the names by which a pod of a namespace finds what a host names in the control cluster, itself included.

    A name without a dot is a Service of the pod's namespace (Kubernetes, DNS for Services and Pods).
    """
    if "." not in host and ":" not in host:
        return frozenset((host, f"{host}.{namespace}.svc", f"{host}.{namespace}.svc{_CLUSTER_DOMAIN}"))
    if not host.endswith(_CLUSTER_DOMAINS):
        return frozenset((host,))
    short = host.removesuffix(_CLUSTER_DOMAIN)
    return frozenset((short, f"{short}{_CLUSTER_DOMAIN}"))


def is_short(host: str, namespace: str) -> bool:
    """Return whether a name is that of a Service or pod without the domain of the cluster, for a pod of a namespace.

    The pod's search path completes it. A Service of another namespace, such as `chat.other`, is not told by such a name
    from any other server.
    """
    in_namespace = "." not in host or (host.endswith(f".{namespace}") and host.count(".") == 1)
    return in_namespace or host.endswith((".svc", ".pod"))


def behind_nat64(network: ipaddress.IPv4Network) -> ipaddress.IPv6Network:
    """Return the addresses that a NAT64 translates to those of a network."""
    return ipaddress.IPv6Network((int(_NAT64.network_address) | int(network.network_address), 96 + network.prefixlen))


def meanings(address: Address) -> Iterator[Address]:
    """Yield an address and all addresses embedded in it, at any depth."""
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        for inner in _inside(address):
            yield from meanings(inner)


def _inside(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    number = int(address)
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    is_compatible = address in _COMPATIBLE and number > 1  # neither :: nor ::1
    if is_compatible or address in _TRANSLATED or address in _NAT64 or number >> 32 & _LAST in _ISATAP:
        yield ipaddress.IPv4Address(number & _LAST)
    if address in _LOCAL_NAT64:
        yield from _locally_translated(number)


def _locally_translated(number: int) -> list[ipaddress.IPv4Address]:
    """Return the embedded address for each prefix length that an operator may use (RFC 6052 2.2).

    Bits 64 to 71 are empty.
    """
    without_gap = (number >> 64 << 56) | (number & (1 << 56) - 1)
    found = [without_gap >> (120 - length - 32) & _LAST for length in (48, 56, 64)]
    last = number & _LAST
    plausible = [each for each in (*found, last) if each >> 24]  # zeros mean another prefix length
    return [ipaddress.IPv4Address(each) for each in plausible or [last]]
