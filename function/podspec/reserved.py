"""Fields of a pod template that Modelplane sets itself, and what to write instead.

A pasted manifest has many of them. Each is refused with the words that replace it, and not dropped: a dropped GPU limit
or node selector would change what the user meant without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from function.podspec import references
from function.podspec.fault import Fault, Path
from function.podspec.rules import affinity, containers
from function.vocabulary import drivers, labels

_POOL = "select devices in nodeSelector.devices of the member, or clusters by spec.clusterSelector"
_NODES = f"is set by Modelplane, which picks the node pool: {_POOL}"
_NOT_OURS = {
    "nodeSelector": f"{_NODES}; for other labels of nodes use affinity.nodeAffinity",
    "nodeName": _NODES,
    "schedulerName": "is set by Modelplane, which has Kubernetes' own scheduler place pods on the nodes of the pool",
}
RESERVED_KEYS = (labels.PREFIX, "llm-d.ai/", "leaderworkerset.sigs.k8s.io/")
"""Prefixes of labels and annotations that Modelplane, llm-d and LeaderWorkerSet set."""
_INSTEAD = {
    "leaderworkerset.sigs.k8s.io/": "; settings of a LeaderWorkerSet belong in leaderWorkerSet of the engine",
}
NAMESPACES = frozenset({"namespace", "namespaces", "namespaceSelector", "volumeNamespace"})
"""Fields of a pod's spec that name a namespace, by their names in Kubernetes' schema."""
PREFIX = "modelplane-"
"""Prefix of names that Modelplane gives: ServiceAccounts, claims, and volumes."""
CLAIM = "devices"
"""Name of the claim for devices, in the pod and in the engine's container."""


class Device(NamedTuple):
    """The resource of a device plugin, and the device request that means the same."""

    pattern: str
    request: str
    """Name of the request."""
    selector: str
    """A CEL expression. {0} is what the pattern's group matches."""
    is_whole: bool = True
    """Whether the resource counts devices. Otherwise it counts shares or cores of them."""


def _of_profile(driver: str) -> str:
    """Return the selector of slices with a profile. It fails on no device: whole GPUs need not have the attribute."""
    attribute = drivers.PROFILES[driver]
    attributes = f'device.attributes["{driver}"]'
    return f'"{attribute}" in {attributes} && {attributes}.{attribute} == "{{0}}"'


NVIDIA = 'device.driver == "gpu.nvidia.com"'
WHOLE_NVIDIA = f'{NVIDIA} && !("profile" in device.attributes["gpu.nvidia.com"])'
"""MIG slices are devices of the same driver. Only they have a profile."""
_NEURON = 'device.driver == "neuron.aws.com"'
_GAUDI, _TPU = 'device.driver == "gaudi.intel.com"', 'device.driver == "tpu.google.com"'
DEVICES = (
    Device(r"nvidia\.com/mig-(.+)", "slice", _of_profile(drivers.NVIDIA)),
    Device(r"nvidia\.com/(gpu|pgpu)", "gpu", WHOLE_NVIDIA),
    Device(r"nvidia\.com/(gpu\.shared)", "gpu", WHOLE_NVIDIA, is_whole=False),
    Device(r"amd\.com/(gpu)", "gpu", 'device.driver == "gpu.amd.com"'),
    Device(r"amd\.com/([sdc]px_nps[124])", "partition", _of_profile(drivers.AMD)),
    Device(r"gpu\.intel\.com/(i915|xe)", "gpu", 'device.driver == "gpu.intel.com"'),
    Device(r"(?:habana\.ai|intel\.com)/(gaudi.*)", "gaudi", _GAUDI),
    Device(r"(?:google\.com/tpu|cloud-tpus\.google\.com/.+)()", "tpu", _TPU),
    Device(r"aws\.amazon\.com/(neuron|neurondevice)", "neuron", _NEURON),
    Device(r"aws\.amazon\.com/(neuroncore)", "neuron", _NEURON, is_whole=False),
)
"""Device plugins' resources for accelerators, with the DRA drivers that replace them: dra-driver-nvidia-gpu v25.8,
k8s-gpu-dra-driver (AMD) v0.1, intel-resource-drivers-for-kubernetes v0.8 (gpu.intel.com, gaudi.intel.com),
dra-driver-google-tpu, AWS Neuron DRA driver. Other extended resources, such as rdma/hca, are passed on."""
_MEDIA = (".me", "+me")
"""How the profile of a MIG slice with media engines ends: as a resource, and as the attribute of a device."""

GPU_LABELS = re.compile(
    r"(beta\.)?(nvidia|amd)\.com/|gpu\.(nvidia|intel)\.com/|habana\.ai/|modelplane\.ai/"
    r"|cloud\.google\.com/gke-(accelerator|tpu|gpu|nodepool)|(node|beta)\.kubernetes\.io/instance-type"
    r"|(karpenter\.k8s\.aws|eks\.amazonaws\.com)/instance-(gpu|accelerator|family)|karpenter\.sh/nodepool"
    r"|eks\.amazonaws\.com/nodegroup|kubernetes\.azure\.com/(agentpool|accelerator)"
    r"|aliyun\.accelerator/|machine\.cluster\.vke\.volcengine\.com/gpu-"
)
"""Labels of nodes that tell their GPUs, machine type or pool."""


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for every field of a sound template that Modelplane sets itself."""
    spec = template["spec"]
    for field, problem in _NOT_OURS.items():
        if field in spec:
            yield Fault(("spec", field), problem, "reserved")
    yield from _affinity(spec)
    yield from _other_namespaces(template)
    yield from _keys(template.get("metadata", {}))
    yield from _names(spec)
    for path, container in containers.each(template):
        yield from _devices((*path, "resources"), container.get("resources", {}))


def nested(template: Mapping[str, Any]) -> Fault | None:
    """Return the fault of a template that contains the real template one level deeper."""
    inner = template.get("spec")
    if isinstance(inner, Mapping) and isinstance(inner.get("template"), Mapping) and "containers" not in inner:
        problem = (
            "is a template in a template: put the metadata and the spec that are in it one level higher, in place of"
            " this spec, or use modelplane convert"
        )
        return Fault(("spec", "template"), problem, "reserved")
    return None


def is_own_claim(name: str) -> bool:
    """Return whether a claim of a pod has a name that Modelplane gives, or may give."""
    return name == CLAIM or name.startswith("modelplane")


class Request(NamedTuple):
    """A device request that replaces a device plugin's resource."""

    name: str
    selector: str
    """A CEL expression."""
    is_whole: bool
    """Whether the resource's amount is the number of devices."""


def device_request(resource: str) -> Request | None:
    """Return the device request that replaces a device plugin's resource. None if it is no such resource."""
    for device in DEVICES if "/" in resource else ():
        if found := re.fullmatch(device.pattern, resource):
            selector = device.selector.replace("{0}", found[1].replace(*_MEDIA))
            return Request(device.request, selector, device.is_whole)
    return None


def _written(request: Request, amount: str) -> str:
    """Return a device request as YAML."""
    count = f"count: {amount}, " if request.is_whole and amount.isdigit() else ""
    return f"{{name: {request.name}, {count}selectors: [{{cel: '{request.selector}'}}]}}"


def _devices(path: Path, resources: Mapping[str, Any]) -> Iterator[Fault]:
    told = set()
    for field in ("limits", "requests"):
        for name, amount in resources.get(field, {}).items():
            request = None if name in told else device_request(name)
            if request:
                told.add(name)
                instead = _written(request, amount)
                problem = f"is a device plugin's device; request it in nodeSelector.devices of the member: {instead}"
                yield Fault((*path, field, name), problem, "reserved")


def _affinity(spec: Mapping[str, Any]) -> Iterator[Fault]:
    nodes = spec.get("affinity", {}).get("nodeAffinity", {})
    for path, term in affinity.node_terms(nodes):
        for index, expression in enumerate(term.get("matchExpressions", ())):
            if GPU_LABELS.match(expression["key"]):
                problem = f"is about the GPUs or the pool of nodes, which Modelplane picks: {_POOL}"
                at = ("spec", "affinity", "nodeAffinity", *path, "matchExpressions", index, "key")
                yield Fault(at, problem, "reserved")


def _other_namespaces(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for every field that names another namespace.

    A pod that must not run beside any pod of any namespace would keep all other tenants off a pool. A volume that is
    filled from a claim of another namespace would read that claim.
    """
    for path, definition in references.having(template, NAMESPACES):
        what = "relates to pods of other namespaces" if definition == "PodAffinityTerm" else "names another namespace"
        own = "relate to pods of" if definition == "PodAffinityTerm" else "name what is in"
        yield Fault(path, f"{what}; a template may {own} its own namespace only", "reserved")


def _keys(metadata: Mapping[str, Any]) -> Iterator[Fault]:
    for field in ("labels", "annotations"):
        for key in metadata.get(field, {}):
            prefix = next((prefix for prefix in RESERVED_KEYS if key.startswith(prefix)), None)
            if prefix == labels.PREFIX:
                yield Fault(("metadata", field, key), f"is under {prefix}, which Modelplane sets itself", "reserved")
            elif prefix:
                instead = _INSTEAD.get(prefix, "")
                problem = f"is under {prefix}, which Modelplane or the controller of the pods sets{instead}"
                yield Fault(("metadata", field, key), problem, "reserved")


def _names(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of names that are ours."""
    problem = f"begins with {PREFIX}, as names that Modelplane gives do; choose another"
    for field in ("serviceAccountName", "serviceAccount"):
        if spec.get(field, "").startswith(PREFIX):
            yield Fault(("spec", field), problem, "reserved")
    for index, volume in enumerate(spec.get("volumes", ())):
        if volume["name"].startswith(PREFIX):
            yield Fault(("spec", "volumes", index, "name"), problem, "reserved")
    for index, claim in enumerate(spec.get("resourceClaims", ())):
        at = ("spec", "resourceClaims", index, "name")
        if claim["name"] == CLAIM:
            yield Fault(at, f"is {CLAIM}, the claim that Modelplane adds; choose another name", "reserved")
        elif is_own_claim(claim["name"]):
            yield Fault(at, "begins with modelplane, as names that Modelplane gives do; choose another", "reserved")
