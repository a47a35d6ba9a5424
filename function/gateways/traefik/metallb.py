"""MetalLB, which gives Traefik an address on a control cluster that gives none by itself."""

from __future__ import annotations

from typing import Any

from function.gateways.traefik import charts
from function.gateways.traefik.blocks import Traefik
from function.manifests import control
from function.manifests.metadata import metadata
from function.manifests.parts import Part
from function.vocabulary import names

_API_VERSION = "metallb.io/v1beta1"
_RELEASE = "metallb"
_NAMESPACE = "metallb-namespace"
SETUP = ("metallb-pool", "metallb-advertisement")
"""Keys of the parts that set it up."""
OUTLIVES = tuple((_RELEASE, part) for part in SETUP)
"""Its CRDs go with it, and an object goes before its kind's CRD."""


def parts(traefik: Traefik) -> tuple[Part, ...]:
    """Return what is installed, in order: its webhook must answer before it takes what sets it up."""
    metallb = traefik.metallb if traefik.loadBalancer == "MetalLB" else None
    if metallb is None:
        return ()
    name, namespace = names.CONTROL_GATEWAY, charts.METALLB.namespace
    pool = _address_pool(name=name, namespace=namespace, addresses=metallb.addressPool)
    advertisement = _layer_2(name=name, namespace=namespace, pool=name)
    own_namespace = control.object_(control.privileged_namespace(name=namespace), stays=True)
    # It speaks to routers by FRR unless told otherwise (metallb v0.16), which layer 2 has no use for.
    release = control.release(charts.METALLB, {"frrk8s": {"enabled": False}})
    return (
        Part(key=_NAMESPACE, manifest=own_namespace),
        Part(key=_RELEASE, manifest=release, after=(_NAMESPACE,)),
        *(
            Part(key=key, manifest=control.object_(manifest), after=(_RELEASE,))
            for key, manifest in zip(SETUP, (pool, advertisement), strict=True)
        ),
    )


def _address_pool(*, name: str, namespace: str, addresses: str) -> dict[str, Any]:
    """What MetalLB may give to load balancers: a range or a network."""
    return {
        "apiVersion": _API_VERSION,
        "kind": "IPAddressPool",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {"addresses": [addresses]},
    }


def _layer_2(*, name: str, namespace: str, pool: str) -> dict[str, Any]:
    """MetalLB answers for a pool's addresses on the local network (ARP and NDP)."""
    return {
        "apiVersion": _API_VERSION,
        "kind": "L2Advertisement",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {"ipAddressPools": [pool]},
    }
