"""A usual pod template as users paste it: accepted, all but the GPU limit."""

from __future__ import annotations

from function.publish.catalog import BY_KIND
from function.schema import problems
from tests.support import pasted
from tests.support.api_cases import deployed
from tests.support.deployment_cases import AT_TEMPLATE
from tests.support.samples import edited


def test_a_pasted_template_is_accepted_all_but_the_gpu_limit() -> None:
    xr = deployed(pasted.TEMPLATE)
    [problem] = problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr)

    assert (problem.field, problem.code) == (
        f'{AT_TEMPLATE}.spec.containers[0].resources.limits["nvidia.com/gpu"]',
        "reserved",
    )
    assert problem.message == (
        "is a device plugin's device; request it in nodeSelector.devices of the member:"
        ' {name: gpu, count: 1, selectors: [{cel: \'device.driver == "gpu.nvidia.com"'
        ' && !("profile" in device.attributes["gpu.nvidia.com"])\'}]}'
    )


def test_it_is_accepted_without_it() -> None:
    xr = deployed(edited(pasted.TEMPLATE, pasted.GPU, {"cpu": "8", "memory": "32Gi", "rdma/hca": "1"}))

    assert problems(BY_KIND[xr["apiVersion"], xr["kind"]].spec, xr) == []
