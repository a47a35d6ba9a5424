"""What a ServingStack composes, in this order.

1. CRDs of the Gateway API Inference Extension.
2. What the cloud needs before DRA drivers are installed.
3. A Release for each component (components.py), after the CRDs of an upgrade (upgrade.py).
4. The gateway of the cluster (gateway.py).
5. The observer of nodes and devices (observer.py).

A part is composed once the parts before it that it needs are ready, and stays from then on.

A cloud's load balancers are in the way of its networks, and go only while the cluster is there. So on a cluster that a
cloud makes, the Gateway is deleted before the cluster is, and then the Service of its load balancer, whose deletion
ends when the cloud has removed the load balancer. Nothing else on such a cluster is deleted on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from function import clouds
from function.api.servingstack import ORPHAN, Spec, has_observer, is_on
from function.core import ComposedResource, Request, dig_text
from function.kinds.servingstack import components, gateway, observer, upgrade
from function.manifests import definitions, helm, provider
from function.manifests import gateway as manifests
from function.manifests.metadata import metadata
from function.manifests.parts import Part, deletable, due, leaving, may_delete, usages
from function.vocabulary import labels, names, versions

GATEWAY = "gateway"
SERVICE = "gateway-service"
_CLASS = "gateway-class"
_NAMESPACE = "namespace"
_CONTROLLERS = ("envoy-gateway", "ai-gateway")


def parts(request: Request, spec: Spec, namespace: str) -> tuple[Part, ...]:
    """Return all parts, in order. `namespace` is the one of the stack, in which Objects and Releases are."""
    return (
        *_inference_extension(spec, namespace),
        *_before_drivers(spec, namespace),
        *_releases(request, spec, namespace),
        *_gateway(spec, namespace),
        *_observer(spec, namespace),
    )


def resources(request: Request, wanted: tuple[Part, ...], namespace: str) -> dict[str, ComposedResource]:
    """Return the parts that are due, the Usages that order their deletion, and what is leaving in this order."""
    composed = {p.key: ComposedResource(p.manifest, request.is_ready(p.key)) for p in due(request, wanted)}
    composed |= usages(request, composed, _OUTLIVES, namespace)
    return {**composed, **leaving(request, composed), **deletable(request, composed, observer.KEYS)}


_OUTLIVES = (
    ("envoy-gateway", _CLASS),
    ("envoy-gateway", GATEWAY),
    ("ai-gateway", GATEWAY),
    (_CLASS, GATEWAY),
    ("envoy-proxy", GATEWAY),
    (SERVICE, GATEWAY),
)
"""Pairs of keys: the first is deleted after the second. A GatewayClass with Gateways has a finalizer, which only Envoy
Gateway removes."""


def _policies(spec: Spec) -> Sequence[str]:
    """Without Delete on a provisioned cluster: everything on it is deleted with it, and its kubeconfig before that."""
    return provider.KEEP_REMOTE if _is_provisioned(spec) or _orphans(spec) else ()


def _is_provisioned(spec: Spec) -> bool:
    return clouds.BY_NAME[spec.source].is_provisioned


def _orphans(spec: Spec) -> bool:
    return spec.deletionPolicy == ORPHAN


def is_orphaning(request: Request) -> bool:
    """Return whether nothing that is observed would be deleted on the cluster along with the stack."""
    composed = (manifest for manifest in request.observed.values() if manifest["kind"] in ("Object", "Release"))
    return not any(may_delete(manifest) for manifest in composed)


def _object(
    spec: Spec,
    namespace: str,
    manifest: Mapping[str, Any],
    *,
    ready: str | None = None,
    policies: Sequence[str] | None = None,
) -> dict[str, Any]:
    """An Object. `policies` are its management policies, where they are not those of the rest of the stack."""
    remote = manifest["metadata"]
    return provider.object_(
        name=names.remote_object(spec.clusterName, manifest["kind"], remote.get("namespace", ""), remote["name"]),
        namespace=namespace,
        labels={labels.CLUSTER: names.label_value(spec.clusterName)},
        provider_config=spec.providerConfigRef.name,
        manifest=manifest,
        readiness_cel=ready,
        management_policies=_policies(spec) if policies is None else policies,
    )


def _inference_extension(spec: Spec, namespace: str) -> Iterator[Part]:
    if is_on(spec, "inferenceExtension"):
        for name, crd in definitions.bundle("function.kinds.servingstack").items():
            manifest = _object(spec, namespace, crd, ready=definitions.IS_ESTABLISHED, policies=provider.KEEP_REMOTE)
            yield Part(key=name.partition(".")[0], manifest=manifest)


def _before_drivers(spec: Spec, namespace: str) -> Iterator[Part]:
    for wanted in components.prerequisites(spec):
        policies = provider.KEEP_REMOTE if wanted.stays else None
        manifest = _object(spec, namespace, wanted.manifest, policies=policies)
        yield Part(key=wanted.key, manifest=manifest, after=wanted.after)


def _releases(request: Request, spec: Spec, namespace: str) -> Iterator[Part]:
    for row in components.wanted(spec):
        wanted = components.version(spec, row)
        for key, crd in upgrade.pending(request, row, wanted).items():
            manifest = _object(spec, namespace, crd, ready=definitions.IS_ESTABLISHED, policies=provider.KEEP_REMOTE)
            yield Part(key=key, manifest=manifest)
        manifest = helm.release(
            name=names.remote_object(spec.clusterName, "Release", row.chart.namespace, row.chart.release),
            namespace=namespace,
            labels={labels.CLUSTER: names.label_value(spec.clusterName)},
            provider_config=spec.providerConfigRef.name,
            chart=row.chart,
            version=upgrade.version(request, row, wanted),
            values=row.values(spec),
            management_policies=provider.KEEP_REMOTE if row.stays else _policies(spec),
        )
        yield Part(key=row.key, manifest=manifest, after=row.after)


def _gateway(spec: Spec, namespace: str) -> Iterator[Part]:
    """The gateway. A user who brings Envoy Gateway brings the gateway, too."""
    if not is_on(spec, "envoyGateway"):
        return
    after = (_NAMESPACE, *_CONTROLLERS)
    yield _system_namespace(spec, namespace)
    for key, build, ready in _GATEWAY_PARTS:
        policies = _gateway_policies(spec) if key == GATEWAY else None
        yield Part(key=key, manifest=_object(spec, namespace, build(spec), ready=ready, policies=policies), after=after)
    if _is_provisioned(spec):
        policies = provider.OBSERVE if _orphans(spec) else provider.ONLY_DELETE
        yield Part(key=SERVICE, manifest=_object(spec, namespace, gateway.service(), policies=policies), after=after)


def _observer(spec: Spec, namespace: str) -> Iterator[Part]:
    if not has_observer(spec):
        return
    if not is_on(spec, "envoyGateway"):
        yield _system_namespace(spec, namespace)
    for key, manifest in observer.manifests().items():
        after = (_NAMESPACE, *(observer.ACCESS if key == observer.DEPLOYMENT else ()))
        yield Part(key=key, manifest=_object(spec, namespace, manifest), after=after)


def _system_namespace(spec: Spec, namespace: str) -> Part:
    manifest = _object(spec, namespace, _namespace(gateway.NAMESPACE), policies=provider.KEEP_REMOTE)
    return Part(key=_NAMESPACE, manifest=manifest)


def _gateway_policies(spec: Spec) -> Sequence[str]:
    """The Gateway is deleted on a provisioned cluster, too."""
    return provider.KEEP_REMOTE if _orphans(spec) else ()


_GATEWAY_PARTS: tuple[tuple[str, Callable[[Spec], dict[str, Any]], str | None], ...] = (
    ("envoy-proxy", gateway.envoy_proxy, None),
    (_CLASS, gateway.gateway_class, manifests.IS_ACCEPTED),
    (GATEWAY, gateway.gateway, manifests.HAS_ADDRESS),
    ("backend-policy", gateway.backend_policy, None),
    ("client-policy", gateway.client_policy, None),
)


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=name)}


def address(request: Request) -> str | None:
    """Return the address of the gateway, an IP address or a host name; None while it has none."""
    published = "status", "atProvider", "manifest", "status", "addresses", 0, "value"
    return dig_text(request.observed.get(GATEWAY), *published) or dig_text(request.xr, "status", "gateway", "address")
