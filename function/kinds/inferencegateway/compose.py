"""What an InferenceGateway composes on the control cluster: CRDs first, then what serves them, then the Gateway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.api.inferencegateway import Spec
from function.core import ComposedResource, Request, condition_current, dig, doubt, restate
from function.gateways import Backend, Setup
from function.kinds.inferencegateway import inputs
from function.manifests import control, definitions, helm, provider
from function.manifests import gateway as manifests
from function.manifests.parts import Part, due, usages
from function.vocabulary import charts, names, versions

RELEASE = "gateway-release"
GATEWAY = "gateway"
CLASS = "gateway-class"
_NAMESPACE = names.SYSTEM_NAMESPACE
_METALLB = "metallb"
_NEED_GATEWAY_API = (RELEASE, CLASS, GATEWAY)
_METALLB_SETUP = ("metallb-pool", "metallb-advertisement")
_OUTLIVES = ((RELEASE, GATEWAY), *((_METALLB, part) for part in _METALLB_SETUP))
"""Who must outlive whom: a Gateway goes before the program that serves it, and an object before its kind's CRD.
The class needs no guard: it has no namespace, so that no Usage can name it, and Traefik puts no finalizer on it."""


def parts(request: Request, spec: Spec, backend: Backend) -> tuple[Part, ...]:
    """Everything that it is made of, in order. Raises NotYet."""
    return (
        Part(key=inputs.CONFIG, manifest=_config(versions.PROVIDER_KUBERNETES)),
        Part(key="helm-provider-config", manifest=_config(versions.PROVIDER_HELM)),
        *_definitions(request),
        *_metallb(spec),
        Part(
            key=RELEASE,
            manifest=_release(backend.chart, backend.values(_setup(spec)), _setup(spec).version),
            after=_METALLB_SETUP,
        ),
    )


def gateway_parts(spec: Spec, backend: Backend) -> tuple[Part, ...]:
    """What only a cluster that serves Gateway API can be given: elsewhere it would end the whole reconcile."""
    class_ = control.gateway_class(name=names.CONTROL_GATEWAY, controller=backend.controller)
    gateway = manifests.gateway(
        name=names.CONTROL_GATEWAY,
        namespace=_NAMESPACE,
        class_name=names.CONTROL_GATEWAY,
        listeners=[_listener(spec, backend)],
    )
    return Part(key=CLASS, manifest=class_), Part(key=GATEWAY, manifest=gateway)


def resources(
    request: Request, wanted: tuple[Part, ...], gateway: tuple[Part, ...], *, is_served: bool
) -> dict[str, ComposedResource]:
    """Those whose turn has come. `is_served` says whether Gateway API is: without it Traefik does not start either."""
    composed = {
        part.key: ComposedResource(part.manifest, is_ready(request, part.key))
        for part in due(request, (*wanted, *gateway))
        if is_served or part.key in request.observed or part.key not in _NEED_GATEWAY_API
    }
    composed[inputs.CONFIG] = doubt.with_note(composed[inputs.CONFIG], inputs.missing(request))
    composed |= _metallb_to_go(request, wanted)
    return {**composed, **usages(request, composed, _OUTLIVES, _NAMESPACE)}


def _metallb_to_go(request: Request, wanted: tuple[Part, ...]) -> dict[str, ComposedResource]:
    """Switched off, it stays until what it was set up with is gone: its CRDs go with it."""
    remains = any(key in request.observed for key in _METALLB_SETUP)
    if not remains or _METALLB not in request.observed or any(part.key == _METALLB for part in wanted):
        return {}
    return {_METALLB: ComposedResource(restate(request.observed[_METALLB]), request.is_ready(_METALLB))}


def is_ready(request: Request, key: str) -> bool:
    if key == GATEWAY:
        return (
            key in request.observed
            and condition_current(request.observed[key], "Programmed")
            and bool(address(request))
        )
    if key == CLASS:
        return key in request.observed and condition_current(request.observed[key], "Accepted")
    return key in request.observed if key.endswith("provider-config") else request.is_ready(key)


def address(request: Request) -> str | None:
    """An IP address or a host name."""
    found = dig(request.observed.get(GATEWAY), "status", "addresses", 0, "value")
    return found if isinstance(found, str) and found else None


# Parts


def _config(api_version: str) -> dict[str, Any]:
    return control.provider_config(name=names.CONTROL_CONFIG, api_version=api_version)


def _definitions(request: Request) -> Iterator[Part]:
    """They outlive the gateway: with them every route of the cluster would go, whoever wrote it."""
    for name, crd in inputs.to_write(request).items():
        manifest = _object(control.definition(crd), ready=definitions.IS_ESTABLISHED, stays=True)
        yield Part(key=inputs.definition_key(name), manifest=manifest)


def _metallb(spec: Spec) -> Iterator[Part]:
    """Its webhook must answer before it takes what it is set up with."""
    metallb = spec.traefik.metallb if spec.traefik and spec.traefik.loadBalancer == "MetalLB" else None
    if metallb is None:
        return
    name, namespace = names.CONTROL_GATEWAY, charts.METALLB.namespace
    pool = control.address_pool(name=name, namespace=namespace, addresses=metallb.addressPool)
    advertisement = control.layer_2(name=name, namespace=namespace, pool=name)
    own_namespace = _object(control.privileged_namespace(name=namespace), stays=True)
    yield Part(key="metallb-namespace", manifest=own_namespace)
    # It speaks to routers by FRR unless told otherwise (metallb v0.16), which layer 2 has no use for.
    release = _release(charts.METALLB, {"frrk8s": {"enabled": False}}, None)
    yield Part(key=_METALLB, manifest=release, after=("metallb-namespace",))
    for key, manifest in zip(_METALLB_SETUP, (pool, advertisement), strict=True):
        yield Part(key=key, manifest=_object(manifest), after=(_METALLB,))


def _release(chart: charts.Chart, values: Mapping[str, Any], version: str | None) -> dict[str, Any]:
    return helm.release(
        name=names.remote_object("", "Release", chart.namespace, chart.release),
        namespace=_NAMESPACE,
        provider_config=names.CONTROL_CONFIG,
        chart=chart,
        version=version,
        values=values,
    )


def _object(manifest: Mapping[str, Any], *, ready: str | None = None, stays: bool = False) -> dict[str, Any]:
    there = manifest["metadata"]
    return provider.object_(
        name=names.remote_object("", manifest["kind"], there.get("namespace", ""), there["name"]),
        namespace=_NAMESPACE,
        provider_config=names.CONTROL_CONFIG,
        manifest=manifest,
        readiness_cel=ready,
        management_policies=provider.KEEP_REMOTE if stays else (),
    )


def _setup(spec: Spec) -> Setup:
    return Setup(has_tls=spec.tls is not None, version=spec.traefik.version if spec.traefik else None)


def _listener(spec: Spec, backend: Backend) -> dict[str, Any]:
    if spec.tls is None:
        return manifests.http_listener(port=backend.http_port)
    return manifests.https_listener(port=backend.https_port, secret=spec.tls.secretRef.name, hostname=spec.tls.hostname)
