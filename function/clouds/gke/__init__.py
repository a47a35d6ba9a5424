"""Google Kubernetes Engine. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds.gke import drivers
from function.clouds.gke.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="GKE",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    zones=True,
    internal_load_balancer={"networking.gke.io/load-balancer-type": "Internal"},  # its documentation of Services
    driver_root="/home/kubernetes/bin/nvidia",  # dra-driver-nvidia-gpu v0.4, docs
    driver_charts=drivers.CHARTS,
    before_drivers=drivers.before,
)
