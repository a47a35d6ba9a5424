"""Requests and limits."""

from __future__ import annotations

from tests.support.samples import TEMPLATE, edited

IN = "spec.containers.0.resources"
AT = "spec.containers[0].resources"
_NO_RESOURCE = "must be cpu, memory, ephemeral-storage, hugepages-SIZE or an extended resource with a domain"
_ASKED = "is a device plugin's device; request it in nodeSelector.devices of the member:"

GOOD = {
    "as much as its limit": edited(TEMPLATE, IN, {"requests": {"cpu": 1}, "limits": {"cpu": "1000m", "memory": "1Gi"}}),
    "a fraction without quotes": edited(TEMPLATE, IN, {"requests": {"cpu": 0.5}}),
    "devices that are passed on": edited(
        TEMPLATE, IN, {"limits": {"rdma/hca": 1, "vpc.amazonaws.com/efa": "1", "memory": "1Gi", "hugepages-2Mi": "4Gi"}}
    ),
    "an init container above the pod's limit": edited(
        edited(TEMPLATE, "spec.resources.limits", {"memory": "64Gi"}),
        "spec.initContainers",
        [{"name": "a", "image": "a", "resources": {"limits": {"memory": "1Ti"}}}],
    ),
    "a pod's own memory": edited(TEMPLATE, "spec.resources.limits", {"memory": "64Gi"}),
    "a claim of the user's": edited(
        edited(TEMPLATE, "spec.resourceClaims", [{"name": "nic", "resourceClaimTemplateName": "nics"}]),
        f"{IN}.claims",
        [{"name": "nic", "request": "rail"}],
    ),
}

BAD = {
    "GPUs as a resource": (
        edited(TEMPLATE, f"{IN}.limits", {"nvidia.com/gpu": 1}),
        (
            f'{AT}.limits["nvidia.com/gpu"]: {_ASKED} {{name: gpu, count: 1,'
            ' selectors: [{cel: \'device.driver == "gpu.nvidia.com"'
            ' && !("profile" in device.attributes["gpu.nvidia.com"])\'}]}'
        ),
    ),
    "a quantity that is none": (
        edited(TEMPLATE, f"{IN}.limits", {"memory": "16GB"}),
        f'{AT}.limits.memory: must be a Kubernetes quantity such as 500m, 0.5, 8, 40Gi or 1.5e3, not "16GB"',
    ),
    "a quantity below zero": (
        edited(TEMPLATE, f"{IN}.limits", {"cpu": -1}),
        f"{AT}.limits.cpu: must be a Kubernetes quantity such as 500m, 0.5, 8, 40Gi or 1.5e3, not -1",
    ),
    "more than its limit": (
        edited(TEMPLATE, IN, {"requests": {"memory": "2Gi"}, "limits": {"memory": "2G"}}),
        f"{AT}.requests.memory: cannot be more than the limit, 2G, and is 2Gi",
    ),
    "a resource without a domain": (
        edited(TEMPLATE, f"{IN}.limits", {"gpu": 1}),
        f"{AT}.limits.gpu: {_NO_RESOURCE}",
    ),
    "an extended resource without a limit": (
        edited(TEMPLATE, f"{IN}.requests", {"rdma/hca": 1}),
        f'{AT}.requests["rdma/hca"]: needs a limit of the same amount: it cannot be overcommitted',
    ),
    "an extended resource below its limit": (
        edited(TEMPLATE, IN, {"requests": {"rdma/hca": 1}, "limits": {"rdma/hca": 2}}),
        f'{AT}.requests["rdma/hca"]: must be equal to its limit, 2, not 1',
    ),
    "half a device": (
        edited(TEMPLATE, f"{IN}.limits", {"rdma/hca": "500m"}),
        f'{AT}.limits["rdma/hca"]: must be a whole number, not 500m',
    ),
    "half a huge page": (
        edited(TEMPLATE, f"{IN}.limits", {"memory": "16Gi", "hugepages-2Mi": "3Mi"}),
        f"{AT}.limits.hugepages-2Mi: must be a multiple of 2Mi, not 3Mi",
    ),
    "huge pages alone": (
        edited(TEMPLATE, IN, {"limits": {"hugepages-2Mi": "2Mi"}}),
        f"{AT}: must have cpu or memory beside huge pages",
    ),
    "a pod's own disk": (
        edited(TEMPLATE, "spec.resources.limits", {"ephemeral-storage": "8Gi"}),
        "spec.resources.limits.ephemeral-storage: must be cpu, memory or hugepages-SIZE",
    ),
    "more than the pod's limit": (
        edited(edited(TEMPLATE, "spec.resources.limits", {"memory": "64Gi"}), f"{IN}.limits", {"memory": "1Ti"}),
        f"{AT}.limits.memory: cannot be more than the pod's limit, 64Gi, and is 1Ti",
    ),
    "a claim that is not there": (
        edited(TEMPLATE, f"{IN}.claims", [{"name": "nic"}]),
        f"{AT}.claims[0].name: names no claim of spec.resourceClaims, nic",
    ),
}
