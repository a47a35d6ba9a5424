"""The probe: an Object that observes the cluster's Gateway, and so tells whether the cluster answers, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.core import Manifest, condition, dig, dig_list, dig_text, quote_condition
from function.manifests import reached
from function.vocabulary import hosts, names

GATEWAY = f"Gateway {names.SYSTEM_NAMESPACE}/{names.CLUSTER_GATEWAY}"


@dataclass(frozen=True, slots=True)
class Probe:
    """What the provider last reported of the Gateway."""

    address: str | None
    """IP address or host name."""
    answered: bool = False
    """Whether the provider has reported anything yet."""
    lost: str | None = None
    """Why the cluster does not answer; None where it does, or was not asked yet."""
    locked_out: str | None = None
    """Why the provider cannot log in to the cluster."""
    fault: str | None = None
    """Why the Gateway cannot be read though the cluster answers."""
    unusable: str | None = None
    """Why no address of the Gateway can be used: on the control cluster it would mean another host."""


def read(observed: Manifest | None) -> Probe:
    """Return what the observed Object of the Gateway tells; None for an Object that was not composed yet."""
    if observed is None:
        return Probe(None)
    addresses = tuple(_addresses(observed))
    faults = {address: hosts.fault(address.lower()) for address in addresses}
    address = next((address for address in addresses if not faults[address]), None)
    return Probe(
        address=address,
        unusable=None if address else next((f"{it}: {why}" for it, why in faults.items()), None),
        answered=condition(observed, "Synced") is not None,
        lost=reached.lost(observed),
        locked_out=reached.locked_out(observed),
        fault=_fault(observed),
    )


def _addresses(observed: Manifest) -> Iterator[str]:
    """IP addresses and host names, in the Gateway's order."""
    for entry in dig_list(observed, "status", "atProvider", "manifest", "status", "addresses"):
        if value := dig_text(entry, "value"):
            yield value


def _fault(observed: Manifest) -> str | None:
    synced = condition(observed, "Synced")
    if dig(synced, "status") != "False" or reached.lost(observed):
        return None
    return quote_condition(synced) or "not synced"
