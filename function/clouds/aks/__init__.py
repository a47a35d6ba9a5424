"""Azure Kubernetes Service."""

from __future__ import annotations

from function.clouds.aks import managed, model
from function.clouds.aks.blocks import Cluster, Machine
from function.clouds.aks.faults import cluster_faults, pool_faults
from function.clouds.aks.observe import observe
from function.clouds.aks.resources import resources, secrets, storage_class
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import Provisioner
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="AKS",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    zones=True,
    # its documentation of internal load balancers
    internal_load_balancer={"service.beta.kubernetes.io/azure-load-balancer-internal": "true"},
    # minutes, 4 by default; 30 is the most that every version takes (AKS, load-balancer-standard)
    load_balancer={"service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout": "30"},
    # InfiniBand takes a feature of the subscription, which GB200 and GB300 must not have, and NVIDIA's network operator
    instead="; InfiniBand there needs host drivers that Modelplane does not install, so keep each engine on one node",
    provisioner=Provisioner(
        model=model,
        provider=managed.PROVIDER,
        managed=managed.KINDS,
        packages=managed.PACKAGES,
        resources=resources,
        secrets=secrets,
        storage=storage_class,
        assumed_config={"credentials": {"source": "OIDCTokenFile"}},
        pool_faults=pool_faults,
        cluster_faults=cluster_faults,
        scales_from_zero=False,
        observe=observe,
    ),
)
