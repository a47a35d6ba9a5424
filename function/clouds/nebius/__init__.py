"""Managed Kubernetes of Nebius."""

from __future__ import annotations

from function.clouds.nebius import model
from function.clouds.nebius.blocks import Cluster, Machine
from function.clouds.nebius.facts import MANAGED, PACKAGE, PROVIDER, SERVICE_ACCOUNT
from function.clouds.nebius.faults import cluster_faults, pool_faults
from function.clouds.nebius.observe import observe
from function.clouds.nebius.resources import resources, secrets, storage_class
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import Provisioner
from function.contracts.cloud.source import Source

_ASSUMED_PROJECT = "project-assumed"
_ASSUMED_SECRET = {"namespace": "crossplane-system", "name": "nebius", "key": "credentials"}

SOURCE = Source(
    name="Nebius",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    fabrics=frozenset({"InfiniBand"}),
    # nebius/nebius-solution-library, load balancers of Managed Kubernetes
    internal_load_balancer={"nebius.com/load-balancer-type": "internal"},
    provisioner=Provisioner(
        model=model,
        provider=PROVIDER,
        managed=MANAGED,
        packages=(PACKAGE,),
        resources=resources,
        secrets=secrets,
        storage=storage_class,
        assumed_config={
            "projectID": _ASSUMED_PROJECT,
            "identity": {"type": SERVICE_ACCOUNT},
            "credentials": {"source": "Secret", "secretRef": _ASSUMED_SECRET},
        },
        invented=(_ASSUMED_PROJECT,),
        pool_faults=pool_faults,
        cluster_faults=cluster_faults,
        observe=observe,
    ),
)
