"""Whether a Deployment on the control cluster runs, read from its status."""

from __future__ import annotations

from function.core import Manifest, condition, dig, dig_number, quote_condition


def available(deployment: Manifest | None) -> int:
    """Return the number of available pods, of any generation: a change that fails to start takes no traffic away."""
    return int(dig_number(deployment, "status", "availableReplicas"))


def is_current(deployment: Manifest) -> bool:
    """Return whether all pods run the current spec, and no other pods are left."""
    wanted = dig(deployment, "spec", "replicas")
    counts = [dig(deployment, "status", count) for count in ("replicas", "updatedReplicas")]
    observed = dig_number(deployment, "status", "observedGeneration")
    return observed >= dig_number(deployment, "metadata", "generation") and counts == [wanted, wanted]


def fault(deployment: Manifest | None) -> str:
    """Return what prevents pods from being created, such as a quota, in brackets after a space; else nothing."""
    failure = condition(deployment or {}, "ReplicaFailure")
    return f" ({quote_condition(failure)})" if dig(failure, "status") == "True" else ""
