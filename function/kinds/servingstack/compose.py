"""What a ServingStack composes, each as soon as that on which it stands is ready, and then for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function import labels, names, versions
from function.core import ComposedResource, Request, dig
from function.kinds.servingstack import components, crds, gateway
from function.kinds.servingstack.model import Spec, is_on
from function.manifests import gateway as manifests
from function.manifests import helm, provider
from function.manifests.metadata import metadata
from function.manifests.usage import usage

GATEWAY = "gateway"
_CLASS = "gateway-class"
_NAMESPACE = "namespace"
_CONTROLLERS = ("envoy-gateway", "ai-gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A manifest of the stack's, and on which keys it waits."""

    key: str
    manifest: dict[str, Any]
    after: tuple[str, ...] = ()


def parts(spec: Spec, namespace: str) -> tuple[Part, ...]:
    """Everything that the stack is made of, in order."""
    return (
        *_inference_extension(spec, namespace),
        *_critical_pods(spec, namespace),
        *_releases(spec, namespace),
        *_gateway(spec, namespace),
    )


def due(request: Request, wanted: tuple[Part, ...]) -> tuple[Part, ...]:
    """Those whose turn has come. What is there stays, whatever has become of what it waited for."""
    there = {part.key for part in wanted}

    def is_due(part: Part) -> bool:
        return part.key in request.observed or all(map(request.is_ready, there.intersection(part.after)))

    return tuple(part for part in wanted if is_due(part))


def resources(request: Request, now: tuple[Part, ...], namespace: str) -> dict[str, ComposedResource]:
    """And the Usages that keep, on a deletion, what serves another until that other is gone."""
    composed = {part.key: ComposedResource(part.manifest, request.is_ready(part.key)) for part in now}
    for of, by in _OUTLIVES:
        if of in composed and by in composed:
            key = f"usage-{of}-{by}"
            manifest = _usage(composed[of].manifest, composed[by].manifest, namespace, f"{by} needs {of} to be deleted")
            composed[key] = ComposedResource(manifest, request.is_ready(key))
    return composed


_OUTLIVES = (
    ("envoy-gateway", _CLASS),
    ("envoy-gateway", GATEWAY),
    ("ai-gateway", GATEWAY),
    (_CLASS, GATEWAY),
    ("envoy-proxy", GATEWAY),
)
"""Who must outlive whom: a GatewayClass has a finalizer while it has Gateways, and Envoy Gateway must take it off."""


def _usage(of: Mapping[str, Any], by: Mapping[str, Any], namespace: str, reason: str) -> dict[str, Any]:
    of_name, by_name = of["metadata"]["name"], by["metadata"]["name"]
    return usage(
        name=names.derived(of_name, "usage", of["kind"], of_name, by["kind"], by_name),
        namespace=namespace,
        api_version=of["apiVersion"],
        kind=of["kind"],
        of=of_name,
        by=(by["apiVersion"], by["kind"], by_name),
        reason=reason,
    )


def _policies(spec: Spec, *, stays: bool) -> tuple[str, ...]:
    """A cluster that we made takes along what is on it; its kubeconfig goes first, and nothing could be deleted."""
    return provider.KEEP_REMOTE if stays or spec.source != "Existing" else ()


def _object(
    spec: Spec, namespace: str, manifest: Mapping[str, Any], *, stays: bool = False, ready: str | None = None
) -> dict[str, Any]:
    remote = manifest["metadata"]
    return provider.object_(
        name=names.remote_object(spec.clusterName, manifest["kind"], remote.get("namespace", ""), remote["name"]),
        namespace=namespace,
        labels={labels.CLUSTER: names.label_value(spec.clusterName)},
        provider_config=spec.providerConfigRef.name,
        manifest=manifest,
        readiness_cel=ready,
        management_policies=_policies(spec, stays=stays),
    )


def _inference_extension(spec: Spec, namespace: str) -> Iterator[Part]:
    if is_on(spec, "inferenceExtension"):
        for name, crd in crds.inference_extension().items():
            manifest = _object(spec, namespace, crd, stays=True, ready=crds.IS_ESTABLISHED)
            yield Part(key=name.partition(".")[0], manifest=manifest)


def _critical_pods(spec: Spec, namespace: str) -> Iterator[Part]:
    """GKE admits critical pods, such as the DRA driver's, only where a quota allows them."""
    if spec.source == "GKE" and is_on(spec, "nvidiaDraDriver"):
        chart = next(r.chart for r in components.RELEASES if r.switch == "nvidiaDraDriver")
        yield Part(key="dra-namespace", manifest=_object(spec, namespace, _namespace(chart.namespace), stays=True))
        quota = {
            "apiVersion": versions.CORE,
            "kind": "ResourceQuota",
            "metadata": metadata(name="critical-pods", namespace=chart.namespace),
            "spec": {
                "hard": {"pods": "5000"},
                "scopeSelector": {
                    "matchExpressions": [
                        {
                            "scopeName": "PriorityClass",
                            "operator": "In",
                            "values": ["system-node-critical", "system-cluster-critical"],
                        }
                    ]
                },
            },
        }
        yield Part(key="critical-pods", manifest=_object(spec, namespace, quota), after=("dra-namespace",))


def _releases(spec: Spec, namespace: str) -> Iterator[Part]:
    for row in components.RELEASES:
        if is_on(spec, row.switch):
            manifest = helm.release(
                name=names.remote_object(spec.clusterName, "Release", row.chart.namespace, row.chart.release),
                namespace=namespace,
                labels={labels.CLUSTER: names.label_value(spec.clusterName)},
                provider_config=spec.providerConfigRef.name,
                chart=row.chart,
                version=components.version(spec, row.switch),
                values=row.values(spec),
                management_policies=_policies(spec, stays=row.stays),
            )
            yield Part(key=row.key, manifest=manifest, after=row.after)


def _gateway(spec: Spec, namespace: str) -> Iterator[Part]:
    """Where Envoy Gateway is not ours, neither is the gateway."""
    if not is_on(spec, "envoyGateway"):
        return
    yield Part(key=_NAMESPACE, manifest=_object(spec, namespace, _namespace(gateway.NAMESPACE), stays=True))
    for key, build, ready in _GATEWAY_PARTS:
        manifest = _object(spec, namespace, build(spec), ready=ready)
        yield Part(key=key, manifest=manifest, after=(_NAMESPACE, *_CONTROLLERS))


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
    """Where the gateway is reached: an IP address or a host name."""
    found: str | None = dig(
        request.observed.get(GATEWAY), "status", "atProvider", "manifest", "status", "addresses", 0, "value"
    )
    return found or dig(request.xr, "status", "gateway", "address")
