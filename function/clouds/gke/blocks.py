"""The blocks of the API that GKE reads."""

from __future__ import annotations

from typing import Annotated, Literal

from function import schema
from function.contracts.cloud.blocks import ApiServer, Credentials, DiskSize, Zones, keeps


class Network(schema.Api):
    """Address ranges of a cluster, of private IPv4 addresses that do not overlap."""

    cidr: schema.Cidr = "10.0.0.0/20"
    """Range of the nodes. Each node, the control plane and each internal load balancer takes one address."""
    podCidr: schema.Cidr = "10.16.0.0/13"
    """Range of the pods. Each GPU node takes 128 addresses."""
    serviceCidr: schema.Cidr = "10.8.0.0/20"
    """Range of the Services, of 256 to 65536 addresses."""


class Cache(schema.Api):
    tier: Literal["basic_hdd", "basic_ssd", "zonal", "regional", "enterprise"] = "zonal"
    """Service tier of the Filestore instances that hold ModelCaches. Each ModelCache has an instance of its own, of at
    least 1 TiB."""


class SystemPool(schema.Api):
    machineType: schema.CloudName = "e2-standard-4"
    """Machine type without accelerators, of architecture x86_64."""


class Cluster(schema.Api):
    """Settings of a cluster that GKE makes."""

    RULES = keeps("region", "zones", "network", "cache", "systemPool")

    region: schema.CloudName
    """Region, such as us-central1."""
    zones: Zones = ()
    """Zones of nodes whose pool names none, such as us-central1-a. Defaults to the zones that GKE chooses."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version, 1.34 or newer. Defaults to the one that Modelplane is tested with."""
    network: Network = Network()
    """Network of the cluster."""
    apiServer: ApiServer = ApiServer()
    """Access to the API server."""
    systemPool: SystemPool = SystemPool()
    """Machines for everything that needs no device."""
    cache: Cache = Cache()
    """Storage for ModelCaches: Filestore volumes that many nodes mount."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster. It must name the project, as projectID."""


_NAME = "[a-z]([-a-z0-9]*[a-z0-9])?"
Reservation = Annotated[
    str,
    schema.Text(
        300,
        rf"^(projects/[a-z0-9.:-]+/reservations/)?{_NAME}(/reservationBlocks/{_NAME}(/reservationSubBlocks/{_NAME})?)?$",
        "a reservation, such as h200, or one of another project, as in projects/p/reservations/h200",
    ),
]
"""As values of a reservation affinity have it (GKE API, ReservationAffinity)."""


class Accelerator(schema.Api):
    type: Annotated[str, schema.Text(63, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "an accelerator, such as nvidia-l4")]
    """Google's name for the accelerator."""
    count: Annotated[int, schema.Whole(1, 16)]
    """Number of accelerators in a machine."""


class Machine(schema.Api):
    """How GKE makes nodes of the class."""

    machineType: schema.CloudName
    """Machine type, such as g2-standard-8."""
    diskSizeGb: DiskSize = 100
    """Size of the boot disk, in GB."""
    accelerator: Accelerator | None = None
    """Accelerators of a machine. Defaults to those that the machine type has."""
    reservation: Reservation | None = None
    """Reservation from which the nodes are taken. It is in one zone. Defaults to those that any machine may use, then
    machines that Google has left."""
