"""KServe's LLMInferenceServices.

KServe merges a service with presets: a service names the model and what differs, and the preset has the image, the
command, the port and the probes. What a preset has is written here as Modelplane and vLLM have it:

- `vllm serve /mnt/models`, with the flags that the presets make of `model` and `parallelism`. A container that has a
  command of its own keeps it, as in KServe.
- `VLLM_ADDITIONAL_ARGS`, which the presets' scripts append to the command, becomes args.
- Probes of /health are left out: Modelplane's own allow more time. KServe's TLS between gateway and pods is left out.
- `worker` makes a gang. Its size is data / dataLocal, else pipeline.
- `prefill` makes a second engine. Replicas of both become copies in one replica, which share a router.
- Labels and annotations that KServe passes on from the service to its pods are given to the pods, or to the
  LeaderWorkerSet that a gang becomes.

Source: serving.kserve.io/v1alpha1 and v1alpha2, KServe v0.17: pkg/apis/serving/v1alpha1, config/llmisvcconfig; what is
passed on to pods: the approved prefixes of KServe's controller of v1alpha2, pkg/controller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.api.leader_worker_set import is_set_by_controller
from function.conversion import deployment, kserve_pods, weights
from function.conversion.kserve_pods import Serving
from function.conversion.notes import Notes, Path, items, mapping, others, text, texts, whole
from function.conversion.pods import MemberParts

KINDS = {
    ("serving.kserve.io/v1alpha1", "LLMInferenceService"),
    ("serving.kserve.io/v1alpha2", "LLMInferenceService"),
}
_MOST_COPIES = 64
_SECRET = "serving.kserve.io/secretName"  # noqa: S105 (an annotation's key)
_OF_PODS = ("k8s.v1.cni.cncf.io", "prometheus.io")
"""Prefixes of annotations that KServe passes on to pods, beside those of the workload."""
_WHY: Mapping[str, str] = {
    "baseRefs": "merge the LLMInferenceServiceConfigs first, and convert the result",
    "runtime": "names a ServingRuntime, whose container is not known: write its image and command",
    "tracing": "has no counterpart: set the engine's flags and variables",
    "kvCacheOffloading": "has no counterpart: set --kv-transfer-config of the engine",
}
_OF_WORKLOADS = {
    "replicas", "scaling", "parallelism", "labels", "annotations", "template", "worker", "rolloutStrategy",
}  # fmt: skip
_OF_SERVICES = {"model", "router", "prefill", "trustRemoteCode", "storageInitializer", "speculator"}
_SCHEDULER = "Modelplane spreads requests evenly over replicas; PrefillDecode has a picker of its own"


def converted(source: Mapping[str, Any], notes: Notes) -> list[dict[str, Any]]:
    """Return the ModelDeployment of a service, with its ModelCache and ModelService. Raises NotConvertible."""
    meta = deployment.metadata(source, notes, of_pods=_OF_PODS)
    spec = mapping(source, "spec")
    uri, served = text(source, "spec", "model", "uri"), text(source, "spec", "model", "name") or meta["name"]
    cache = _cache(source, uri, meta, served, notes)
    prefill = spec.get("prefill")
    engines, clusters = _engines(source, served, notes, has_cache=cache is not None)
    replicas = 1 if prefill else _replicas(spec, ("spec",), notes)
    target = deployment.model_deployment(
        meta,
        engines,
        replicas=deployment.replicas(replicas, ("spec", "replicas"), notes) if not prefill else 1,
        clusters=clusters,
        cache=meta["name"] if cache else None,
        is_disaggregated=bool(prefill),
    )
    _note_model(mapping(source, "spec", "model"), notes)
    if spec.get("speculator") is not None:
        if kserve_pods.speculator(source):
            notes.changed(("spec", "speculator"), None, "is the engine's --speculative-config")
        else:
            notes.lost(("spec", "speculator"), "needs a method, and a draft model of the hub (hf://) if it has one")
    for name in others(spec, _OF_WORKLOADS | _OF_SERVICES):
        if spec[name] is not None:
            notes.lost(("spec", name), _WHY.get(name, "has no counterpart"))
    service = _service(source, meta, notes)
    return [target, *([cache] if cache else []), *([service] if service else [])]


def _cache(
    source: Mapping[str, Any], uri: str | None, meta: Mapping[str, Any], served: str, notes: Notes
) -> dict[str, Any] | None:
    if mapping(source, "spec", "storageInitializer").get("enabled") is False:
        notes.changed(
            ("spec", "storageInitializer"), None, "there is no ModelCache: the engine fetches the weights itself"
        )
        return None
    if uri is None:
        return None
    secret = text(source, "metadata", "annotations", _SECRET)
    return weights.cache(uri, meta, served, notes, secret=secret)


def _engines(
    source: Mapping[str, Any], served: str, notes: Notes, *, has_cache: bool
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the engines, and the labels that a cluster must have."""
    spec = mapping(source, "spec")
    if not spec.get("prefill"):
        engine, clusters = _engine(source, ("spec",), Serving(served, source, 0, has_weights=has_cache), notes)
        return [engine], clusters
    written: list[dict[str, Any]] = []
    clusters = {}
    for index, (phase, path) in enumerate((("Prefill", ("spec", "prefill")), ("Decode", ("spec",)))):
        serving = Serving(served, source, index, phase, has_weights=has_cache)
        engine, wanted = _engine(source, path, serving, notes)
        copies = _replicas(mapping(source, *path), path, notes)
        copies = 1 if copies is None else max(1, min(copies, _MOST_COPIES))
        notes.changed((*path, "replicas"), ("spec", "engines", index, "copies"), "are copies in one replica")
        members = engine.pop("members")
        written.append({**engine, "name": phase.lower(), "copies": copies, "phase": phase, "members": members})
        clusters |= wanted
    return written, clusters


def _engine(
    source: Mapping[str, Any], path: Path, serving: Serving, notes: Notes
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the engine of a workload: of the service itself, or of its prefill."""
    workload = mapping(source, *path)
    size = kserve_pods.size(workload, path)
    if "rolloutStrategy" in workload:
        notes.lost((*path, "rolloutStrategy"), "Modelplane replaces one pod at a time, and needs no extra node for it")
    for name in others(workload, _OF_WORKLOADS) if path != ("spec",) else ():
        notes.lost((*path, name), "has no counterpart")
    is_gang = workload.get("worker") is not None and size > 1
    leader = kserve_pods.member(workload, path, serving, notes, role="Leader" if is_gang else "Standalone")
    members = [deployment.member(leader, "Leader" if is_gang else "Standalone")]
    parts: list[MemberParts] = [leader]
    if is_gang:
        worker = kserve_pods.member(workload, path, serving, notes, role="Worker")
        at = ("spec", "engines", serving.engine, "members", 1, "worker", "nodes")
        notes.changed((*path, "parallelism"), at, f"makes groups of {size} pods, of which one leads")
        members.append(deployment.member(worker, "Worker", workers=min(size - 1, 63)))
        parts.append(worker)
    elif workload.get("worker") is not None:
        notes.lost((*path, "worker"), "parallelism asks for one pod")
    if not any(part.devices for part in parts):
        deployment.without_devices(leader, (*path, "template"), notes)
    clusters = {key: value for part in parts for key, value in part.clusters.items()}
    settings = _passed_on(source, parts, serving.engine, notes)
    return {"name": kserve_pods.engine_name(leader), **settings, "members": members}, clusters


def _passed_on(
    source: Mapping[str, Any], parts: Sequence[MemberParts], engine: int, notes: Notes
) -> dict[str, dict[str, dict[str, str]]]:
    """Give pods what KServe passes on from the service's metadata. Return the settings of a gang's LeaderWorkerSet."""
    at: Path = ("spec", "engines", engine)
    for index, part in enumerate(parts):
        _annotate(source, part.template, notes.into((*at, "members", index, "template", "metadata")))
    if len(parts) == 1:
        deployment.pass_to_pods(source, parts[0].template, (*at, "members", 0, "template"), notes)
    for part in parts:
        part.template["spec"] = part.template.pop("spec")  # after the metadata, where people look for it
    if len(parts) == 1:
        return {}
    moved = deployment.of_workload(source, (*at, "leaderWorkerSet"), notes, is_reserved=is_set_by_controller)
    return {"leaderWorkerSet": moved} if moved else {}


def _annotate(source: Mapping[str, Any], template: dict[str, Any], notes: Notes) -> None:
    """Give a pod template the annotations of the service that KServe passes on. Its own win."""
    for key, value in texts(source, "metadata", "annotations").items():
        if key.startswith(_OF_PODS):
            template.setdefault("metadata", {}).setdefault("annotations", {}).setdefault(key, value)
            at: Path = ("annotations", key)
            notes.changed(("metadata", *at), at, "KServe passes it on to the pods")


def _replicas(workload: Mapping[str, Any], path: Path, notes: Notes) -> int | None:
    count = whole(workload, "replicas", at=path)
    scaling = mapping(workload, "scaling", at=path)
    if scaling and count is None:
        notes.left((*path, "scaling"), None, "let an autoscaler scale the ModelDeployment; it starts at minReplicas")
        least = whole(scaling, "minReplicas", at=(*path, "scaling"))
        return 1 if least is None else least
    return count


def _note_model(model: Mapping[str, Any], notes: Notes) -> None:
    if model.get("name") is not None:
        notes.changed(("spec", "model", "name"), None, "is the engine's --served-model-name")
    for name in others(dict(model), {"uri", "name", "lora"}):
        if model[name] is not None:
            notes.lost(("spec", "model", name), "has no counterpart")
    at: Path = ("spec", "model", "lora", "adapters")
    for index, adapter in enumerate(items(model, "lora", "adapters", at=("spec", "model"))):
        if kserve_pods.adapter(adapter, (*at, index)):
            notes.changed((*at, index), None, "is in the engine's --lora-modules")
        else:
            notes.lost((*at, index), "needs a name, and a URI of the hub (hf://)")


def _service(source: Mapping[str, Any], meta: Mapping[str, Any], notes: Notes) -> dict[str, Any] | None:
    """Return the ModelService if the service has a route."""
    router = mapping(source, "spec", "router")
    for name in router:
        if name == "scheduler":
            notes.lost(("spec", "router", name), _SCHEDULER)
        elif name not in ("route", "gateway", "ingress"):
            notes.lost(("spec", "router", name), "has no counterpart")
    if not any(router.get(name) is not None for name in ("route", "gateway", "ingress")):
        return None
    notes.changed(("spec", "router"), None, f"is ModelService {meta['name']}; clients use its status.address")
    for path in (("route", "http", "refs"), ("route", "http", "spec"), ("gateway", "refs"), ("ingress", "refs")):
        if mapping(router, *path[:-1], at=("spec", "router")).get(path[-1]) is not None:
            notes.lost(("spec", "router", *path), "the fleet's gateway routes")
    route = mapping(router, "route", at=("spec", "router"))
    if route.get("group") is not None or route.get("weight") is not None:
        notes.left(
            ("spec", "router", "route"), None, "services of a group are entries of one ModelService, with weights"
        )
    return deployment.model_service(meta["name"], meta.get("namespace"), [(meta["name"], 1)])
