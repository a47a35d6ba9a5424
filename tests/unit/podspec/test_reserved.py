"""What is ours in a pasted manifest: each field is refused, and the words tell what to write instead."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from function import cel, podspec
from function.podspec import reserved
from function.podspec.reserved import DEVICES
from function.schema import format_path
from tests.support.samples import TEMPLATE, Object, edited
from tests.support.template_cases.pods import PREFERRED, REQUIRED, on_nodes

RESOURCES = "spec.containers.0.resources"
LIMITS = 'spec.containers[0].resources.limits["{}"]'
INSTEAD = "is a device plugin's device; request it in nodeSelector.devices of the member: "
POOL = "select devices in nodeSelector.devices of the member, or clusters by spec.clusterSelector"
NODES = f"is set by Modelplane, which picks the node pool: {POOL}"
GPU_NODE = f"is about the GPUs or the pool of nodes, which Modelplane picks: {POOL}"


def refusals(template: Any) -> list[str]:
    """What is refused, and nothing else is wrong."""
    reading = podspec.read(template)
    assert {fault.code for fault in reading.faults} <= {"reserved"}
    assert reading.unknown == ()
    return [f"{format_path(fault.path)}: {fault.message}" for fault in reading.faults]


WHOLE_GPU = 'device.driver == "gpu.nvidia.com" && !("profile" in device.attributes["gpu.nvidia.com"])'
"""MIG slices are devices of the same driver."""
MIG = '"profile" in device.attributes["gpu.nvidia.com"] && device.attributes["gpu.nvidia.com"]'
PARTITION = '"partitionProfile" in device.attributes["gpu.amd.com"] && device.attributes["gpu.amd.com"]'
REQUESTS = {
    "nvidia.com/gpu": {"name": "gpu", "count": 2, "cel": WHOLE_GPU},
    "nvidia.com/pgpu": {"name": "gpu", "count": 2, "cel": WHOLE_GPU},
    "nvidia.com/gpu.shared": {"name": "gpu", "cel": WHOLE_GPU},
    "nvidia.com/mig-1g.10gb": {
        "name": "slice",
        "count": 2,
        "cel": f'{MIG}.profile == "1g.10gb"',
    },
    "nvidia.com/mig-1g.10gb.me": {
        "name": "slice",
        "count": 2,
        "cel": f'{MIG}.profile == "1g.10gb+me"',
    },
    "amd.com/gpu": {"name": "gpu", "count": 2, "cel": 'device.driver == "gpu.amd.com"'},
    "amd.com/cpx_nps4": {
        "name": "partition",
        "count": 2,
        "cel": f'{PARTITION}.partitionProfile == "cpx_nps4"',
    },
    "gpu.intel.com/i915": {"name": "gpu", "count": 2, "cel": 'device.driver == "gpu.intel.com"'},
    "gpu.intel.com/xe": {"name": "gpu", "count": 2, "cel": 'device.driver == "gpu.intel.com"'},
    "habana.ai/gaudi": {"name": "gaudi", "count": 2, "cel": 'device.driver == "gaudi.intel.com"'},
    "intel.com/gaudi3": {"name": "gaudi", "count": 2, "cel": 'device.driver == "gaudi.intel.com"'},
    "google.com/tpu": {"name": "tpu", "count": 2, "cel": 'device.driver == "tpu.google.com"'},
    "cloud-tpus.google.com/v3": {"name": "tpu", "count": 2, "cel": 'device.driver == "tpu.google.com"'},
    "aws.amazon.com/neuron": {"name": "neuron", "count": 2, "cel": 'device.driver == "neuron.aws.com"'},
    "aws.amazon.com/neurondevice": {"name": "neuron", "count": 2, "cel": 'device.driver == "neuron.aws.com"'},
    "aws.amazon.com/neuroncore": {"name": "neuron", "cel": 'device.driver == "neuron.aws.com"'},
}
"""By resource: the request that means the same. Shares and cores of devices have no count."""


@pytest.mark.parametrize("resource", REQUESTS)
def test_a_device_plugins_device_is_refused_with_the_request_that_means_the_same(resource: str) -> None:
    [message] = refusals(edited(TEMPLATE, f"{RESOURCES}.limits", {resource: "2", "cpu": 8}))

    at, request = LIMITS.format(resource), yaml.safe_load(message.partition(INSTEAD)[2])
    assert message.startswith(f"{at}: {INSTEAD}")
    [selector] = request.pop("selectors")
    assert request | selector == REQUESTS[resource]
    assert cel.compiled(selector["cel"])


def test_a_whole_gpu_is_no_slice_of_one() -> None:
    request = reserved.device_request("nvidia.com/gpu")
    assert request is not None
    selector = cel.admitted(request.selector)
    attributes = (("type", "mig"), ("profile", "1g.10gb"), ("productName", "NVIDIA A100-SXM4-80GB"))

    slice_ = cel.Device(driver="gpu.nvidia.com", attributes=attributes)
    whole = cel.Device(driver="gpu.nvidia.com", attributes=(("productName", "NVIDIA A100-SXM4-80GB"),))
    bare = cel.Device(driver="gpu.nvidia.com")

    assert [selector.evaluate(one) == cel.MATCH for one in (slice_, whole, bare)] == [False, True, True]


@pytest.mark.parametrize("resource", REQUESTS)
def test_a_request_can_be_evaluated_on_every_device(resource: str) -> None:
    """An error would keep Kubernetes from allocating any device of the node."""
    request = reserved.device_request(resource)
    assert request is not None
    selector = cel.admitted(request.selector)

    drivers = ("gpu.nvidia.com", "gpu.amd.com", "dra.net")
    bare = [cel.Device(driver=driver, attributes=(("type", "gpu"),)) for driver in drivers]

    assert {selector.evaluate(device) for device in bare} <= {cel.MATCH, cel.NO_MATCH}


def test_every_row_of_the_table_is_shown() -> None:
    requests = {(one["name"], one["cel"]) for one in REQUESTS.values()}
    assert {device.request for device in DEVICES} == {name for name, _ in requests}
    assert len(REQUESTS) >= len(DEVICES)


def test_a_device_is_told_once_for_its_request_and_its_limit_and_once_in_each_container() -> None:
    gpu = {"resources": {side: {"nvidia.com/gpu": 1} for side in ("requests", "limits")}}
    containers = [{"name": name, "image": "a", **gpu} for name in ("engine", "other")]

    assert [message.partition(":")[0] for message in refusals(edited(TEMPLATE, "spec.containers", containers))] == [
        f'spec.containers[{index}].resources.limits["nvidia.com/gpu"]' for index in (0, 1)
    ]


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(("field", "value"), [("namespaces", ["other"]), ("namespaceSelector", {})])
def test_pods_of_other_namespaces_are_not_related_to(kind: str, field: str, value: object) -> None:
    """A pod that must not run beside any pod of any namespace would keep all other tenants off a pool."""
    term = {"topologyKey": "modelplane.ai/pool", "labelSelector": {}, field: value}
    terms = {REQUIRED: [term], PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}
    told = refusals(edited(TEMPLATE, f"spec.affinity.{kind}", terms))

    at = f"spec.affinity.{kind}"
    assert [message.partition(": ")[0] for message in told] == [
        f"{at}.{REQUIRED}[0].{field}",
        f"{at}.{PREFERRED}[0].podAffinityTerm.{field}",
    ]


PASSED_ON = {
    "pods of the same namespace": edited(
        TEMPLATE,
        f"spec.affinity.podAntiAffinity.{REQUIRED}",
        [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}],
    ),
    "devices that are none of a class": edited(
        TEMPLATE, f"{RESOURCES}.limits", {"rdma/hca": 1, "vpc.amazonaws.com/efa": 4, "cpu": 8, "hugepages-2Mi": "4Gi"}
    ),
    "monitors of GPUs": edited(TEMPLATE, f"{RESOURCES}.limits", {"gpu.intel.com/i915_monitoring": 1, "cpu": 8}),
    "nodes of a zone": on_nodes({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}),
    "nodes by name": edited(
        TEMPLATE,
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["a"]}]}],
    ),
    "claims of the user's": edited(
        TEMPLATE, "spec.resourceClaims", [{"name": "nics", "resourceClaimTemplateName": "rails"}]
    ),
    "an account of another maker": edited(TEMPLATE, "spec.serviceAccountName", "engines"),
    "labels of others": edited(TEMPLATE, "metadata.labels", {"app": "a", "kueue.x-k8s.io/queue-name": "b"}),
}


@pytest.mark.parametrize("template", PASSED_ON.values(), ids=PASSED_ON)
def test_what_is_not_ours_is_passed_on(template: Object) -> None:
    reading = podspec.read(template)

    assert (reading.faults, reading.unknown) == ((), ())


def prefers(key: str) -> Object:
    term = {"weight": 1, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}
    return edited(TEMPLATE, f"spec.affinity.nodeAffinity.{PREFERRED}", [term])


_TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
_OURS = "begins with modelplane-, as names that Modelplane gives do; choose another"
REFUSED = {
    "nodes by labels": (
        edited(TEMPLATE, "spec.nodeSelector", {"kubernetes.io/os": "linux"}),
        f"spec.nodeSelector: {NODES}; for other labels of nodes use affinity.nodeAffinity",
    ),
    "a node": (edited(TEMPLATE, "spec.nodeName", "a"), f"spec.nodeName: {NODES}"),
    "a scheduler": (
        edited(TEMPLATE, "spec.schedulerName", "volcano"),
        (
            "spec.schedulerName: is set by Modelplane, which has Kubernetes' own scheduler place pods on the nodes of"
            " the pool"
        ),
    ),
    "nodes by their GPUs": (
        on_nodes({"key": "zone", "operator": "Exists"}, {"key": "nvidia.com/gpu.product", "operator": "Exists"}),
        f"{_TERMS}[0].matchExpressions[1].key: {GPU_NODE}",
    ),
    "the claim of Modelplane": (
        edited(TEMPLATE, "spec.resourceClaims", [{"name": "devices", "resourceClaimTemplateName": "a"}]),
        "spec.resourceClaims[0].name: is devices, the claim that Modelplane adds; choose another name",
    ),
    "a claim named as ours": (
        edited(TEMPLATE, "spec.resourceClaims", [{"name": "modelplane2", "resourceClaimTemplateName": "a"}]),
        "spec.resourceClaims[0].name: begins with modelplane, as names that Modelplane gives do; choose another",
    ),
    "an account of Modelplane": (
        edited(TEMPLATE, "spec.serviceAccountName", "modelplane-picker"),
        f"spec.serviceAccountName: {_OURS}",
    ),
    "an account of Modelplane by its old field": (
        edited(TEMPLATE, "spec.serviceAccount", "modelplane-picker"),
        f"spec.serviceAccount: {_OURS}",
    ),
    "a volume of Modelplane": (
        edited(TEMPLATE, "spec.volumes", [{"name": "modelplane-shm", "emptyDir": {}}]),
        f"spec.volumes[0].name: {_OURS}",
    ),
    "a label of Modelplane": (
        edited(TEMPLATE, "metadata.labels", {"modelplane.ai/pool": "a"}),
        'metadata.labels["modelplane.ai/pool"]: is under modelplane.ai/, which Modelplane sets itself',
    ),
    "an annotation of LeaderWorkerSet": (
        edited(TEMPLATE, "metadata.annotations", {"leaderworkerset.sigs.k8s.io/size": "2"}),
        (
            'metadata.annotations["leaderworkerset.sigs.k8s.io/size"]: is under leaderworkerset.sigs.k8s.io/,'
            " which Modelplane or the controller of the pods sets; settings of a LeaderWorkerSet belong in"
            " leaderWorkerSet of the engine"
        ),
    ),
}


@pytest.mark.parametrize(("template", "want"), REFUSED.values(), ids=REFUSED)
def test_what_is_ours_is_refused_with_what_to_write_instead(template: Object, want: str) -> None:
    assert refusals(template) == [want]


GPU_LABELS = [
    *("nvidia.com/gpu.product", "amd.com/gpu.device-id", "gpu.intel.com/product", "habana.ai/gaudi"),
    *("cloud.google.com/gke-accelerator", "cloud.google.com/gke-tpu-topology", "cloud.google.com/gke-nodepool"),
    *("karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-accelerator-count"),
    *("node.kubernetes.io/instance-type", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool"),
    *("kubernetes.azure.com/accelerator", "modelplane.ai/pool", "karpenter.sh/nodepool"),
    *("gpu.nvidia.com/model", "aliyun.accelerator/nvidia_name", "machine.cluster.vke.volcengine.com/gpu-name"),
    *("beta.kubernetes.io/instance-type", "eks.amazonaws.com/instance-gpu-name", "eks.amazonaws.com/instance-family"),
]


@pytest.mark.parametrize("key", GPU_LABELS)
def test_nodes_are_not_picked_by_what_tells_their_gpus_or_their_pool(key: str) -> None:
    at = f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].key"

    assert refusals(prefers(key)) == [f"{at}: {GPU_NODE}"]


NESTED = {
    "a Deployment's spec": {"spec": {"replicas": 1, "selector": {}, "template": TEMPLATE}},
    "a Deployment": {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": TEMPLATE}},
    "a template of no containers": {"spec": {"template": {}}},
}


@pytest.mark.parametrize("template", NESTED.values(), ids=NESTED)
def test_a_template_in_a_template_is_told_alone(template: Any) -> None:
    assert refusals(template) == [
        (
            "spec.template: is a template in a template: put the metadata and the spec that are in it one level higher,"
            " in place of this spec, or use modelplane convert"
        )
    ]


def test_a_fault_hides_what_is_ours() -> None:
    """A template that Kubernetes refuses is mended first: what a field means is not known yet."""
    template = edited(edited(TEMPLATE, "spec.nodeName", "a"), "spec.containers.0.image")

    assert [fault.code for fault in podspec.read(template).faults] == ["required"]
