"""The hardware of a node: its devices, and how a cloud makes such nodes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen
from pydantic import Field

from function import cel, clouds, schema
from function.core import InvalidSpec, Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "InferenceClass"
PLURAL = "inferenceclasses"
SHORT_NAMES = ("icl",)
SCOPE = "Cluster"
AUDIENCE = schema.Audience.PLATFORM
COLUMNS = (
    schema.Column("PROVIDER", "string", ".spec.provisioning.provider"),
    schema.Column("DEVICES", "string", ".status.devices"),
)

_MOST_BYTES = 64
"""Of an attribute's string (k8s.io/api v0.36, resource/v1, DeviceAttributeMaxValueLength)."""
ATTRIBUTE_KINDS = ("string", "version", "bool", "int")


class Attribute(schema.Api):
    RULES = (
        Rule(
            " + ".join(f"(has(self.{kind}) ? 1 : 0)" for kind in ATTRIBUTE_KINDS) + " == 1",
            "an attribute has exactly one of string, version, bool and int",
            lambda attribute: sum(getattr(attribute, kind) is not None for kind in ATTRIBUTE_KINDS) == 1,
        ),
    )

    string: (
        Annotated[
            str,
            schema.Text(
                64,
                words="a string of at most 64 bytes",
                shortest=0,
                cel="bytes(self).size() <= 64",
                holds=lambda text: len(text.encode(errors="surrogatepass")) <= _MOST_BYTES,
            ),
        ]
        | None
    ) = None
    """A string of up to 64 bytes."""
    version: schema.Version | None = None
    """A version. Selectors compare it by its numbers."""
    bool: schema.Flag | None = None
    """Value of an attribute that is true or false."""
    int: schema.Int64 | None = None
    """Value of an attribute that is a whole number."""


class Capacity(schema.Api):
    value: schema.Quantity
    """Quantity that one device has, such as 80Gi."""


class Device(schema.Api):
    RULES = (
        Rule(
            "(has(self.claim) && self.claim == 'Synthetic') || has(self.deviceClassName)",
            "a device that is claimed through DRA needs a deviceClassName",
            lambda device: device.claim == "Synthetic" or device.deviceClassName is not None,
            at="deviceClassName",
        ),
    )

    name: schema.DnsLabel
    """Name of the device."""
    claim: Literal["DRA", "Synthetic"] = "DRA"
    """How pods claim the device. DRA: by resource claims. Synthetic: not at all; it only describes the node."""
    driver: Annotated[str, schema.Text(63, schema.SUBDOMAIN, "a DNS name, such as gpu.nvidia.com")]
    """DRA driver that publishes the device. It is the domain of attributes that name none."""
    deviceClassName: schema.DnsSubdomain | None = None
    """DeviceClass by which the device is claimed."""
    count: Annotated[int, schema.Whole(1, 64)] = 1
    """Number of such devices on a node."""
    attributes: Annotated[dict[str, Attribute], MaxLen(32), schema.QUALIFIED_KEYS] = Field(default_factory=dict)
    """Attributes that the driver publishes, by name or domain/name."""
    capacity: Annotated[dict[str, Capacity], MaxLen(32), schema.QUALIFIED_KEYS] = Field(default_factory=dict)
    """Capacities of the device, by name or domain/name."""


@schema.union("provider", clouds.machine_members())
class Provisioning(schema.Api):
    provider: clouds.ProviderName
    """Cloud that can make such nodes."""


class Spec(schema.Api):
    description: Annotated[str, schema.Text(1024, shortest=0)] | None = None
    """Description of the node, for people."""
    devices: Annotated[tuple[Device, ...], Len(1, 16), schema.ListMap()]
    """Devices of one node."""
    node: Annotated[dict[str, schema.Quantity], MaxLen(3), schema.RESOURCE_KEYS] = Field(default_factory=dict)
    """What one node has for the pods of replicas: cpu, memory and ephemeral-storage, each the node's allocatable amount
    without what DaemonSets request. The scheduler counts the requests of pods for the resources that are given here."""
    provisioning: Provisioning | None = None
    """How a cloud makes such nodes. If omitted, only existing clusters can have them."""

    @property
    def drivers(self) -> frozenset[str]:
        """DRA drivers of the devices that pods claim."""
        return frozenset(device.driver for device in self.devices if device.claim == "DRA")

    def machine(self, source: clouds.Source) -> schema.Api | None:
        """Return the block that tells how a source makes such nodes; None where there is none."""
        block: schema.Api | None = getattr(self.provisioning, source.block, None)
        return block


class Status(schema.Status):
    devices: str | None = None
    """Summary of the devices of a node, such as 8 gpu, 8 nic."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec; for a device also where only Kubernetes' own reading of it tells."""
    under = {"devices": c.INVALID_DEVICE, "provisioning": c.INVALID_PROVISIONING}
    spec = schema.parse(Spec, xr, invalid=c.INVALID_CLASS, under=under)
    for index, device in enumerate(spec.devices):
        fault = device_fault(device)
        if fault:
            raise InvalidSpec(c.INVALID_DEVICE(field=f"spec.devices[{index}]", problem=fault))
    return spec


MOST_FACTS = 32
"""Attributes and capacities of one device together (resource.k8s.io/v1, ResourceSlice)."""


def device_fault(device: Device) -> str | None:
    """What Kubernetes would not take of a device in a ResourceSlice; None where it would take it."""
    names = [*device.attributes, *device.capacity]
    if len(names) > MOST_FACTS:
        return f"{len(names)} attributes and capacities, and {MOST_FACTS} is the most"
    return cel.device_fault(
        cel.Device(
            driver=device.driver,
            attributes=tuple((name, _value(attribute)) for name, attribute in sorted(device.attributes.items())),
            capacity=tuple((name, str(amount.value)) for name, amount in sorted(device.capacity.items())),
        )
    )


def _value(attribute: Attribute) -> Any:
    """As CEL sees it: whichever of the four is there."""
    if attribute.version is not None:
        return cel.Version(attribute.version)
    given = (attribute.string, attribute.bool, attribute.int)
    return next(value for value in given if value is not None)
