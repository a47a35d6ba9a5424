"""Amazon Elastic Kubernetes Service."""

from __future__ import annotations

from function.clouds.eks import dra, faults, kinds, model
from function.clouds.eks.blocks import Cluster, Machine
from function.clouds.eks.observe import observe
from function.clouds.eks.resources import resources, secrets, storage_class
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import Provisioner
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="EKS",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    zones=True,
    # Auto Scaling user guide, "Availability Zone rebalancing"; EKS offers no switch for it
    rebalances_zones=True,
    capacity_blocks=True,
    fabrics=frozenset({"EFA"}),
    # The first is for the controller in Kubernetes' cloud provider, which every cluster has and which knows no other
    # (cloud-provider-aws, pkg/providers/v1/aws.go). The second is for the AWS Load Balancer Controller, if a user
    # installs it.
    internal_load_balancer={
        "service.beta.kubernetes.io/aws-load-balancer-internal": "true",
        "service.beta.kubernetes.io/aws-load-balancer-scheme": "internal",
    },
    # Kubernetes' controller makes Classic Load Balancers, which close connections after 60 idle seconds unless told
    # otherwise; 3600 is the most (ELB API, ConnectionSettings)
    load_balancer={"service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout": "3600"},
    driver_charts=dra.CHARTS,
    provisioner=Provisioner(
        model=model,
        provider=kinds.PROVIDER,
        managed=kinds.ALL,
        packages=kinds.PACKAGES,
        resources=resources,
        secrets=secrets,
        storage=storage_class,
        assumed_config=kinds.ASSUMED_CONFIG,
        pool_faults=faults.of_pool,
        cluster_faults=faults.of_cluster,
        scales_from_zero=False,
        observe=observe,
    ),
)
