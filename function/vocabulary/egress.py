"""Where tenants' traffic may go: what is never asked, what the platform team denies, and its exceptions.

Three lists decide about a host:

- *Never*: `hosts.NETWORKS` and `hosts.NAMES`. No exception is possible.
- *Denied*: Services of other namespaces of the control cluster, and `spec.egress.deny` of the InferenceGateway.
- *Allowed*: `spec.egress.allow`, exceptions from what is denied.

An entry is a network, an address, a host name, `*.` and a domain for all names below it, or `*` for every name.

A literal address is judged once, in the URL. A name may point anywhere and change, so it is judged twice: by itself in
the URL, and by its addresses whenever a proxy connects. A name that is allowed is one whose addresses the platform team
vouches for: they may be denied ones, but never those of the first list.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from function.vocabulary import hosts
from function.vocabulary.hosts import Address, Network

MOST = 64
"""Entries of a list."""


@dataclass(frozen=True, slots=True)
class Denial:
    """Why no endpoint may lead to a host."""

    why: str
    """The rest of a sentence after the host and a colon."""
    instead: str
    """What to do, as the rest of a sentence."""
    permission: str = "ask the platform team to add it to spec.egress.allow of the InferenceGateway"
    """How it could be allowed, as the rest of a sentence."""

    @property
    def remedy(self) -> str:
        return f"{self.instead}, or {self.permission}"


@dataclass(frozen=True, slots=True)
class Rule:
    """Denied networks, and the exceptions from them."""

    denied: tuple[Network, ...]
    allowed: tuple[Network, ...] = ()

    def has(self, address: Address) -> bool:
        """Return whether an address is denied, as Envoy sees it: by its prefix alone."""
        return _is_in(address, self.denied) and not _is_in(address, self.allowed)


@dataclass(frozen=True, slots=True)
class Policy:
    """The lists of the platform team. Without entries, only the built-in ones apply."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def denial(self, host: str, namespace: str) -> Denial | None:
        """Return why no endpoint of a namespace may lead to a host that `hosts.fault` does not refuse; None if it may.

        The host is in lower case and without brackets.
        """
        address = _address(host)
        return self._of_name(host, namespace) if address is None else self._of_address(address)

    def rules(self, *, is_vouched: bool = False) -> tuple[Rule, ...]:
        """Return the rules for the addresses of names. A proxy connects to none that one of them denies.

        An exception of one family does not lift the denial of the other: 64:ff9b::/96 has the addresses of IPv4 too.
        """
        if is_vouched:
            return (_NEVER,)
        rules = (Rule(*(_of_version(version, entries) for entries in (self.deny, self.allow))) for version in (4, 6))
        return (_NEVER, *(rule for rule in rules if rule.denied))

    def vouches(self, host: str, namespace: str) -> bool:
        """Return whether a name may have denied addresses."""
        return _entry(hosts.spellings(host, namespace), self.allow) is not None

    def completes(self, host: str, namespace: str) -> bool:
        """Return whether search domains of a proxy's pods may complete a name that an endpoint of a namespace has."""
        return hosts.is_short(host, namespace) or self.vouches(host, namespace)

    def _of_address(self, address: Address) -> Denial | None:
        denied = (_network_entry(m, self.deny) for m in hosts.meanings(address) if not _network_entry(m, self.allow))
        return next((_listed(entry) for entry in denied if entry), None)

    def _of_name(self, host: str, namespace: str) -> Denial | None:
        names = hosts.spellings(host, namespace)
        if _entry(names, self.allow):
            return None
        entry = _entry(names, self.deny)
        if entry:
            return _listed(entry)
        other = hosts.namespace(host)
        if other in (None, namespace):
            return None
        why = f"it is in namespace {other} of the control cluster"
        return Denial(why, f"use a Service of namespace {namespace}")


def _listed(entry: str) -> Denial:
    why = f"spec.egress.deny of the InferenceGateway has {entry}"
    return Denial(why, "use another host")


# Entries


def never(entry: str) -> str | None:
    """Return why nothing of an entry can be allowed; None if something can."""
    network = _network(entry)
    if network is None or network.num_addresses == 1:
        return hosts.fault(entry.removeprefix("*.").partition("/")[0])
    return next((why for refused, why in hosts.NETWORKS if _contains(refused, network)), None)


def _entry(names: frozenset[str], entries: Iterable[str]) -> str | None:
    """Return the first entry that one of the names matches."""
    return next((entry for entry in entries if any(_matches(name, entry) for name in names)), None)


def _matches(name: str, entry: str) -> bool:
    return entry == "*" or (name.endswith(entry[1:]) if entry.startswith("*.") else name == entry)


def _network_entry(address: Address, entries: Iterable[str]) -> str | None:
    found = ((entry, _network(entry)) for entry in entries)
    return next((entry for entry, network in found if network is not None and address in network), None)


def _of_version(version: int, entries: Iterable[str]) -> tuple[Network, ...]:
    found = (network for network in map(_network, entries) if network is not None)
    return _with_translated(network for network in found if network.version == version)


@lru_cache(maxsize=1024)
def _network(entry: str) -> Network | None:
    """Return an entry as a network; None for a name."""
    try:
        return ipaddress.ip_network(entry)
    except ValueError:
        return None


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


# Networks


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _contains(network: Network, other: Network) -> bool:
    return network.version == other.version and other[0] in network and other[-1] in network


def _with_translated(networks: Iterable[Network]) -> tuple[Network, ...]:
    """Return networks, each of IPv4 also as it is behind a NAT64."""
    return tuple(dict.fromkeys(each for network in networks for each in _translated(network)))


def _translated(network: Network) -> Iterator[Network]:
    yield network
    if isinstance(network, ipaddress.IPv4Network):
        yield hosts.behind_nat64(network)


_NEVER = Rule((*_with_translated(network for network, _ in hosts.NETWORKS), *hosts.EMBEDDING))
