"""Vultr Kubernetes Engine."""

from __future__ import annotations

from function.clouds.vultr import model
from function.clouds.vultr.blocks import Cluster, Machine
from function.clouds.vultr.facts import KUBERNETES, NODE_POOL, PACKAGE, PROVIDER
from function.clouds.vultr.faults import cluster_faults, pool_faults
from function.clouds.vultr.observe import observe
from function.clouds.vultr.resources import resources, secrets
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import Provisioner
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="Vultr",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    # modelplaneai/modelplane, compose-vultr-cluster: vultr-vfs-storage is the only class that many nodes mount. Its
    # serving stack for Vultr takes the chart's driver root: the image of the nodes has the driver, not the operator.
    no_storage="Vultr's shared file system cannot be mounted on GPU nodes, so the cluster takes no ModelCaches",
    provisioner=Provisioner(
        model=model,
        provider=PROVIDER,
        managed=(KUBERNETES, NODE_POOL),
        packages=(PACKAGE,),
        resources=resources,
        secrets=secrets,
        pool_faults=pool_faults,
        cluster_faults=cluster_faults,
        # vultr/kubernetes.go: node_quantity and min_nodes are at least 1
        scales_from_zero=False,
        observe=observe,
    ),
)
