"""The sources of clusters: clouds that make them, and clusters that exist already.

A source is a folder here and a line in the table below; function/contracts/cloud has the contract. No source
imports another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias

from function.contracts.cloud import composition
from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.nodepool import NodePool, Taints
from function.contracts.cloud.provisioner import Observation, Package, Provisioner
from function.contracts.cloud.source import KEY, Access, SecretKey, Source
from function.core import Composer
from function.schema import Member

_FOLDERS = (
    "gke",
    "eks",
    "aks",
    "nebius",
    "vultr",
    "existing",
)
"""The table of sources, each by the name of its folder, in the order in which the API lists them."""


def _source(folder: str) -> Source:
    found = import_module(f"{__name__}.{folder}").SOURCE
    assert isinstance(found, Source), folder
    return found


SOURCES: tuple[Source, ...] = tuple(map(_source, _FOLDERS))
BY_NAME: Mapping[str, Source] = {source.name: source for source in SOURCES}
PROVISIONED: tuple[Source, ...] = tuple(source for source in SOURCES if source.is_provisioned)
PROVISIONERS: tuple[Provisioner, ...] = tuple(source.provisioner for source in SOURCES if source.provisioner)

if TYPE_CHECKING:
    SourceName: TypeAlias = str
    ProviderName: TypeAlias = str
else:
    SourceName = Literal[tuple(BY_NAME)]
    ProviderName = Literal[tuple(source.name for source in PROVISIONED)]


def kinds() -> tuple[ModuleType, ...]:
    """Return the model modules of the kinds by which clouds make clusters."""
    return tuple(provisioner.model for provisioner in PROVISIONERS)


def composers() -> tuple[Composer, ...]:
    """Return the composers of those kinds."""
    return tuple(map(composition.composer, PROVISIONERS))


def managed_kinds() -> Iterator[ManagedKind]:
    """Yield every kind of managed resource that clouds compose, each once, in the order of the table."""
    yield from dict.fromkeys(kind for provisioner in PROVISIONERS for kind in provisioner.managed)


def packages() -> Iterator[Package]:
    """Yield every provider that clouds need, each once, in the order of the table."""
    yield from dict.fromkeys(package for provisioner in PROVISIONERS for package in provisioner.packages)


# For the models in function/api


def cluster_members() -> tuple[Member, ...]:
    """Return the blocks of spec.cluster of an InferenceCluster."""
    return tuple(Member(source.name, source.cluster) for source in SOURCES)


def machine_members() -> tuple[Member, ...]:
    """Return the blocks of spec.provisioning of an InferenceClass."""
    return tuple(Member(source.name, source.machine) for source in SOURCES if source.machine)


__all__ = [
    "BY_NAME",
    "KEY",
    "PROVISIONED",
    "PROVISIONERS",
    "SOURCES",
    "Access",
    "ManagedKind",
    "NodePool",
    "Observation",
    "Package",
    "ProviderName",
    "Provisioner",
    "SecretKey",
    "Source",
    "SourceName",
    "Taints",
    "cluster_members",
    "composers",
    "kinds",
    "machine_members",
    "managed_kinds",
    "packages",
]
