"""Google Kubernetes Engine."""

from __future__ import annotations

from function.clouds.gke import dra, driver, facts, faults, model
from function.clouds.gke.blocks import Cluster, Machine
from function.clouds.gke.observe import ASSUMED_CONFIG, INVENTED, observe
from function.clouds.gke.resources import resources, secrets, storage_class
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import Provisioner
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="GKE",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    provisioner=Provisioner(
        model=model,
        provider=facts.PROVIDER,
        managed=facts.MANAGED,
        packages=facts.PACKAGES,
        resources=resources,
        secrets=secrets,
        storage=storage_class,
        assumed_config=ASSUMED_CONFIG,
        invented=INVENTED,
        pool_faults=faults.of_pool,
        cluster_faults=faults.of_cluster,
        observe=observe,
    ),
    zones=True,
    internal_load_balancer={"networking.gke.io/load-balancer-type": "Internal"},  # its documentation of Services
    driver_root=driver.ROOT,
    driver_charts=dra.CHARTS,
    before_drivers=dra.before,
)
