"""What an InferenceGateway composes on the control cluster, in this order.

1. Provider configs, by which the providers reach the cluster that they run on.
2. The CRDs of Gateway API, unless others brought them.
3. The parts of the implementation of Gateway API: its program among them.
4. The GatewayClass and the Gateway, once Gateway API is served.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.api.inferencegateway import Spec
from function.core import ComposedResource, Request, condition_current, dig, doubt, restate_resource
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
    """Return steps 1 to 3, in order. Raises NotYet while the CRDs were not looked up."""
    return (
        Part(key=inputs.CONFIG, manifest=_config(versions.PROVIDER_KUBERNETES)),
        Part(key="helm-provider-config", manifest=_config(versions.PROVIDER_HELM)),
        *_definitions(request),
        *implementation.parts(Setup(block=spec.block, has_tls=spec.tls is not None)),
    )


def gateway_parts(spec: Spec, implementation: Implementation) -> tuple[Part, ...]:
    """Return step 4. Composing a kind that the cluster does not serve would end the whole reconcile."""
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
    """Return the parts that are due, and the Usages that order their deletion.

    `is_served` tells whether Gateway API is served: without it the program would not start. The Gateway is deleted
    before the program that serves it. The class needs no Usage: it has no namespace, so that none can name it.
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
    """Return the parts that are no longer wanted, and that must outlive another which is still there."""
    unwanted = request.observed.keys() - {part.key for part in wanted}
    return {
        key: restate_resource(request.observed[key])
        for key, other in implementation.outlives
        if key in unwanted and other in request.observed
    }


def is_ready(request: Request, key: str) -> bool:
    """Return whether a composed resource is ready, by the conditions of its kind."""
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
    """Return the address of the observed Gateway, an IP address or a host name; None while it has none."""
    found = dig(request.observed.get(GATEWAY), "status", "addresses", 0, "value")
    return found if isinstance(found, str) and found else None


# Parts


def _config(api_version: str) -> dict[str, Any]:
    return control.provider_config(name=names.CONTROL_CONFIG, api_version=api_version)


def _definitions(request: Request) -> Iterator[Part]:
    """CRDs of Gateway API. They stay on deletion: every route of the cluster would be deleted with them."""
    for name, crd in inputs.to_write(request).items():
        manifest = control.object_(control.definition(crd), ready=definitions.IS_ESTABLISHED, stays=True)
        yield Part(key=inputs.definition_key(name), manifest=manifest)


def _listener(spec: Spec, implementation: Implementation) -> dict[str, Any]:
    if spec.tls is None:
        return manifests.http_listener(port=implementation.http_port)
    return manifests.https_listener(
        port=implementation.https_port, secret=spec.tls.secretRef.name, hostname=spec.tls.hostname
    )
