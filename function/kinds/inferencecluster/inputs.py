"""What an InferenceCluster reads, and what each answer means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, Request, Requirement, controller, dig, is_controlled_by, plain
from function.core.manifest import is_list
from function.vocabulary import crossplane, labels, names, versions

KUBECONFIG = "kubeconfig"
IDENTITY = "identity"
OWNER = "provider-config"
REPLICAS = "replicas"
CACHES = "caches"
NAMESAKES = "same-cluster"
COMPOSED_CONFIG = "provider-config"
"""Where the provider config stands among the composed resources."""


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Its classes and Secrets by name, its provider config, and what stands on it by label."""
    name = xr["metadata"]["name"]
    occupants = {labels.CLUSTER: names.label_value(name)}
    return (
        *(_class(class_name) for class_name in sorted(_class_names(xr))),
        *_secrets(xr),
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
        *_namesakes(xr),
    )


def _namesakes(xr: Manifest) -> Iterable[Requirement]:
    """Who leads to the same Kubernetes cluster, once it is known which that is."""
    uid = dig(xr, "status", "clusterID")
    if isinstance(uid, str) and uid:
        same = {labels.CLUSTER_ID: uid}
        yield Requirement(NAMESAKES, versions.PROVIDER_KUBERNETES, "Object", match_labels=same)


def _class(name: str) -> Requirement:
    return Requirement(f"class-{name}", versions.MODELPLANE, "InferenceClass", match_name=name)


def _secrets(xr: Manifest) -> Iterable[Requirement]:
    """The Secrets of an existing cluster. Their values go nowhere: that they exist is all that is asked."""
    for requirement, field in ((KUBECONFIG, "secretRef"), (IDENTITY, "identitySecretRef")):
        name = dig(xr, "spec", "cluster", "existing", field, "name")
        if isinstance(name, str):
            yield Requirement(requirement, versions.CORE, "Secret", match_name=name, namespace=names.SYSTEM_NAMESPACE)


def _class_names(xr: Manifest) -> set[str]:
    pools = dig(xr, "spec", "nodePools")
    found = (dig(pool, "className") for pool in pools) if is_list(pools) else ()
    return {name for name in found if isinstance(name, str) and name}


@dataclass(frozen=True, slots=True)
class Classes:
    """The InferenceClasses that the pools name, as they were answered."""

    answers: Mapping[str, tuple[Manifest, ...] | None]

    def missing(self, name: str) -> str | None:
        """Why a class cannot be read; None where it can."""
        answer = self.answers.get(name)
        if answer is None:
            return "is not known yet"
        return None if answer else "does not exist"

    def of(self, name: str) -> Manifest:
        answer = self.answers[name]
        assert answer, name
        return answer[0]


def classes(request: Request) -> Classes:
    return Classes({name: request.resolved(_class(name)) for name in _class_names(request.xr)})


def published_pools(xr: Manifest) -> dict[str, dict[str, Any]]:
    """The gpuPools that the cluster published last, by name."""
    pools = dig(xr, "status", "gpuPools")
    return {pool["name"]: plain(pool) for pool in pools or () if isinstance(dig(pool, "name"), str)}


def owner_of_config(request: Request) -> str | None:
    """Who else has the provider config that this cluster would compose; None where nobody has."""
    for config in () if COMPOSED_CONFIG in request.observed else request.required.get(OWNER) or ():
        owner = controller(config["metadata"])
        if owner and owner.get("uid") != dig(request.xr, "metadata", "uid"):
            return f"{owner.get('kind')} {owner.get('name')}"
    return None


def secret_fault(request: Request, requirement: str, name: str, key: str) -> str | None:
    """What a Secret lacks, by name and key; None where it lacks nothing, or nobody has looked yet."""
    answer = request.required.get(requirement)
    where = f"Secret {names.SYSTEM_NAMESPACE}/{name}"
    if answer is None:
        return None
    if not answer:
        return f"{where} does not exist"
    has_key = dig(answer[0], "data", key) is not None or dig(answer[0], "stringData", key) is not None
    return None if has_key else f"{where} has no key {key}"


def replicas(request: Request) -> tuple[Manifest, ...] | None:
    """The replicas on the cluster that ModelDeployments composed; None while they are not known. One that somebody
    wrote by hand runs nothing, and takes no nodes."""
    found = request.required.get(REPLICAS)
    return None if found is None else tuple(filter(_is_composed, found))


def _is_composed(replica: Manifest) -> bool:
    return is_controlled_by(replica["metadata"], versions.MODELPLANE, "ModelDeployment")


def _holds(replica: Manifest) -> bool:
    """Whether a replica has something on the cluster. One that nobody composed may have got it before it was orphaned,
    and needs the cluster to take it away again; Crossplane keeps the list of what an XR composed."""
    return _is_composed(replica) or bool(dig(replica, "spec", "crossplane", "resourceRefs"))


def occupants(request: Request) -> tuple[str, ...] | None:
    """Everything that keeps the cluster from being deleted, sorted; None while it is not known."""
    found, caches = request.required.get(REPLICAS), request.required.get(CACHES)
    if found is None or caches is None:
        return None
    holding = filter(_holds, found)
    return (
        *sorted(f"ModelReplica {dig(r, 'metadata', 'namespace')}/{dig(r, 'metadata', 'name')}" for r in holding),
        *sorted(
            {
                f"ModelCache {dig(o, 'metadata', 'namespace')}/{dig(o, 'metadata', 'labels', labels.MODELCACHE)}"
                for o in caches
            }
        ),
    )


def is_being_deleted(xr: Manifest) -> bool:
    """Whether someone has asked for its deletion, be it refused for now."""
    annotated = dig(xr, "metadata", "annotations", crossplane.DELETION_ATTEMPT)
    return annotated is not None or dig(xr, "metadata", "deletionTimestamp") is not None
