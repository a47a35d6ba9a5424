"""What a ModelService reads: as much as its decision stands on, in three stages.

Terms. A *candidate* is a selected endpoint that would get traffic if its cluster answers, and that has a cluster label;
the endpoints of outside providers have none. The *probe* of a cluster is an Object that shows whether the cluster
answers. The *Objects of a replica* are those that share the labels of the replica's endpoint.

Stages:

1. The gateway, the endpoints that each entry selects, and the callers, if the service knows callers.
2. The probe of each cluster that a candidate is on.
3. For each of these clusters whose probe reports no answer, the Objects of the candidates' replicas there. A cluster is
   lost only if both report it, so nothing else reads Objects: while all clusters answer, none is read, however many
   there are in the namespace.

A probe is required by its name. Crossplane 2.4 looks up by name which XRs a changed object wakes, but tries every
requirement by labels (internal/controller/apiextensions/composite/dependency/tracker.go). The name follows from the
cluster label, which is the cluster's own name: XRs have names of at most 63 characters, which `names.label_value` does
not shorten. A label that names no cluster finds no probe.

What is coarse: the Objects of all replicas of a deployment on a cluster are required together, whether or not the
service selects each of their endpoints. Otherwise the number of requirements would be the number of replicas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from function.api import inferencegateway, modelendpoint
from function.core import Manifest, Request, Requirement, dig, dig_list, identity, serves
from function.fleet import callers as modelcallers
from function.manifests import reached
from function.vocabulary import labels, names, versions

GATEWAY = Requirement("gateway", inferencegateway.API_VERSION, inferencegateway.KIND, match_name=inferencegateway.NAME)
_PROBE = "probe-"
"""Begin of the name of a requirement for a probe; the cluster follows."""
_GROUP = (labels.DEPLOYMENT, labels.CLUSTER)
"""Labels by which Objects of replicas are required."""


def requirements(request: Request) -> tuple[Requirement, ...]:
    """Return the requirements of every stage up to the first that is not answered."""
    first = (GATEWAY, *endpoints(request), *callers(request))
    if pending(request, first):
        return first
    found = candidates(request)
    second = (*first, *(probe(cluster) for cluster in clusters(found)))
    if pending(request, second):
        return second
    return (*second, *objects(found, probed(request, found), request.identity.namespace))


def pending(request: Request, required: Iterable[Requirement]) -> list[Requirement]:
    """Return the requirements that are not answered yet."""
    return [r for r in required if request.resolved(r) is None]


def endpoints(request: Request) -> tuple[Requirement, ...]:
    """Return the requirement of each entry, in their order."""
    return tuple(
        Requirement(
            f"endpoints-{entry}",
            modelendpoint.API_VERSION,
            modelendpoint.KIND,
            match_labels=selector,
            namespace=request.identity.namespace,
        )
        for entry, selector in enumerate(_selectors(request.xr))
    )


def callers(request: Request) -> tuple[Requirement, ...]:
    """Return the requirement of the callers; none if the service knows no callers. The spec may be invalid."""
    asked = dig(request.xr, "spec", "callers")
    if not isinstance(asked, Mapping):
        return ()
    selector = dig(asked, "selector", "matchLabels")
    if selector is None:
        return (modelcallers.required(request.identity.namespace),)
    if not _is_selector(selector):
        return ()
    return (modelcallers.required(request.identity.namespace, dict(selector)),)


def said(required: Requirement) -> str:
    """Return what a requirement looks up, for a message. The names of probes mean nothing to a reader."""
    cluster = required.name.removeprefix(_PROBE)
    return str(required) if cluster == required.name else f"the probe of cluster {cluster}"


def probe(cluster: str) -> Requirement:
    return Requirement(
        f"{_PROBE}{cluster}",
        versions.PROVIDER_KUBERNETES,
        "Object",
        match_name=names.probe(cluster),
        namespace=names.SYSTEM_NAMESPACE,
    )


def objects(found: Iterable[Manifest], probed: Mapping[str, str | None], namespace: str) -> tuple[Requirement, ...]:
    """Return the requirements of the candidates' Objects on clusters that do not answer: one per deployment there."""
    groups = {group(endpoint) for endpoint in found if probed.get(cluster(endpoint))}
    return tuple(_objects(labelled, namespace) for labelled in sorted(groups))


def objects_name(group: tuple[str, ...]) -> str:
    """Return the name of a group's requirement. It is unique, because no label value contains a slash."""
    return f"objects-{'/'.join(group)}"


def _objects(group: tuple[str, ...], namespace: str) -> Requirement:
    """Require the Objects of a group. A label that its endpoints lack does not narrow them."""
    match = {key: value for key, value in zip(_GROUP, group, strict=True) if value}
    return Requirement(
        objects_name(group), versions.PROVIDER_KUBERNETES, "Object", match_labels=match, namespace=namespace
    )


# What was found


def probed(request: Request, found: Iterable[Manifest]) -> dict[str, str | None]:
    """Return the candidates' clusters whose probes were found, with the error of each that does not answer."""
    probes = ((name, request.resolved(probe(name)) or ()) for name in clusters(found))
    return {name: reached.lost(one) for name, objects in probes for one in objects}


def clusters(found: Iterable[Manifest]) -> list[str]:
    return sorted({cluster(endpoint) for endpoint in found})


def candidates(request: Request) -> list[Manifest]:
    return [endpoint for _, endpoint in selected(request) if is_candidate(endpoint)]


def selected(request: Request) -> Iterator[tuple[int, Manifest]]:
    """Yield the selected endpoints that are not being deleted, each under the first entry that selects it."""
    seen: set[str] = set()
    for entry, requirement in enumerate(endpoints(request)):
        for manifest in sorted(request.resolved(requirement) or (), key=identity):
            who = identity(manifest)
            if who.namespace == request.identity.namespace and who.name not in seen and not _is_going(manifest):
                seen.add(who.name)
                yield entry, manifest


def is_candidate(endpoint: Manifest) -> bool:
    """Return whether only the loss of its cluster would keep an endpoint from traffic."""
    return is_ready(endpoint) and not is_leaving(endpoint) and cluster(endpoint) != ""


def is_ready(endpoint: Manifest) -> bool:
    """Return whether an endpoint serves, whatever its generation."""
    return serves(endpoint, "Ready") and bool(dig(endpoint, "status", "routing", "backendName"))


def is_leaving(endpoint: Manifest) -> bool:
    return dig(endpoint, "metadata", "annotations", labels.LEAVING) is not None


def cluster(manifest: Manifest) -> str:
    """Return the cluster of an endpoint or Object. Empty for an outside provider."""
    return _label(manifest, labels.CLUSTER)


def group(endpoint: Manifest) -> tuple[str, ...]:
    """Return the labels by which the Objects of an endpoint's replica are required."""
    return tuple(_label(endpoint, key) for key in _GROUP)


def replica(manifest: Manifest) -> tuple[str, ...]:
    """Return the labels that identify the replica of an endpoint or Object."""
    return tuple(_label(manifest, key) for key in labels.OF_REPLICA)


def _label(manifest: Manifest, key: str) -> str:
    value = dig(manifest, "metadata", "labels", key)
    return value if isinstance(value, str) else ""


def _is_going(manifest: Manifest) -> bool:
    return dig(manifest, "metadata", "deletionTimestamp") is not None


def _selectors(xr: Manifest) -> Iterator[dict[str, str]]:
    """Yield the selectors of a spec that may be invalid. A selector without labels is skipped."""
    for entry in dig_list(xr, "spec", "endpoints"):
        chosen = dig(entry, "selector", "matchLabels")
        if _is_selector(chosen):
            yield dict(chosen)


def _is_selector(value: Any) -> TypeGuard[Mapping[str, str]]:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(one, str) for one in value.values())
