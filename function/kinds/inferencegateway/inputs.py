"""What an InferenceGateway looks up: its namespace, the CRDs of Gateway API, and whether others brought them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function import gateways
from function.core import Manifest, Missing, NotYet, Request, Requirement, condition, dig, dig_list, doubt
from function.vocabulary import conditions as c
from function.vocabulary import labels, names, versions

CONFIG = "provider-config"
"""Key of the first composed resource, which carries the doubts about look-ups (core/doubt.py)."""


_NAMESPACE = Requirement("namespace", versions.CORE, "Namespace", match_name=names.SYSTEM_NAMESPACE)


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Return requirements for the namespace, and for each CRD that the implementation watches."""
    return _NAMESPACE, *(_definition(name) for name in gateways.of(xr).definitions)


def await_namespace(request: Request) -> None:
    """Raise NotYet while the namespace of what is composed does not exist.

    Crossplane would fail to compose the XR, set its conditions to Unknown, and name nothing that helps.
    """
    found = request.resolved(_NAMESPACE)
    if found is None:
        raise NotYet(c.GATEWAY_INSTALLING(why=f"Waiting for Crossplane to look up namespace {names.SYSTEM_NAMESPACE}"))
    if not found:
        raise Missing(c.GATEWAY_INSTALLING(why=_NO_NAMESPACE))


_NO_NAMESPACE = (
    f"Namespace {names.SYSTEM_NAMESPACE} does not exist, in which everything for the gateway is installed. Create it: "
    "kubectl apply -f package/namespace.yaml"
)


def _definition(name: str) -> Requirement:
    return Requirement(definition_key(name), versions.CRD, "CustomResourceDefinition", match_name=name)


def definition_key(name: str) -> str:
    """Return the key of a CRD's Object among the composed resources, and the name of its requirement."""
    return f"crd-{name.partition('.')[0]}"


def to_write(request: Request) -> dict[str, Mapping[str, Any]]:
    """Return the CRDs to compose, by name: those that others did not bring. Raises NotYet.

    A missing CRD is composed once two passes did not find it: by overwriting another's, it would become ours.
    """
    brought = gateways.of(request.xr).bundle()
    return {
        name: brought[name]
        for name in gateways.of(request.xr).definitions
        if not _is_foreign(request, name) and (_looked_up(request, name) or _is_ours(request, name))
    }


def missing(request: Request) -> tuple[str, ...]:
    """Return the keys of CRDs that were neither found nor composed. Raises NotYet."""
    keys = {definition_key(name): name for name in gateways.of(request.xr).definitions}
    return tuple(key for key, name in keys.items() if key not in request.observed and not _looked_up(request, name))


def _is_ours(request: Request, name: str) -> bool:
    """Whether a CRD that was not found is composed already, or was not found on the last pass either."""
    key = definition_key(name)
    is_noted = CONFIG in request.observed and doubt.is_believed(request, key, CONFIG)
    return key in request.observed or is_noted


def not_served(request: Request) -> Iterator[str]:
    """Yield each CRD that is not served yet, as a key or a phrase. Raises NotYet."""
    for name, version in gateways.of(request.xr).definitions.items():
        if not _is_foreign(request, name):
            if not request.is_ready(definition_key(name)):
                yield definition_key(name)
        elif missing := _unserved(_looked_up(request, name)[0], version):
            yield f"CustomResourceDefinition {name} {missing}"


def _is_foreign(request: Request, name: str) -> bool:
    """Whether others brought a CRD. Then they update it, and we never set it back."""
    found = _looked_up(request, name)
    return bool(found) and dig(found[0], "metadata", "labels", labels.MANAGED_BY) != labels.OURS


def _unserved(crd: Manifest, version: str) -> str | None:
    """What a CRD that others brought lacks; None where it serves the watched version."""
    served = [dig(v, "name") for v in dig_list(crd, "spec", "versions") if dig(v, "served") is True]
    if version not in served:
        return f"to serve {version} (it is not ours to update)"
    return None if dig(condition(crd, "Established"), "status") == "True" else "to be established"


def _looked_up(request: Request, name: str) -> tuple[Manifest, ...]:
    found = request.resolved(_definition(name))
    if found is None:
        raise NotYet(c.GATEWAY_INSTALLING(why="Waiting for Crossplane to look up the CRDs of Gateway API"))
    return found
