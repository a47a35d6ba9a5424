"""What the cluster's own Gateway tells: whether the cluster answers, and at which address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.core import Manifest, condition, dig
from function.core.condition import shortened
from function.core.manifest import is_list
from function.manifests import reached
from function.vocabulary import hosts, names

GATEWAY = f"Gateway {names.SYSTEM_NAMESPACE}/{names.CLUSTER_GATEWAY}"
_LONGEST_FAULT = 256


@dataclass(frozen=True, slots=True)
class Probe:
    """What was seen of the Gateway, last and now."""

    address: str | None
    """IP address or host name."""
    answered: bool = False
    """Whether anything was heard of the cluster yet."""
    lost: str | None = None
    """Why the cluster does not answer; None where it does, or nobody has asked yet."""
    fault: str | None = None
    """Why the Gateway cannot be seen though the cluster answers."""
    unusable: str | None = None
    """Why its address cannot be used: for the control cluster it would mean something else."""

    @property
    def serves(self) -> bool:
        return bool(self.address) and not self.lost and not self.fault


def read(observed: Manifest | None) -> Probe:
    """From the Observe-only Object of the Gateway."""
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
        fault=_fault(observed),
    )


def _addresses(observed: Manifest) -> Iterator[str]:
    """IP addresses and host names, in the Gateway's order."""
    found = dig(observed, "status", "atProvider", "manifest", "status", "addresses")
    for entry in found if is_list(found) else ():
        value = dig(entry, "value")
        if isinstance(value, str) and value:
            yield value


def _fault(observed: Manifest) -> str | None:
    synced = condition(observed, "Synced")
    if dig(synced, "status") != "False" or reached.lost(observed):
        return None
    return shortened(str(dig(synced, "message") or dig(synced, "reason") or "not synced"), _LONGEST_FAULT)
