"""What the provider reports of what Nebius has made, for the embedded control plane."""

from __future__ import annotations

from function.clouds.nebius.facts import CLUSTER, KUBECONFIG_KEY
from function.contracts.cloud.provisioner import Observation
from function.core import Manifest, dig

_KUBECONFIG = "apiVersion: v1\nkind: Config\n"


def observe(manifest: Manifest) -> Observation:
    """Return the id of a managed resource, and of a control plane its version and kubeconfigs."""
    identity = {"id": f"{manifest['kind'].lower()}-{manifest['metadata']['name']}"}
    if manifest["kind"] != CLUSTER.kind:
        return Observation(at_provider=identity, invented=(identity["id"],))
    version = dig(manifest, "spec", "forProvider", "controlPlane", "version")
    status = {"controlPlane": {"version": f"{version}.0-nebius-cp.1"}, "state": "RUNNING"}
    keys = (KUBECONFIG_KEY, f"{KUBECONFIG_KEY}.private", f"{KUBECONFIG_KEY}.public")
    return Observation(
        at_provider={**identity, "status": status},
        connection=dict.fromkeys(keys, _KUBECONFIG),
        invented=(identity["id"],),
    )
