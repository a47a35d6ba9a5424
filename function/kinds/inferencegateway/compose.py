"""What an InferenceGateway composes on the control cluster: CRDs first, then what serves them, then the Gateway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.api.inferencegateway import Spec
from function.core import ComposedResource, Request, condition_current, dig, doubt, restate
from function.gateways import Implementation, Setup
from function.kinds.inferencegateway import inputs
from function.manifests import control, definitions
from function.manifests import gateway as manifests
from function.manifests.parts import Part, due, usages
from function.vocabulary import names, versions

GATEWAY = "gateway"
CLASS = "gateway-class"
_NAMESPACE = names.SYSTEM_NAMESPACE


def parts(request: Request, spec: Spec, implementation: Implementation) -> tuple[Part, ...]:
    """Returns everything that it is made of but the Gateway and its class, in order. Raises NotYet."""
    return (
        Part(key=inputs.CONFIG, manifest=_config(versions.PROVIDER_KUBERNETES)),
        Part(key="helm-provider-config", manifest=_config(versions.PROVIDER_HELM)),
        *_definitions(request),
        *implementation.parts(Setup(block=spec.block, has_tls=spec.tls is not None)),
    )


def gateway_parts(spec: Spec, implementation: Implementation) -> tuple[Part, ...]:
    """Returns what only a cluster that serves Gateway API can be given: elsewhere it would end the whole reconcile."""
    class_ = control.gateway_class(name=names.CONTROL_GATEWAY, controller=implementation.controller)
    gateway = manifests.gateway(
        name=names.CONTROL_GATEWAY,
        namespace=_NAMESPACE,
        class_name=names.CONTROL_GATEWAY,
        listeners=[_listener(spec, implementation)],
    )
    return Part(key=CLASS, manifest=class_), Part(key=GATEWAY, manifest=gateway)


def resources(
    request: Request,
    wanted: tuple[Part, ...],
    gateway: tuple[Part, ...],
    implementation: Implementation,
    *,
    is_served: bool,
) -> dict[str, ComposedResource]:
    """Returns those whose turn has come. `is_served` tells whether Gateway API is: without it no program starts either.

    A Gateway goes before the program that serves it. The class needs no guard: it has no namespace, so that no Usage
    can name it.
    """
    needs_gateway_api = (implementation.program, CLASS, GATEWAY)
    composed = {
        part.key: ComposedResource(part.manifest, is_ready(request, part.key))
        for part in due(request, (*wanted, *gateway))
        if is_served or part.key in request.observed or part.key not in needs_gateway_api
    }
    composed[inputs.CONFIG] = doubt.with_note(composed[inputs.CONFIG], inputs.missing(request))
    composed |= _kept(request, wanted, implementation)
    outlives = ((implementation.program, GATEWAY), *implementation.outlives)
    return {**composed, **usages(request, composed, outlives, _NAMESPACE)}


def _kept(request: Request, wanted: tuple[Part, ...], implementation: Implementation) -> dict[str, ComposedResource]:
    """Returns the parts that are no longer wanted, and that must outlive another which is still there."""
    unwanted = request.observed.keys() - {part.key for part in wanted}
    return {
        key: ComposedResource(restate(request.observed[key]), request.is_ready(key))
        for key, other in implementation.outlives
        if key in unwanted and other in request.observed
    }


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
        manifest = control.object_(control.definition(crd), ready=definitions.IS_ESTABLISHED, stays=True)
        yield Part(key=inputs.definition_key(name), manifest=manifest)


def _listener(spec: Spec, implementation: Implementation) -> dict[str, Any]:
    if spec.tls is None:
        return manifests.http_listener(port=implementation.http_port)
    return manifests.https_listener(
        port=implementation.https_port, secret=spec.tls.secretRef.name, hostname=spec.tls.hostname
    )
