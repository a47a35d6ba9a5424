"""What Vultr's provider reports of managed resources in the embedded control plane."""

from __future__ import annotations

from function.clouds.vultr.facts import KUBECONFIG, KUBERNETES
from function.contracts.cloud.provisioner import Observation
from function.core import Manifest, dig


def observe(manifest: Manifest) -> Observation:
    """Return what is reported of a managed resource. See Provisioner.observe."""
    name = manifest["metadata"]["name"]
    id_ = f"id-of-{name}"
    if manifest["kind"] != KUBERNETES.kind:
        return Observation(at_provider={"id": id_, "status": "active"}, invented=(id_,))
    made = {"id": id_, "status": "active", "version": dig(manifest, "spec", "forProvider", "version")}
    return Observation(at_provider=made, connection={KUBECONFIG: f"kubeconfig of {name}"}, invented=(id_,))
