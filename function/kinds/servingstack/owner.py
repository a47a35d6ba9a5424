"""Checks that a ServingStack belongs to an InferenceCluster, and reaches the cluster of that one alone."""

from __future__ import annotations

from function.api import inferencecluster
from function.api.servingstack import Spec
from function.core import InvalidSpec, Manifest, controller, identity, is_controlled_by
from function.vocabulary import conditions as c
from function.vocabulary import names


def check(xr: Manifest) -> None:
    """Raises InvalidSpec for a stack outside of modelplane-system, or without an InferenceCluster as controller."""
    namespace = identity(xr).namespace
    if namespace != names.SYSTEM_NAMESPACE:
        raise _invalid("metadata.namespace", f"must be {names.SYSTEM_NAMESPACE}, not {namespace or 'empty'}")
    if not is_controlled_by(xr["metadata"], inferencecluster.API_VERSION, inferencecluster.KIND):
        problem = "must name an InferenceCluster as controller: a ServingStack is composed by one; edit that"
        raise _invalid("metadata.ownerReferences", problem)


def check_access(xr: Manifest, spec: Spec) -> None:
    """Raises InvalidSpec for a stack that names another cluster, or provider config, than the one of its controller."""
    cluster = str((controller(xr["metadata"]) or {}).get("name"))
    if spec.clusterName != cluster:
        problem = f"must be {cluster}, the InferenceCluster that the stack belongs to, not {spec.clusterName}"
        raise _invalid("spec.clusterName", problem)
    wanted, given = names.provider_config(cluster), spec.providerConfigRef.name
    if given != wanted:
        raise _invalid("spec.providerConfigRef.name", f"must be {wanted}, the one of {cluster}, not {given}")


def _invalid(field: str, problem: str) -> InvalidSpec:
    return InvalidSpec(c.INVALID_STACK(field=field, problem=problem))
