"""What Azure's provider reports of managed resources, for the embedded control plane."""

from __future__ import annotations

from typing import Any

from function.clouds.aks import managed
from function.clouds.aks.resources import KUBECONFIG
from function.contracts.cloud.provisioner import Observation
from function.core import Manifest, dig

_ADDRESS = "192.0.2.1"
"""For documentation (RFC 5737)."""
_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


def observe(manifest: Manifest) -> Observation:
    """Return the observation of a managed resource that exists."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    found: dict[str, Any] = {"id": f"/subscriptions/{_SUBSCRIPTION}/{kind}/{name}"}
    if kind == managed.IDENTITY.kind:
        found["principalId"] = f"principal-of-{name}"
    if kind == managed.PUBLIC_IP.kind:
        found["ipAddress"] = _ADDRESS
    invented = tuple(found.values())
    if kind == managed.CLUSTER.kind:
        version = str(dig(manifest, "spec", "forProvider", "kubernetesVersion"))
        found["currentKubernetesVersion"] = version if version.count(".") > 1 else f"{version}.0"
        return Observation(at_provider=found, connection={KUBECONFIG: f"a kubeconfig of {name}"}, invented=invented)
    return Observation(at_provider=found, invented=invented)
