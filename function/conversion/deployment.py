"""ModelDeployments out of members, engines and metadata: the target's shape, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from function.api import modeldeployment, modelservice
from function.api.leader_worker_set import is_of_workload
from function.conversion.notes import Notes, Path, texts
from function.conversion.pods import MemberParts
from function.podspec import reserved
from function.schema import LABEL
from function.vocabulary import labels, names

_OF_TOOLS = (
    "kubectl.kubernetes.io/",
    "deployment.kubernetes.io/",
    "meta.helm.sh/",
    "autoscaling.alpha.kubernetes.io/",
    "serving.kserve.io/",
)
"""Prefixes of annotations that tools write about the source object."""
_ROLES = re.compile(r"-(leader|worker|head|server)$")


def metadata(source: Mapping[str, Any], notes: Notes, *, of_pods: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the metadata of the target: name, namespace, and what users wrote of labels and annotations.

    Labels and annotations that `of_workload` returns are not among them, nor are annotations with the prefixes
    `of_pods`, which the caller gives to the pods.
    """
    given = source["metadata"]
    name = shortened(given["name"])
    if name != given["name"]:
        notes.changed(
            ("metadata", "name"), ("metadata", "name"), f"is {name}: a ModelDeployment's name has up to 63 characters"
        )
    written: dict[str, Any] = {"name": name}
    if given.get("namespace"):
        written["namespace"] = given["namespace"]
    for field, omitted in (("labels", ()), ("annotations", (*_OF_TOOLS, *of_pods))):
        entries = texts(source, "metadata", field)
        entries = {k: v for k, v in entries.items() if not is_of_workload(k)}
        kept = {k: v for k, v in entries.items() if not k.startswith((*reserved.RESERVED_KEYS, *omitted))}
        if kept:
            written[field] = kept
            notes.carried(("metadata", field))
        for key in entries:
            if key.startswith(reserved.RESERVED_KEYS):
                notes.lost(("metadata", field, key), "is Modelplane's own, or of the controller of the source")
    return written


def of_workload(
    source: Mapping[str, Any], target: Path, notes: Notes, *, is_reserved: Callable[[str, str], bool]
) -> dict[str, dict[str, str]]:
    """Return the labels and annotations of a workload that belong elsewhere than on the ModelDeployment.

    Args:
        source: The workload.
        target: The path where they belong.
        notes: Notes about the workload.
        is_reserved: Whether labels or annotations at the target may not have a key, which is lost then.
    """
    found: dict[str, dict[str, str]] = {}
    for field in ("labels", "annotations"):
        for key, value in texts(source, "metadata", field).items():
            if not is_of_workload(key):
                continue
            if is_reserved(field, key):
                notes.lost(("metadata", field, key), "is Modelplane's own, or of the controller of the source")
            else:
                notes.changed(("metadata", field, key), (*target, field, key), "is read there")
                found.setdefault(field, {})[key] = value
    return found


def pass_to_pods(source: Mapping[str, Any], template: dict[str, Any], path: Path, notes: Notes) -> None:
    """Give the pods the labels and annotations of a workload that are read from it or its pods."""
    moved = of_workload(source, (*path, "metadata"), notes, is_reserved=lambda _, key: _is_reserved(key))
    for field, entries in moved.items():
        template.setdefault("metadata", {}).setdefault(field, {}).update(entries)


def _is_reserved(key: str) -> bool:
    return key.startswith(reserved.RESERVED_KEYS)


def shortened(name: str) -> str:
    """Return a name that one of our kinds can have: its beginning and a hash, if it is too long."""
    return name if len(name) <= names.DNS_LABEL else names.derived(name, name)


def engine_name(container: str) -> str:
    """Return an engine's name, from its container's."""
    name = _ROLES.sub("", container)
    return name if re.fullmatch(LABEL, name) and len(name) <= names.DNS_LABEL else "engine"


def member(parts: MemberParts, role: str = "Standalone", *, workers: int | None = None) -> dict[str, Any]:
    return {
        **({"role": role} if role != "Standalone" else {}),
        **({"worker": {"nodes": workers}} if workers is not None else {}),
        **({"nodeSelector": {"devices": parts.devices}} if parts.devices else {}),
        "template": parts.template,
    }


def model_deployment(
    meta: Mapping[str, Any],
    engines: Sequence[Mapping[str, Any]],
    *,
    replicas: int,
    clusters: Mapping[str, str] | None = None,
    cache: str | None = None,
    is_disaggregated: bool = False,
) -> dict[str, Any]:
    """Return a ModelDeployment.

    Args:
        meta: Its metadata.
        engines: Its engines.
        replicas: Number of replicas.
        clusters: Labels that a cluster must have.
        cache: Name of its ModelCache.
        is_disaggregated: Whether one engine runs the prefill, and the other the decode.
    """
    return {
        "apiVersion": modeldeployment.API_VERSION,
        "kind": modeldeployment.KIND,
        "metadata": dict(meta),
        "spec": {
            "replicas": replicas,
            **({"clusterSelector": {"matchLabels": dict(clusters)}} if clusters else {}),
            **({"modelCacheRef": {"name": cache}} if cache else {}),
            **({"serving": {"mode": "PrefillDecode"}} if is_disaggregated else {}),
            "engines": list(engines),
        },
    }


def replicas(count: int | None, path: Path, notes: Notes) -> int:
    """Return the number of replicas for a number of pods, or of groups of pods, that serve alike."""
    wanted = 1 if count is None else count
    most = modeldeployment.MOST_REPLICAS
    if wanted > most or wanted < 0:
        kept = max(0, min(wanted, most))
        notes.lost(path, f"must be from 0 to {most}; {kept} replicas are asked for. Give the engine more copies")
        return kept
    if count is not None:
        notes.changed(
            path,
            ("spec", "replicas"),
            "each replica is placed and replaced on its own, on any cluster; for pods that stay together on one"
            " cluster use engines[].copies",
        )
    return wanted


def without_devices(parts: MemberParts, path: Path, notes: Notes) -> None:
    """Note that an engine asks for no device, so that no pool can be found for it."""
    if not parts.devices:
        notes.left(
            path,
            ("spec", "engines", 0, "members", 0, "nodeSelector"),
            "no device is asked for that is known; Modelplane places engines by their devices, so write"
            " nodeSelector.devices",
        )


def model_service(name: str, namespace: str | None, deployments: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return a ModelService over deployments, each with its weight."""
    several = len(deployments) > 1
    return {
        "apiVersion": modelservice.API_VERSION,
        "kind": modelservice.KIND,
        "metadata": {"name": shortened(name), **({"namespace": namespace} if namespace else {})},
        "spec": {
            "endpoints": [
                {
                    **({"weight": max(1, weight)} if several else {}),
                    "selector": {"matchLabels": {labels.DEPLOYMENT: names.label_value(deployment)}},
                }
                for deployment, weight in deployments
            ]
        },
    }
