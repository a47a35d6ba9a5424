"""What an InferenceCluster looks up, and how to read the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from function import clouds
from function.core import Manifest, Request, Requirement, controller, dig, dig_list, dig_text, plain
from function.fleet.replicas import takes_nodes
from function.fleet.values import mappings
from function.kinds.inferencecluster.allocations import bounded
from function.vocabulary import labels, names, versions

OWNER = "provider-config"
REPLICAS = "replicas"
CACHES = "caches"
OBSERVERS = "same-cluster"
COMPOSITE = "composite"
COMPOSED_CONFIG = "provider-config"
"""Key of the provider config among the composed resources."""


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Return its classes, what its source needs for access, its provider config, and by label what is on it."""
    name = xr["metadata"]["name"]
    occupants = {labels.CLUSTER: names.label_value(name)}
    return (
        *(_class(class_name) for class_name in sorted(_class_names(xr))),
        *_access(xr),
        *_composite(xr),
        Requirement(
            OWNER, versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", match_name=names.provider_config(name)
        ),
        Requirement(REPLICAS, versions.MODELPLANE, "ModelReplica", match_labels=occupants),
        Requirement(
            CACHES,
            versions.PROVIDER_KUBERNETES,
            "Object",
            match_labels={**occupants, labels.HOLDS: labels.HOLDS_WEIGHTS},
        ),
        *_observers(xr),
    )


def _observers(xr: Manifest) -> Iterable[Requirement]:
    """The observers of the same Kubernetes cluster, once its UID was published."""
    uid = dig(xr, "status", "clusterID")
    if isinstance(uid, str) and uid:
        same = {labels.CLUSTER_ID: uid}
        yield Requirement(OBSERVERS, versions.PROVIDER_KUBERNETES, "Object", match_labels=same)


def _class(name: str) -> Requirement:
    return Requirement(f"class-{name}", versions.MODELPLANE, "InferenceClass", match_name=name)


def _access(xr: Manifest) -> Iterable[Requirement]:
    for source in clouds.SOURCES:
        yield from source.requirements(dig(xr, "spec", "cluster", source.block))


def _composite(xr: Manifest) -> Iterable[Requirement]:
    """The composite of a cloud. An InferenceCluster that was made again, or lost its list of what it composed, does not
    observe the one that is there."""
    source = clouds.BY_NAME.get(str(dig(xr, "spec", "cluster", "source")))
    if source and source.provisioner:
        model, name = source.provisioner.model, composite_name(xr["metadata"]["name"])
        namespace = names.SYSTEM_NAMESPACE
        yield Requirement(COMPOSITE, model.API_VERSION, model.KIND, match_name=name, namespace=namespace)


def composite_name(cluster: str) -> str:
    """Return the name of the composite by which a cloud makes a cluster."""
    return names.derived(cluster, "cluster", cluster)


def composite(request: Request) -> Manifest | None:
    """Return the composite of a cloud, as it is observed or else found; None where there is none."""
    found = request.required.get(COMPOSITE)
    return request.observed.get(clouds.KEY) or (found[0] if found else None)


def _class_names(xr: Manifest) -> set[str]:
    return {name for pool in dig_list(xr, "spec", "nodePools") if (name := dig_text(pool, "className"))}


@dataclass(frozen=True, slots=True)
class Classes:
    """The InferenceClasses that the node pools name, as far as they were found."""

    answers: Mapping[str, tuple[Manifest, ...] | None]
    """Answers by the name of the class. None means not looked up yet; empty means that it does not exist."""

    def missing(self, name: str) -> str | None:
        """Return why a class cannot be read, as the end of a sentence; None where it can."""
        answer = self.answers.get(name)
        if answer is None:
            return "is not known yet"
        return None if answer else "does not exist"

    def of(self, name: str) -> Manifest:
        """Return a class that is not missing."""
        answer = self.answers[name]
        assert answer, name
        return answer[0]


def classes(request: Request) -> Classes:
    """Return what was found for every class that a node pool names."""
    return Classes({name: request.resolved(_class(name)) for name in _class_names(request.xr)})


def published_pools(xr: Manifest) -> dict[str, dict[str, Any]]:
    """Return the last published status.gpuPools, by name. Their numbers of nodes can be counted with."""
    pools = (plain(pool) for pool in mappings(dig(xr, "status", "gpuPools")) if isinstance(pool.get("name"), str))
    return {
        pool["name"]: {**pool, "nodes": bounded(pool.get("nodes")), "devices": pool.get("devices") or []}
        for pool in pools
    }


def owner_of_config(request: Request) -> str | None:
    """Return the kind and name of another owner of the cluster's provider config; None where there is none."""
    for config in () if COMPOSED_CONFIG in request.observed else request.required.get(OWNER) or ():
        owner = controller(config["metadata"])
        if owner and owner.get("uid") != dig(request.xr, "metadata", "uid"):
            return f"{owner.get('kind')} {owner.get('name')}"
    return None


def replicas(request: Request) -> tuple[Manifest, ...] | None:
    """Return the replicas that take nodes of the cluster; None while they are not known.

    Of those that its label finds, only those count that name the cluster in their spec, and that may have something on
    it: a label may be wrong, and a replica that was written by hand runs nothing.
    """
    found, name = request.required.get(REPLICAS), request.identity.name
    if found is None:
        return None
    return tuple(r for r in found if dig(r, "spec", "clusterName") == name and takes_nodes(r))


def found_no_replicas(request: Request) -> bool:
    """Return whether the look-up of replicas found none that may have something on the cluster."""
    found = request.required.get(REPLICAS)
    return found is not None and not any(map(takes_nodes, found))


def occupants(request: Request) -> tuple[str, ...] | None:
    """Return the replicas and caches that keep the cluster from being deleted, as kind, namespace and name.

    They are sorted. None while they are not known. A replica counts by its label alone, whatever its spec says.
    """
    found, caches = request.required.get(REPLICAS), request.required.get(CACHES)
    if found is None or caches is None:
        return None
    holding = filter(takes_nodes, found)
    return (
        *sorted(f"ModelReplica {dig(r, 'metadata', 'namespace')}/{dig(r, 'metadata', 'name')}" for r in holding),
        *sorted(
            {
                f"ModelCache {dig(o, 'metadata', 'namespace')}/{dig(o, 'metadata', 'labels', labels.MODELCACHE)}"
                for o in caches
            }
        ),
    )
