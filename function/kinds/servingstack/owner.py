"""Checks that a ServingStack reaches the cluster of the InferenceCluster that composed it, and no other."""

from __future__ import annotations

from function.api.servingstack import Spec
from function.contracts.cloud import owner
from function.core import InvalidSpec, Manifest
from function.vocabulary import conditions as c
from function.vocabulary import names


def check(xr: Manifest) -> None:
    """Raises InvalidSpec for a stack outside of modelplane-system, or without an InferenceCluster as controller."""
    owner.check(xr, c.INVALID_STACK)


def check_access(xr: Manifest, spec: Spec) -> None:
    """Raises InvalidSpec for a stack that names another cluster, or provider config, than the one of its controller."""
    owner.check_cluster(xr, spec.clusterName, c.INVALID_STACK)
    cluster = owner.owner(xr)
    wanted, given = names.provider_config(cluster), spec.providerConfigRef.name
    if given != wanted:
        problem = f"must be {wanted}, the one of {cluster}, not {given}"
        raise InvalidSpec(c.INVALID_STACK(field="spec.providerConfigRef.name", problem=problem))
