"""What the cluster's own Gateway tells: whether the cluster answers, and at which address."""

from __future__ import annotations

from dataclasses import dataclass

from function import names
from function.core import Manifest, condition, dig
from function.core.condition import shortened
from function.manifests import reached

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

    @property
    def serves(self) -> bool:
        return bool(self.address) and not self.lost and not self.fault


def read(observed: Manifest | None) -> Probe:
    """From the Observe-only Object of the Gateway."""
    if observed is None:
        return Probe(None)
    address = dig(observed, "status", "atProvider", "manifest", "status", "addresses", 0, "value")
    return Probe(
        address=address if isinstance(address, str) and address else None,
        answered=condition(observed, "Synced") is not None,
        lost=reached.lost(observed),
        fault=_fault(observed),
    )


def _fault(observed: Manifest) -> str | None:
    synced = condition(observed, "Synced")
    if dig(synced, "status") != "False" or reached.lost(observed):
        return None
    return shortened(str(dig(synced, "message") or dig(synced, "reason") or "not synced"), _LONGEST_FAULT)
