"""What is put on a GKE cluster beside the serving stack is accepted by Kubernetes, and as Google documents it."""

from __future__ import annotations

import pytest

from function.clouds import BY_NAME
from function.clouds.gke import driver, storage
from function.clouds.gke.model import Spec
from function.clouds.gke.pools import DRA_LABELS
from function.core import dig
from tests.support import foreign


def spec(**block: object) -> Spec:
    pools = [{"name": "a", "className": "l4", "machine": {"machineType": "g2-standard-8"}}]
    return Spec.model_validate({"clusterName": "iowa", "region": "us-central1", "nodePools": pools, **block})


@pytest.mark.parametrize(
    "manifest",
    [driver.installer(), storage.csi_driver(), storage.storage_class(spec(), "vpc")],
    ids=lambda manifest: str(manifest["kind"]),
)
def test_kubernetes_takes_it(manifest: dict[str, object]) -> None:
    assert foreign.problems(manifest) == []


def test_the_driver_is_installed_where_dra_looks_for_it() -> None:
    pod = dig(driver.installer(), "spec", "template", "spec")
    installer = pod["initContainers"][0]
    environment = {entry["name"]: entry["value"] for entry in installer["env"]}
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    mounts = {paths[mount["name"]]: mount["mountPath"] for mount in installer["volumeMounts"]}

    assert pod["nodeSelector"].items() <= DRA_LABELS.items()
    assert environment["NVIDIA_INSTALL_DIR_HOST"] == BY_NAME["GKE"].driver_root
    for part in ("NVIDIA_INSTALL_DIR", "VULKAN_ICD_DIR", "COS_TOOLS_DIR"):
        assert mounts[environment[f"{part}_HOST"]] == environment[f"{part}_CONTAINER"]


def test_a_tier_has_a_class_of_its_own() -> None:
    """Kubernetes changes no parameters of a StorageClass."""
    of = {tier: storage.class_name(spec(cache={"tier": tier})) for tier in ("basic_hdd", "zonal", "enterprise")}

    assert of == {
        "basic_hdd": "modelplane-filestore-basic-hdd",
        "zonal": "modelplane-filestore-zonal",
        "enterprise": "modelplane-filestore-enterprise",
    }
    assert storage.storage_class(spec(), "vpc")["parameters"] == {"tier": "zonal", "network": "vpc"}
