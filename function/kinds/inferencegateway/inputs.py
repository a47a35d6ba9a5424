"""What an InferenceGateway reads: the Gateway API CRDs that are there already, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function import gateways
from function.core import Manifest, NotYet, Request, Requirement, condition, dig, doubt
from function.core.manifest import is_list
from function.vocabulary import conditions as c
from function.vocabulary import labels, versions

CONFIG = "provider-config"
"""Where the first thing that is composed stands among the composed resources."""


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    return tuple(_definition(name) for name in gateways.of(xr).definitions)


def _definition(name: str) -> Requirement:
    return Requirement(definition_key(name), versions.CRD, "CustomResourceDefinition", match_name=name)


def definition_key(name: str) -> str:
    """Where the Object of a CRD stands among the composed resources."""
    return f"crd-{name.partition('.')[0]}"


def to_write(request: Request) -> dict[str, Mapping[str, Any]]:
    """The CRDs that are ours to write, by name: those that nobody has brought. Raises NotYet.

    One that is not there is written once two passes did not find it: what we write over another's is ours from then on.
    """
    brought = gateways.of(request.xr).bundle()
    return {
        name: brought[name]
        for name in gateways.of(request.xr).definitions
        if not _is_foreign(request, name) and (_looked_up(request, name) or _is_ours(request, name))
    }


def missing(request: Request) -> tuple[str, ...]:
    """The CRDs that were not found and that we did not write: by key. Raises NotYet."""
    keys = {definition_key(name): name for name in gateways.of(request.xr).definitions}
    return tuple(key for key, name in keys.items() if key not in request.observed and not _looked_up(request, name))


def _is_ours(request: Request, name: str) -> bool:
    """Whether a CRD that was not found is written by us already, or was not found on the pass before either."""
    key = definition_key(name)
    is_noted = CONFIG in request.observed and doubt.is_believed(request, key, CONFIG)
    return key in request.observed or is_noted


def not_served(request: Request) -> Iterator[str]:
    """What of Gateway API is not there yet. Raises NotYet."""
    for name, version in gateways.of(request.xr).definitions.items():
        if not _is_foreign(request, name):
            if not request.is_ready(definition_key(name)):
                yield definition_key(name)
        elif missing := _unserved(_looked_up(request, name)[0], version):
            yield f"CustomResourceDefinition {name} {missing}"


def _is_foreign(request: Request, name: str) -> bool:
    """Whether someone else brought a CRD: it is theirs to update, and ours never to set back."""
    found = _looked_up(request, name)
    return bool(found) and dig(found[0], "metadata", "labels", labels.MANAGED_BY) != labels.OURS


def _unserved(crd: Manifest, version: str) -> str | None:
    """What someone else's CRD lacks; None where it serves what is watched."""
    found = dig(crd, "spec", "versions")
    served = {dig(v, "name") for v in (found if is_list(found) else ()) if dig(v, "served") is True}
    if version not in served:
        return f"to serve {version} (it is not ours to update)"
    return None if dig(condition(crd, "Established"), "status") == "True" else "to be established"


def _looked_up(request: Request, name: str) -> tuple[Manifest, ...]:
    found = request.resolved(_definition(name))
    if found is None:
        raise NotYet(c.GATEWAY_INSTALLING(why="Waiting for Crossplane to look up the CRDs of Gateway API"))
    return found
