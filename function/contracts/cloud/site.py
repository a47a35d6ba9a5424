"""A cloud's composite while it is being composed: names of its resources, what was observed of them, and builders.

A cloud describes its cluster as Resources, each under a key that says what it is: `network`, `cluster`, `pool-gpu`.
Resources refer to each other by name (`Site.ref`), never by selector: a selector with matchControllerRef alone matches
every sibling of a kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.contracts.cloud.blocks import Credentials
from function.contracts.cloud.kubernetes import minor, numbers
from function.contracts.cloud.managedkind import ManagedKind
from function.core import InvalidSpec, Manifest, Request, dig
from function.manifests import helm, managed, provider, secret
from function.vocabulary import conditions as c
from function.vocabulary import labels, names
from function.vocabulary.charts import Chart

TAG = "modelplane-cluster"
"""Key of the tag or label on everything in a cloud: the InferenceCluster. It has no slash, which some clouds refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something that a cloud's composite composes."""

    key: str
    """What it is in the cluster. It never changes from release to release: under another key, Crossplane makes it anew,
    and deletes the one that is there."""
    manifest: Mapping[str, Any] | None
    """None while a value that it needs is not known. Then it stays as it is observed, or is not composed yet."""
    after: tuple[str, ...] = ()
    """Keys of resources that must be ready before it is created, and that are deleted after it. Those that it refers to
    need not be named: the provider waits for them, and they are deleted after it in any case."""
    awaits: str = ""
    """What is not known yet, as in `the id of the security group of the cluster`."""
    kind: ManagedKind | None = None
    """Kind of a managed resource; None for an Object or a Release on the cluster, and for a Secret."""
    is_ready_at_once: bool = False
    """Whether it is ready once it exists: it never has a condition Ready."""


@dataclass(frozen=True, slots=True)
class Site:
    """The composite of a request."""

    request: Request
    cluster: str
    """Name of the InferenceCluster."""
    credentials: Credentials
    """Provider config with whose rights everything is made."""

    @property
    def tags(self) -> dict[str, str]:
        """The tags of everything that can have some."""
        return {TAG: names.label_value(self.cluster)}

    def name(self, key: str) -> str:
        """Return the name of a resource, which need not exist yet: a DNS label of at most 63 characters.

        It depends on the UID of the composite, so that two control planes that use one account never take each other's
        resources for their own. What exists keeps its name: a restored composite has another UID.
        """
        observed = dig(self.request.observed.get(key), "metadata", "name")
        return str(observed) if observed else self._new_name(key)

    def _new_name(self, key: str, longest: int = names.DNS_LABEL) -> str:
        kind, uid = self.request.xr["kind"], dig(self.request.xr, "metadata", "uid")
        identity = (kind, *self.request.identity, str(uid or ""), key)
        return names.derived(f"{self.cluster}-{key}", *identity, longest=longest)

    def cloud_name(self, key: str, *, longest: int = names.DNS_LABEL) -> str:
        """Return the cloud's name for a resource whose name there is limited to `longest` characters, for
        `external_name`. What exists keeps its name.
        """
        return self.external_name(key) or self._new_name(key, longest)

    def secret(self, key: str) -> str:
        """Return the name of the Secret to which the resource of a key writes its connection details."""
        return self.name(key)

    def ref(self, key: str) -> dict[str, str]:
        """Return a reference to a resource, for a field that ends with Ref."""
        return {"name": self.name(key)}

    def refs(self, keys: Sequence[str]) -> list[dict[str, str]]:
        """Return references, for a field that ends with Refs. The plain list beside that field must stay empty."""
        return [self.ref(key) for key in keys]

    def external_name(self, key: str) -> str | None:
        """Return the cloud's name for a resource; None before the cloud has made it."""
        return managed.external_name(self.request.observed.get(key) or {})

    def seen(self, key: str, *path: str | int) -> Any:
        """Return a value below status.atProvider of a resource; None while it is not known."""
        return dig(self.request.observed.get(key), "status", "atProvider", *path)

    def written(self, key: str, *path: str | int) -> Any:
        """Return a value below spec.forProvider of an observed resource; None where there is none.

        A default that changes from release to release, such as a version, is for new clusters: what exists keeps what
        was written for it.
        """
        return dig(self.request.observed.get(key), "spec", "forProvider", *path)

    def kubernetes_version(self, key: str, wanted: str | None, default: str, *path: str) -> str:
        """Return the Kubernetes version that a resource is to have.

        Args:
            key: Key of the resource.
            wanted: What the user asks for, such as 1.36; None for any. A cluster that has a patch of it keeps that.
            default: The version of a new cluster. One that exists keeps its version until the user asks for another.
            path: Where spec.forProvider of the resource has the version.

        Raises:
            InvalidSpec: The version is older than that of the cluster, or skips a minor one.
        """
        running = self.written(key, *path)
        if not isinstance(running, str):
            return wanted or default
        if wanted is None or numbers(running)[: len(numbers(wanted))] == numbers(wanted):
            return running
        if minor(wanted) - minor(running) > 1 or numbers(wanted) < numbers(running):
            problem = f"the cluster runs {running}, which is upgraded one minor version at a time and never back"
            raise InvalidSpec(c.INVALID_CLUSTER(field="spec.kubernetesVersion", problem=f"{problem}, not to {wanted}"))
        return wanted

    def resource(
        self,
        key: str,
        kind: ManagedKind,
        for_provider: Mapping[str, Any],
        *,
        init_provider: Mapping[str, Any] | None = None,
        after: Sequence[str] = (),
        external_name: str | None = None,
        has_secret: bool = False,
        late_initialization: bool = True,
    ) -> Resource:
        """Return a managed resource.

        Args:
            key: Its key.
            kind: Its kind.
            for_provider: What the cloud is to have.
            init_provider: What the cloud is to have at creation only, such as the size of what an autoscaler scales.
            after: See Resource.
            external_name: The cloud's name for it, where that differs from its own name. Never changes.
            has_secret: Whether the provider writes connection details to the Secret `self.secret(key)`.
            late_initialization: Whether the provider completes the spec by what the cloud says. It never does with
                `init_provider`. Where a field is given up for another, it would bring the old one back.
        """
        manifest = managed.managed_resource(
            api_version=kind.api_version,
            kind=kind.kind,
            name=self.name(key),
            namespace=self.request.identity.namespace,
            labels=self._labels(),
            provider_config={"kind": self.credentials.type, "name": self.credentials.name},
            for_provider=for_provider,
            init_provider=init_provider,
            external_name=external_name,
            secret=self.secret(key) if has_secret else None,
            management_policies=() if late_initialization and not init_provider else managed.NO_LATE_INITIALIZATION,
        )
        return Resource(key=key, manifest=manifest, after=tuple(after), kind=kind)

    def awaiting(self, key: str, kind: ManagedKind | None, what: str, *, after: Sequence[str] = ()) -> Resource:
        """Return a resource that cannot be written before something else is known."""
        return Resource(key=key, manifest=None, after=tuple(after), awaits=what, kind=kind)

    def object(
        self, key: str, manifest: Manifest, *, after: Sequence[str], readiness_cel: str | None = None
    ) -> Resource:
        """Return an Object on the cluster. `after` names what the cluster is reached by, at least.

        It is not deleted on the cluster: that is deleted as a whole, and its kubeconfig before that.
        """
        written = provider.object_(
            name=self.name(key),
            namespace=self.request.identity.namespace,
            labels=self._labels(),
            provider_config=names.provider_config(self.cluster),
            manifest=manifest,
            readiness_cel=readiness_cel,
            management_policies=provider.KEEP_REMOTE,
        )
        return Resource(key=key, manifest=written, after=tuple(after))

    def plain_secret(self, key: str, data: Mapping[str, str]) -> Resource:
        """Return a Secret with texts that are not secret, for a managed resource that reads them from nowhere else."""
        written = secret.opaque(
            name=self.name(key), namespace=self.request.identity.namespace, labels=self._labels(), data=data
        )
        return Resource(key=key, manifest=written, is_ready_at_once=True)

    def release(self, key: str, chart: Chart, values: Mapping[str, Any], *, after: Sequence[str]) -> Resource:
        """Return a Release of a chart on the cluster, which is not uninstalled. `after` is as for `object`."""
        written = helm.release(
            name=self.name(key),
            namespace=self.request.identity.namespace,
            labels=self._labels(),
            provider_config=names.provider_config(self.cluster),
            chart=chart,
            values=values,
            management_policies=provider.KEEP_REMOTE,
        )
        return Resource(key=key, manifest=written, after=tuple(after))

    def _labels(self) -> dict[str, str]:
        return {labels.CLUSTER: names.label_value(self.cluster)}
