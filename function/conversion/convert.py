"""Other manifests as ModelDeployments, with what belongs to them.

Phases, in call order:

1. `_convert`: each workload is converted on its own. One that cannot be read as what it says it is has a problem
   instead.
2. `_service`: Services are matched with the pods of converted workloads.
3. `_companion`: Secrets and ConfigMaps that converted templates name go with them. Other objects are named, with what
   to do about them.

The result holds every source, in its order: with its targets, with notes, or with a problem. Objects of other kinds are
never an error: a stream of manifests contains many.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from function import podspec
from function.conversion import claims, kserve, kubernetes, leaderworkerset, services, upstream
from function.conversion.notes import NOTHING, Beside, NotConvertible, Note, Notes, Path, texts
from function.conversion.services import Workload
from function.core import Manifest, dig
from function.publish.catalog import BY_KIND
from function.schema import format_path
from function.vocabulary import versions

Convert = Callable[[Mapping[str, Any], Notes], list[dict[str, Any]]]
"""Returns a ModelDeployment, and what belongs to it."""
_OURS = versions.MODELPLANE.partition("/")[0]
_SERVICE = ("v1", "Service")
_CARRIED = {("v1", "Secret"), ("v1", "ConfigMap")}
_SERVERS = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "managedFields", "selfLink", "ownerReferences", "generateName",
)  # fmt: skip
"""Fields of metadata that servers write (k8s.io/apimachinery v0.36, meta/v1, ObjectMeta)."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_ADVICE: Mapping[str, str] = {
    "PersistentVolumeClaim": "apply it to the inference clusters, in the namespace of the ModelDeployment",
    "PersistentVolume": "apply it to the inference clusters",
    "StorageClass": "apply it to the inference clusters",
    "ServiceAccount": "apply it to the inference clusters, in the namespace of the ModelDeployment",
    "Namespace": "create it on the control cluster; Modelplane creates it on inference clusters",
    "HorizontalPodAutoscaler": "let it scale the ModelDeployment, by a metric of the gateway or of your monitoring",
    "ScaledObject": "let it scale the ModelDeployment, by a metric of the gateway or of your monitoring",
    "PodDisruptionBudget": "a rollout replaces one pod at a time; on inference clusters, apply your own",
    "Ingress": "clients use status.address of a ModelService",
    "HTTPRoute": "clients use status.address of a ModelService; weights of backendRefs become those of its entries",
    "AIGatewayRoute": (
        "clients use status.address of a ModelService; its entries have the weight and the priority of backendRefs, and"
        " modelNameOverride as model"
    ),
    "AIServiceBackend": "write a ModelEndpoint with the provider's base URL",
    "BackendSecurityPolicy": "an API key is auth.secretRef of a ModelEndpoint",
    "VirtualService": "clients use status.address of a ModelService",
    "Gateway": "the fleet's gateway is an InferenceGateway",
    "InferencePool": "serving mode PrefillDecode makes one; otherwise a Service spreads the requests",
    "PodMonitor": "apply it to the inference clusters, with the labels of the pods",
    "PodMonitoring": "apply it to the inference clusters, with the labels of the pods",
    "ServiceMonitor": "apply it to the inference clusters, with the labels of the pods",
    "InferenceService": (
        "write a ModelDeployment with its container; for modelFormat huggingface, that is the image"
        " kserve/huggingfaceserver with the args of the predictor"
    ),
    "RayService": "write a ModelDeployment that runs vllm serve; the recipe deepseek-vllm-ray is a gang over Ray",
    "Workspace": "write a ModelDeployment with the engine, the model and the flags of its preset",
    "ResourceClaimTemplate": "pods that claim it get device requests; Modelplane makes the templates",
}
"""What to do about kinds that often stand beside a workload, or instead of one."""
_MOST_PATHS = 8
"""Pods of an object that are named."""


@dataclass(slots=True)
class Converted:
    """What became of one source object."""

    source: Manifest
    targets: list[dict[str, Any]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    problem: NotConvertible | None = None
    """Why it could not be read. It has no targets then."""
    advice: str = ""
    """What to do about an object that is not converted."""
    beside: Beside = NOTHING
    """The sources that stand beside it."""


def convert(manifests: Sequence[Manifest], namespace: str | None = None) -> list[Converted]:
    """Convert objects.

    Args:
        manifests: Kubernetes objects: maps with apiVersion, kind and metadata.name.
        namespace: The namespace of all targets, instead of that of their sources.

    Returns:
        What became of each object, in the given order.
    """
    results = [Converted(manifest, beside=_beside(manifest, manifests)) for manifest in manifests]
    workloads: list[Workload] = []
    for result in results:
        _guarded(result, _convert, workloads)
    for result in results:
        if _kind(result.source) == _SERVICE:
            _guarded(result, _service, workloads)
    named = {(kind, name) for one in workloads for kind, name in _references(one.target)}
    for result in results:
        _companion(result, named)
    for target in (target for result in results for target in result.targets if namespace):
        if not _is_cluster_scoped(target):
            target["metadata"]["namespace"] = namespace
    return results


def _beside(source: Manifest, manifests: Sequence[Manifest]) -> Beside:
    namespace = source["metadata"].get("namespace")
    near = [one for one in manifests if one["metadata"].get("namespace") == namespace]
    return Beside(
        frozenset((one["kind"], one["metadata"]["name"]) for one in near if _kind(one) in _CARRIED),
        {one["metadata"]["name"]: one for one in near if _is_claim_template(one)},
    )


def _is_claim_template(source: Manifest) -> bool:
    return source["kind"] == "ResourceClaimTemplate" and source["apiVersion"] in claims.VERSIONS


def _guarded(result: Converted, run: Callable[[Converted, list[Workload]], None], workloads: list[Workload]) -> None:
    try:
        run(result, workloads)
    except NotConvertible as problem:
        result.problem = problem
        result.targets.clear()
        result.notes.clear()


def _kind(manifest: Manifest) -> tuple[str, str]:
    return manifest["apiVersion"], manifest["kind"]


def _convert(result: Converted, workloads: list[Workload]) -> None:
    source = result.source
    run = _converter(source)
    if run is None or (owner := _owner(source)):
        if run is not None:
            result.advice = f"is made by {owner}, which is what to convert"
        return
    notes = Notes(written=result.notes, beside=result.beside)
    result.targets.extend(run(source, notes))
    if _kind(source) in _BEHIND_SERVICES:
        namespace = source["metadata"].get("namespace")
        workloads.append(Workload(result.targets[0], _pod_labels(source), namespace, notes))
    elif _kind(source) in kserve.KINDS:
        workloads.append(Workload(result.targets[0], {}, None, notes))


def _converter(source: Manifest) -> Convert | None:
    for kinds, run in _CONVERTERS:
        if _kind(source) in kinds:
            return run
    return upstream.converted if source["kind"] == "ModelDeployment" and upstream.is_nested(source) else None


_CONVERTERS: Sequence[tuple[set[tuple[str, str]], Convert]] = (
    (kubernetes.KINDS, kubernetes.converted),
    (leaderworkerset.KINDS, leaderworkerset.converted),
    (kserve.KINDS, kserve.converted),
)
_BEHIND_SERVICES = kubernetes.KINDS | leaderworkerset.KINDS
"""Workloads in front of which stand Services of their users."""


def _owner(source: Manifest) -> str | None:
    """Return the object that made this one, if it was read from a cluster and was made by another."""
    owner = dig(source, "metadata", "ownerReferences", 0)
    name, kind = dig(owner, "name"), dig(owner, "kind")
    return f"{kind} {name}" if isinstance(name, str) and isinstance(kind, str) else None


def _pod_labels(source: Manifest) -> dict[str, str]:
    """Return the labels of the pods that serve."""
    if source["kind"] == "Pod":
        return texts(source, "metadata", "labels")
    if source["kind"] != "LeaderWorkerSet":
        return texts(source, "spec", "template", "metadata", "labels")
    templates: Path = ("spec", "leaderWorkerTemplate")
    has_leader = dig(source, *templates, "leaderTemplate") is not None
    lead = "leaderTemplate" if has_leader else "workerTemplate"
    own = texts(source, *templates, lead, "metadata", "labels")
    name = source["metadata"]["name"]
    return {**own, "leaderworkerset.sigs.k8s.io/name": name, "leaderworkerset.sigs.k8s.io/worker-index": "0"}


def _service(result: Converted, workloads: Sequence[Workload]) -> None:
    target = services.converted(result.source, workloads, Notes(written=result.notes))
    if isinstance(target, str):
        result.advice = target
    else:
        result.targets.append(target)


def _references(target: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for engine in target["spec"]["engines"]:
        for member in engine["members"]:
            for reference in podspec.references(member["template"]):
                yield reference.kind, reference.name


def _companion(result: Converted, named: set[tuple[str, str]]) -> None:
    """Pass on what converted templates name and what is ours already, and name the rest."""
    if result.targets or result.problem or result.notes or result.advice:
        return
    source = result.source
    ours = is_ours(source)
    if ours or (_kind(source) in _CARRIED and (source["kind"], source["metadata"]["name"]) in named):
        result.targets.append(_clean(source))
        Notes(written=result.notes).carried((), (), "as it is" if ours else "a converted template names it")
    elif _kind(source) in _CARRIED:
        result.advice = "no converted template names it"
    else:
        result.advice = _ADVICE.get(source["kind"]) or _about_pods(source)


def _is_cluster_scoped(target: Manifest) -> bool:
    kind = BY_KIND.get((target["apiVersion"], target["kind"]))
    return kind is not None and kind.scope == "Cluster"


def is_ours(source: Manifest) -> bool:
    """Whether an object is of one of Modelplane's kinds."""
    return str(source["apiVersion"]).partition("/")[0] == _OURS


def _about_pods(source: Manifest) -> str:
    """Return what to do about an object of a kind that is not known: its pods can be a member's."""
    paths = [format_path(path) for path in itertools.islice(_pod_specs(source, ()), _MOST_PATHS + 1)]
    if not paths:
        return "has no counterpart"
    shown = ", ".join(paths[:_MOST_PATHS]) + (", …" if len(paths) > _MOST_PATHS else "")
    return f"its kind is not known; its pods at {shown} can be a member's template.spec"


def _pod_specs(value: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of maps that look like a pod's spec."""
    if isinstance(value, dict):
        if path and isinstance(value.get("containers"), list):
            yield path
        for key, child in value.items():
            yield from _pod_specs(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _pod_specs(child, (*path, index))


def _clean(source: Manifest) -> dict[str, Any]:
    """Return an object without what servers write."""
    metadata = {k: v for k, v in source["metadata"].items() if k not in _SERVERS and v is not None}
    if isinstance(metadata.get("annotations"), dict):
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k != _LAST_APPLIED}
        if not metadata["annotations"]:
            del metadata["annotations"]
    return {**{k: v for k, v in source.items() if k != "status"}, "metadata": metadata}
