"""A cloud that is only a Provisioner, and what Crossplane and a provider do with what its composer says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Annotated, Any

from annotated_types import Len

from function import schema
from function.contracts.cloud import composition, provisioned
from function.contracts.cloud.blocks import Credentials
from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import ClusterFaults, PoolFaults, Provisioner, PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site
from function.core import Composer, Manifest, Request, Result, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import versions

PROVIDER = "sky.m.example.org/v1beta1"
NET = ManagedKind(api_version=PROVIDER, kind="Net", plural="nets", immutable=("cidr", "options.mode"))
CLUSTER = ManagedKind(api_version=PROVIDER, kind="Cluster", plural="clusters", references={"netRef": "Net"})
POOL = ManagedKind(
    api_version=PROVIDER,
    kind="Pool",
    plural="pools",
    references={"clusterRef": "Cluster", "netRefs": "Net"},
    immutable=("clusterRef",),
)
OWNER = {
    "apiVersion": versions.MODELPLANE,
    "kind": "InferenceCluster",
    "name": "prod",
    "uid": "1",
    "controller": True,
}
CONFIG = {
    "apiVersion": PROVIDER,
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"credentials": {"source": "InjectedIdentity"}},
}


class Machine(schema.Api):
    size: str = "small"


class Pool(provisioned.Pool):
    machine: Machine = Machine()


class Spec(schema.Api):
    clusterName: schema.XrName = "prod"
    credentials: Credentials = Credentials()
    kubernetesVersion: schema.KubernetesVersion | None = None
    nodePools: Annotated[tuple[Pool, ...], Len(0, 16)] = ()


MODEL = ModuleType("sky")
MODEL.__dict__.update(
    API_VERSION=versions.INFRASTRUCTURE,
    KIND="SkyCluster",
    Spec=Spec,
)

Resources = Callable[[Site, Spec], Iterable[Resource]]


def composer(
    resources: Resources,
    secrets: Sequence[PublishedSecret] = (),
    storage: Storage | None = None,
    cluster_faults: ClusterFaults = lambda _block, _pools: (),
    pool_faults: PoolFaults = lambda _block, _pool, _machine: (),
) -> Composer:
    """A composer of some resources."""
    return composition.composer(
        Provisioner(
            model=MODEL,
            provider=PROVIDER,
            managed=(NET, CLUSTER, POOL),
            packages=(),
            resources=resources,
            secrets=lambda _site, _spec: secrets,
            storage=lambda _site, _spec: storage,
            cluster_faults=cluster_faults,
            pool_faults=pool_faults,
        )
    )


def xr(status: Mapping[str, Any] | None = None, uid: str | None = "one", **spec: Any) -> dict[str, Any]:
    """The composite, with a spec and a status."""
    metadata: dict[str, Any] = {"name": "prod-1", "namespace": "modelplane-system", "ownerReferences": [OWNER]}
    return {
        "apiVersion": versions.INFRASTRUCTURE,
        "kind": "SkyCluster",
        "metadata": {**metadata, **({"uid": uid} if uid else {})},
        "spec": {"clusterName": "prod", **spec},
        **({"status": dict(status)} if status else {}),
    }


def made(manifest: Manifest, *, ready: bool = True, at: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A resource as it is observed. `more` are further conditions, each with its message as an error."""
    failed = [{"type": type_, "status": "False", "message": message} for type_, message in more.items()]
    conditions = [{"type": "Ready", "status": str(ready)}, *failed]
    return {**plain(manifest), "status": {"conditions": conditions, **({"atProvider": at} if at else {})}}


@dataclass(slots=True)
class World:
    """What exists, and what a pass of Crossplane makes of it.

    It creates and updates what is desired. Of what is not, it deletes one after another in any order, and stops at the
    first delete that a Usage refuses, as Crossplane does. A resource that is deleted is gone at once.
    """

    composer: Composer
    objects: Sequence[Manifest] = (CONFIG,)
    seed: int = 0
    observed: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Keys of what was deleted, in order, without Usages."""
    refused: list[str] = field(default_factory=list)
    """Keys of what a Usage refused to delete."""

    def asked(self, **spec: Any) -> Result:
        """What the composer says."""
        request = Request(xr=xr(self.status, **spec), observed=self.observed)
        return settle(self.composer, request, self.objects)

    def step(self, ready: Callable[[str], bool] = lambda _key: True, **spec: Any) -> Result:
        """One pass, after which what exists is ready or not."""
        result = self.asked(**spec)
        self._collect(result)
        for key, composed in result.resources.items():
            self.observed[key] = made(composed.manifest, ready=ready(key))
        self.status = plain(result.status)
        return result

    def settle(self, most: int = 20, **spec: Any) -> Result:
        """Passes until one changes nothing."""
        for _ in range(most):
            before = plain(self.observed)
            result = self.step(**spec)
            if self.observed == before:
                return result
        raise AssertionError(f"still changing after {most} passes")

    def _collect(self, result: Result) -> None:
        undesired = sorted(self.observed.keys() - result.resources.keys())
        random.Random(self.seed).shuffle(undesired)
        for key in undesired:
            if self._is_used(self.observed[key]):
                self.refused.append(key)
                return
            if self.observed.pop(key)["kind"] != "Usage":
                self.gone.append(key)

    def _is_used(self, manifest: Manifest) -> bool:
        name = manifest["metadata"]["name"]
        return any(dig(m, "spec", "of", "resourceRef", "name") == name for m in self.observed.values())
