"""What Google's provider reports of the managed resources of a cluster, for the embedded control plane."""

from __future__ import annotations

from function.contracts.cloud.provisioner import Observation
from function.core import Manifest, dig, dig_list
from function.manifests import managed

_PROJECT = "example-project"
ASSUMED_CONFIG = {"projectID": _PROJECT, "credentials": {"source": "InjectedIdentity"}}
"""The spec of a provider config that nobody has looked up."""
INVENTED = (_PROJECT, f"{_PROJECT}.svc.id.goog")
"""The project, and the workload identity pool that every project has."""


def observe(manifest: Manifest) -> Observation:
    """See Provisioner.observe."""
    name = managed.external_name(manifest) or manifest["metadata"]["name"]
    at_provider: dict[str, object] = {"id": f"projects/{_PROJECT}/{manifest['kind'].lower()}s/{name}"}
    connection: dict[str, str] = {}
    invented = [str(at_provider["id"])]
    if manifest["kind"] == "ServiceAccount":
        at_provider["email"] = f"{name}@{_PROJECT}.iam.gserviceaccount.com"
        invented.append(str(at_provider["email"]))
    elif manifest["kind"] == "ServiceAccountKey":
        connection["private_key"] = '{"type": "service_account"}'
    elif manifest["kind"] == "Cluster":
        wanted, region = dig(manifest, "spec", "forProvider"), dig(manifest, "spec", "forProvider", "location")
        at_provider["nodeLocations"] = list(dig_list(wanted, "nodeLocations") or (f"{region}-{z}" for z in "abc"))
        connection["kubeconfig"] = f"a kubeconfig of {name}"
    return Observation(at_provider=at_provider, connection=connection, invented=tuple(invented))
