"""A label of nodes selects the devices of those nodes, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from function import cel
from function.api import inferenceclass
from function.conversion import gpus, weights
from function.podspec import reserved

EXAMPLES = Path(__file__).parents[3] / "examples/classes"
CLASSES = [one for path in sorted(EXAMPLES.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text()) if one]
A100_80 = {"NVIDIA A100-SXM4-80GB 80Gi", "NVIDIA A100 80GB PCIe 80Gi"}
MACHINES = {"gke": "machineType", "eks": "instanceType", "aks": "vmSize"}


def devices(manifest: dict) -> list[cel.Device]:
    """The GPUs of a class."""
    spec = inferenceclass.parse(manifest)
    return [
        cel.Device(
            driver=device.driver,
            attributes=tuple((name, inferenceclass._value(value)) for name, value in device.attributes.items()),
            capacity=tuple((name, str(amount.value)) for name, amount in device.capacity.items()),
        )
        for device in spec.devices
        if device.driver in (gpus.NVIDIA, gpus.AMD)
    ]


def names_matched(selects: gpus.Selects) -> set[str]:
    """The products that a selector matches, among all GPUs of the examples."""
    selector = cel.admitted(f'device.driver == "{selects.driver}" && {selects.cel}')
    every = [device for manifest in CLASSES for device in devices(manifest)]
    matched = [device for device in every if selector.evaluate(device) == cel.MATCH]
    return {f"{dict(device.attributes)['productName']} {dict(device.capacity)['memory']}" for device in matched}


def products(manifest: dict) -> set[str]:
    return {f"{dict(one.attributes)['productName']} {dict(one.capacity)['memory']}" for one in devices(manifest)}


def machines() -> list[tuple[str, dict]]:
    """Each class whose cloud tells the machine, with the machine's type."""
    found = []
    for manifest in CLASSES:
        provisioning = manifest["spec"].get("provisioning", {})
        for block, field in MACHINES.items():
            if block in provisioning:
                found.append((provisioning[block][field], manifest))
    return found


@pytest.mark.parametrize(("machine", "manifest"), machines(), ids=lambda given: given if isinstance(given, str) else "")
def test_a_machine_type_selects_the_gpus_of_its_class(machine: str, manifest: dict) -> None:
    found = gpus.selects("node.kubernetes.io/instance-type", "In", [machine])

    assert found is not None, "a family that the table does not have"
    assert products(manifest) <= names_matched(found)
    family = {product.split()[1].split("-")[0] if "AMD" not in product else product for product in products(manifest)}
    matched = names_matched(found)
    assert {name.split()[1].split("-")[0] if "AMD" not in name else name for name in matched} == family


@pytest.mark.parametrize(
    "manifest",
    [one for one in CLASSES if "accelerator" in one["spec"].get("provisioning", {}).get("gke", {})],
    ids=lambda manifest: manifest["metadata"]["name"],
)
def test_an_accelerator_of_gke_selects_the_gpus_of_its_class(manifest: dict) -> None:
    kind = manifest["spec"]["provisioning"]["gke"]["accelerator"]["type"]

    found = gpus.selects("cloud.google.com/gke-accelerator", "In", [kind])

    assert found is not None
    assert products(manifest) <= names_matched(found)


@pytest.mark.parametrize(
    ("key", "operator", "values", "matched"),
    [
        ("nvidia.com/gpu.product", "In", ["NVIDIA-L4"], {"NVIDIA L4 23034Mi"}),
        ("nvidia.com/gpu.product", "In", ["NVIDIA-A100-SXM4-80GB-SHARED"], {"NVIDIA A100-SXM4-80GB 80Gi"}),
        ("nvidia.com/gpu.product", "In", ["NVIDIA-L4", "NVIDIA-L40S"], {"NVIDIA L4 23034Mi", "NVIDIA L40S 46068Mi"}),
        ("nvidia.com/gpu.family", "In", ["ada-lovelace"], {"NVIDIA L4 23034Mi", "NVIDIA L40S 46068Mi"}),
        ("nvidia.com/gpu.memory", "In", ["23034"], {"NVIDIA L4 23034Mi"}),
        ("nvidia.com/gpu.memory", "Gt", ["270000"], {"NVIDIA B300 SXM6 AC 275040Mi"}),
        ("nvidia.com/gpu.memory", "Lt", ["23030"], {"NVIDIA A10G 23028Mi"}),
        ("karpenter.k8s.aws/instance-gpu-name", "In", ["l40s"], {"NVIDIA L40S 46068Mi"}),
        ("eks.amazonaws.com/instance-gpu-name", "In", ["l4"], {"NVIDIA L4 23034Mi"}),
        ("gpu.nvidia.com/model", "In", ["L40S"], {"NVIDIA L40S 46068Mi"}),
        ("gpu.nvidia.com/class", "In", ["A100_NVLINK_80GB"], A100_80),
        ("machine.cluster.vke.volcengine.com/gpu-name", "In", ["NVIDIA-L4"], {"NVIDIA L4 23034Mi"}),
        ("aliyun.accelerator/nvidia_name", "In", ["NVIDIA-A100-SXM4-80GB"], A100_80),
        ("amd.com/gpu.product-name", "In", ["AMD_Instinct_MI300X_OAM"], {"AMD_Instinct_MI300X_OAM 196592Mi"}),
    ],
)
def test_a_label_selects_the_gpus_that_it_names(key: str, operator: str, values: list[str], matched: set[str]) -> None:
    found = gpus.selects(key, operator, values)

    assert found is not None
    assert names_matched(found) == matched


def test_what_is_not_in_selects_all_others_of_the_vendor() -> None:
    found = gpus.selects("nvidia.com/gpu.product", "NotIn", ["NVIDIA-L4"])

    assert found is not None
    every = {p for manifest in CLASSES for p in products(manifest) if p.startswith("NVIDIA")}
    assert names_matched(found) == every - {"NVIDIA L4 23034Mi"}


@pytest.mark.parametrize(
    ("key", "operator", "values"),
    [
        ("nvidia.com/gpu.count", "In", ["8"]),
        ("nvidia.com/gpu.product", "Gt", ["8"]),
        ("nvidia.com/gpu.memory", "Gt", ["much"]),
        ("nvidia.com/gpu.memory", "Gt", []),
        ("nvidia.com/gpu.product", "In", ['x" || true || "']),
        ("node.kubernetes.io/instance-type", "In", ["m5.large"]),
        ("node.kubernetes.io/instance-type", "In", ["g6.xlarge", "m5.large"]),
        ("gpu.nvidia.com/model", "In", ["Quadro_RTX_4000"]),
        ("disktype", "In", ["ssd"]),
    ],
)
def test_what_tells_nothing_that_a_selector_can_say_is_not_known(key: str, operator: str, values: list[str]) -> None:
    assert gpus.selects(key, operator, values) is None


@pytest.mark.parametrize("key", [*gpus._LABELS, *gpus._PRESENT, gpus._MEMORY])
def test_every_label_that_is_read_is_refused_in_a_template(key: str) -> None:
    """It would be in a node affinity too, where it is left out."""
    is_refused = reserved.GPU_LABELS.match(key) is not None
    assert is_refused or key.startswith("feature.node.kubernetes.io/")  # Modelplane installs what sets it


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Qwen/Qwen3-8B", 20),
        ("Qwen/Qwen3-235B-A22B-FP8", 265),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 130),
        ("facebook/opt-125m", 5),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", 50),
        ("deepseek-ai/DeepSeek-R1", None),
    ],
)
def test_the_size_of_a_volume_is_estimated_from_the_name(name: str, size: int | None) -> None:
    assert weights.size_gib(name) == size
