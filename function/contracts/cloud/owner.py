"""Checks that a composite of infrastructure belongs to an InferenceCluster."""

from __future__ import annotations

from function.core import InvalidSpec, Manifest, Reason, controller, identity, is_controlled_by
from function.vocabulary import names, versions

_OWNER = "InferenceCluster"


def check(xr: Manifest, invalid: Reason) -> None:
    """Check where a composite is, and that an InferenceCluster composed it.

    Raises:
        InvalidSpec: It is outside of modelplane-system, or has no InferenceCluster as controller. The reason is
            `invalid`, whose template takes `field` and `problem`.
    """
    namespace = identity(xr).namespace
    if namespace != names.SYSTEM_NAMESPACE:
        problem = f"must be {names.SYSTEM_NAMESPACE}, not {namespace or 'empty'}"
        raise InvalidSpec(invalid(field="metadata.namespace", problem=problem))
    if not is_controlled_by(xr["metadata"], versions.MODELPLANE, _OWNER):
        kind = xr["kind"]
        problem = f"must name an {_OWNER} as controller: {_a(kind)} {kind} is composed by one; edit that"
        raise InvalidSpec(invalid(field="metadata.ownerReferences", problem=problem))


def check_cluster(xr: Manifest, named: str, invalid: Reason) -> None:
    """Check that a composite names its controller in spec.clusterName. Raises InvalidSpec."""
    cluster = owner(xr)
    if named != cluster:
        problem = f"must be {cluster}, the {_OWNER} that the {xr['kind']} belongs to, not {named}"
        raise InvalidSpec(invalid(field="spec.clusterName", problem=problem))


def owner(xr: Manifest) -> str:
    """Return the name of the InferenceCluster that composed a composite."""
    return str((controller(xr["metadata"]) or {}).get("name"))


def _a(kind: str) -> str:
    return "an" if kind[0] in "AE" else "a"
