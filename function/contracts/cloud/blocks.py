"""Fields that the blocks of several clouds share: credentials, access to the API server, zones, disk sizes, and fields
that never change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from annotated_types import MaxLen

from function import schema
from function.schema import Rule

Zones = Annotated[tuple[schema.CloudName, ...], MaxLen(8)]
DiskSize = Annotated[int, schema.Whole(10, 65536)]
"""Size of a machine's disk, in GB."""


class Credentials(schema.Api):
    type: Literal["ClusterProviderConfig", "ProviderConfig"] = "ClusterProviderConfig"
    """Kind of the provider config. A ProviderConfig is read from namespace modelplane-system."""
    name: schema.DnsSubdomain = "default"
    """Name of the provider config."""


class ApiServer(schema.Api):
    allowedSources: Annotated[tuple[schema.Cidr, ...], MaxLen(32)] = ()
    """Networks that may reach the API server of the cluster, of IPv4. The addresses from which the control cluster
    connects must be among them. Defaults to all networks."""

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, as pairs of a field relative to the block that holds `apiServer`, and a problem."""
        for index, source in enumerate(self.allowedSources):
            if ":" in source:
                yield f"apiServer.allowedSources[{index}]", f"must be an IPv4 network, not {source}"


def keeps(*fields: str) -> tuple[Rule, ...]:
    """Return the rules that fields of a cluster's block never change, nor come or go: those that are named, and
    `credentials`.

    No cloud moves a cluster: it would make an empty one, and delete the one that serves. In another account, a provider
    finds none of its resources, and makes them anew.
    """
    others = "others may be of another account; edit the provider config that they name"
    found = (_keeps(field, "make another InferenceCluster") for field in fields)
    return *found, _keeps("credentials", others)


def _keeps(field: str, instead: str) -> Rule:
    same = f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    return Rule(same, f"a cluster keeps its {field}; {instead}", None, at=field)
