"""Reaches an existing cluster by the Secrets that its InferenceCluster names."""

from __future__ import annotations

from typing import Any

from function.clouds.existing.blocks import Cluster
from function.contracts.cloud.source import Access, SecretKey
from function.core import Request, Requirement, dig
from function.vocabulary import names, versions

_KUBECONFIG = "kubeconfig"
_IDENTITY = "identity"


def requirements(block: Any) -> tuple[Requirement, ...]:
    """The Secrets. Their values go nowhere: that they exist is all that is asked."""
    named = ((requirement, dig(block, field, "name")) for requirement, field in _FIELDS)
    return tuple(
        Requirement(requirement, versions.CORE, "Secret", match_name=name, namespace=names.SYSTEM_NAMESPACE)
        for requirement, name in named
        if isinstance(name, str)
    )


_FIELDS = ((_KUBECONFIG, "secretRef"), (_IDENTITY, "identitySecretRef"))


def access(block: Cluster, request: Request) -> Access:
    """Return access by the Secrets, and what they lack."""
    kubeconfig = SecretKey(block.secretRef.name, block.secretRef.key)
    missing = [_fault(request, _KUBECONFIG, kubeconfig)]
    identity = None
    if block.identitySecretRef:
        reference = block.identitySecretRef
        identity = reference.type, SecretKey(reference.name, reference.key)
        missing.append(_fault(request, _IDENTITY, identity[1]))
    return Access(kubeconfig, identity, tuple(fault for fault in missing if fault))


def storage_class(block: Cluster, _request: Request) -> str | None:
    """Return the StorageClass that the user names."""
    return block.cache.storageClassName if block.cache else None


def _fault(request: Request, requirement: str, secret: SecretKey) -> str | None:
    """Return what a Secret lacks; None if it lacks nothing, or was not looked up yet."""
    answer = request.required.get(requirement)
    where = f"Secret {names.SYSTEM_NAMESPACE}/{secret.name}"
    if answer is None:
        return None
    if not answer:
        return f"{where} does not exist"
    has_key = any(dig(answer[0], field, secret.key) is not None for field in ("data", "stringData"))
    return None if has_key else f"{where} has no key {secret.key}"
