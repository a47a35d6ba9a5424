"""GPUs that a manifest asks for by resources and by labels of nodes, as device requests.

A manifest for a device plugin asks for a number of devices (`nvidia.com/gpu: 4`) and selects their type by labels of
nodes. A device request has both: a count, and CEL selectors over what the DRA driver publishes. `podspec.reserved` has
the resources; this module has the labels, each with the selector that means the same.

Labels and their sources:

- `nvidia.com/gpu.*`: GPU feature discovery (k8s-device-plugin v0.17, internal/lm). `product` is the product's name with
  dashes for blanks, and the suffix -SHARED or -MIG-<profile>. `family` is the architecture in lower case. `memory` is
  in MiB.
- `amd.com/gpu.product-name`: AMD's node labeller. The DRA driver publishes the same text (k8s-gpu-dra-driver v1.0).
- `cloud.google.com/gke-accelerator`: GKE, "GPU platforms" (cloud.google.com/compute/docs/gpus).
- `karpenter.k8s.aws/instance-gpu-name`, `eks.amazonaws.com/instance-gpu-name`: EC2's names in lower case
  (Karpenter 1.6).
- `gpu.nvidia.com/model` and `gpu.nvidia.com/class`: CoreWeave, H100_NVLINK_80GB. `aliyun.accelerator/nvidia_name` and
  `machine.cluster.vke.volcengine.com/gpu-name`: Alibaba Cloud and Volcengine, NVIDIA-L20 and Tesla-V100-SXM2-16GB.
- `node.kubernetes.io/instance-type`: the clouds' families of machines.

A GPU's name is looked for as a word of the product's name: `L4` is in "NVIDIA L4", and not in "NVIDIA L40S".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

NVIDIA, AMD = "gpu.nvidia.com", "gpu.amd.com"
PROFILE = f'device.attributes["{NVIDIA}"].profile'
"""Attribute of MIG slices."""
IMPLIED = "true"
"""The selector of a label that only says that a node has GPUs of a vendor, which the driver says too."""


class Selects(NamedTuple):
    """The devices that a label selects."""

    driver: str
    cel: str
    """A CEL expression, or IMPLIED."""


class _Gpu(NamedTuple):
    """A type of GPU: a word of its product name, and its memory where that tells two types apart."""

    word: str
    memory: str = ""
    """A comparison with a quantity."""
    driver: str = NVIDIA


_SMALL, _LARGE = '.memory.compareTo(quantity("60Gi")) < 0', '.memory.compareTo(quantity("60Gi")) >= 0'
"""They tell the A100 with 40 GB from the one with 80 GB."""
_A100_40, _A100_80 = _Gpu("A100", _SMALL), _Gpu("A100", _LARGE)

_GKE: Mapping[str, _Gpu] = {
    "nvidia-tesla-p4": _Gpu("P4"),
    "nvidia-tesla-p100": _Gpu("P100"),
    "nvidia-tesla-v100": _Gpu("V100"),
    "nvidia-tesla-t4": _Gpu("T4"),
    "nvidia-l4": _Gpu("L4"),
    "nvidia-tesla-a100": _A100_40,
    "nvidia-a100-80gb": _A100_80,
    "nvidia-h100-80gb": _Gpu("H100"),
    "nvidia-h100-mega-80gb": _Gpu("H100"),
    "nvidia-h200-141gb": _Gpu("H200"),
    "nvidia-b200": _Gpu("B200"),
    "nvidia-gb200": _Gpu("GB200"),
    "nvidia-rtx-pro-6000": _Gpu("RTX PRO 6000"),
}
_EC2: Mapping[str, _Gpu] = {
    name: _Gpu(name.upper())
    for name in ("t4", "t4g", "a10g", "l4", "l40s", "v100", "a100", "h100", "h200", "b200", "b300", "gb200")
}
_MACHINES: Sequence[tuple[str, _Gpu]] = (
    (r"p3(dn)?\..+", _Gpu("V100")),
    (r"p4d\..+", _A100_40),
    (r"p4de\..+", _A100_80),
    (r"p5\..+", _Gpu("H100")),
    (r"p5en?\..+", _Gpu("H200")),
    (r"p6-b200\..+", _Gpu("B200")),
    (r"p6-b300\..+", _Gpu("B300")),
    (r"p6e-gb200\..+", _Gpu("GB200")),
    (r"g4dn\..+", _Gpu("T4")),
    (r"g5\..+", _Gpu("A10G")),
    (r"gr?6\..+", _Gpu("L4")),
    (r"g6e\..+", _Gpu("L40S")),
    (r"g7e\..+", _Gpu("RTX PRO 6000")),
    (r"g2-standard-\d+", _Gpu("L4")),
    (r"g4-standard-\d+", _Gpu("RTX PRO 6000")),
    (r"a2-(high|mega)gpu-\d+g", _A100_40),
    (r"a2-ultragpu-\d+g", _A100_80),
    (r"a3-(high|mega|edge)gpu-\d+g", _Gpu("H100")),
    (r"a3-ultragpu-\d+g", _Gpu("H200")),
    (r"a4-highgpu-\d+g", _Gpu("B200")),
    (r"a4x-.+", _Gpu("GB200")),
    (r"Standard_NC\d+as_T4_v3", _Gpu("T4")),
    (r"Standard_NC\d+ads_A100_v4", _A100_80),
    (r"Standard_ND96asr_v4", _A100_40),
    (r"Standard_ND96amsr_A100_v4", _A100_80),
    (r"Standard_N[CD]\d+\w*_H100_v5", _Gpu("H100")),
    (r"Standard_ND\d+\w*_H200_v5", _Gpu("H200")),
    (r"Standard_ND\d+\w*_GB200_v6", _Gpu("GB200")),
    (r"Standard_ND\d+\w*_MI300X_v5", _Gpu("MI300X", driver=AMD)),
)
"""Families of AWS (g6.2xlarge), Google Cloud (a2-highgpu-8g) and Azure (Standard_ND96isr_H100_v5), with their GPUs."""
_MODEL = re.compile(r"(?:(?:NVIDIA|Tesla)-)?([A-Z]{1,2}[0-9]+[A-Z]?)(?:[-_].+)?")
"""A name of a GPU as some clouds write it: its vendor, its type, its form and its memory."""
_VALUE = re.compile(r"[-A-Za-z0-9_.]{1,63}")
"""A label's value. Texts of this form need no escapes in CEL."""
_SHARED = "-SHARED"
_MIG = "-MIG-"

Read = Callable[[str], Selects | None]
"""Returns the devices that a value of a label selects; None if that is not known."""


def selects(key: str, operator: str, values: Sequence[str]) -> Selects | None:
    """Return the devices of the nodes that a requirement on a label selects.

    Args:
        key: The label.
        operator: In, NotIn, Exists, Gt or Lt, as in a node affinity. Others are not known.
        values: The values.

    Returns:
        None if the label tells nothing of GPUs, or nothing that a selector can say.
    """
    if not all(_VALUE.fullmatch(value) for value in values):
        return None
    if key in _PRESENT and operator in ("In", "Exists"):
        return Selects(_PRESENT[key], IMPLIED)
    if key == _MEMORY:
        return _memory(operator, values)
    read = _LABELS.get(key)
    if read is None or operator not in ("In", "NotIn"):
        return Selects(_driver(key), IMPLIED) if read and operator == "Exists" else None
    found = [read(value) for value in values]
    if not found or None in found:
        return None
    any_of = _either([one.cel for one in found if one])
    driver = next(one.driver for one in found if one)
    return Selects(driver, any_of if operator == "In" else f"!({any_of})")


def _either(expressions: Sequence[str]) -> str:
    return expressions[0] if len(expressions) == 1 else " || ".join(f"({one})" for one in expressions)


def _driver(key: str) -> str:
    return AMD if key.startswith("amd.com/") else NVIDIA


def _attribute(driver: str, name: str) -> str:
    return f'device.attributes["{driver}"].{name}'


def _of_type(gpu: _Gpu) -> Selects:
    boundary = r"\b" if gpu.driver == NVIDIA else "_"
    named = f'{_attribute(gpu.driver, "productName")}.matches(r"{boundary}{gpu.word}{boundary}")'
    memory = f' && device.capacity["{gpu.driver}"]{gpu.memory}' if gpu.memory else ""
    return Selects(gpu.driver, f"{named}{memory}")


def _in_table(table: Mapping[str, _Gpu]) -> Read:
    return lambda value: _of_type(table[value]) if value in table else None


def _machine(value: str) -> Selects | None:
    found = next((gpu for pattern, gpu in _MACHINES if re.fullmatch(pattern, value)), None)
    return _of_type(found) if found else None


def _model(value: str) -> Selects | None:
    found = _MODEL.fullmatch(value)
    if found is None:
        return None
    word = found[1]
    if word == "A100" and re.search("[-_](40|80)GB$", value):
        return _of_type(_A100_40 if value.endswith("40GB") else _A100_80)
    return _of_type(_Gpu(word))


def _product(value: str) -> Selects:
    """The product's name, with dashes for blanks, and the profile of a slice."""
    product, _, profile = value.removesuffix(_SHARED).partition(_MIG)
    named = f'{_attribute(NVIDIA, "productName")}.replace(" ", "-") == "{product}"'
    has = f'"profile" in device.attributes["{NVIDIA}"]'
    return Selects(NVIDIA, f'{named} && {has} && {PROFILE} == "{profile}"' if profile else named)


def _family(value: str) -> Selects:
    family = f'{_attribute(NVIDIA, "architecture")}.lowerAscii().replace(" ", "-")'
    return Selects(NVIDIA, f'{family} == "{value}"')


_WHOLE = re.compile("[0-9]{1,15}")


def _major(value: str) -> Selects | None:
    major = f"{_attribute(NVIDIA, 'cudaComputeCapability')}.major()"
    return Selects(NVIDIA, f"{major} == {int(value)}") if _WHOLE.fullmatch(value) else None


def _amd_product(value: str) -> Selects:
    return Selects(AMD, f'{_attribute(AMD, "productName")} == "{value}"')


_MEMORY = "nvidia.com/gpu.memory"
_ORDER = {"Gt": "> 0", "Lt": "< 0", "In": "== 0"}


def _memory(operator: str, values: Sequence[str]) -> Selects | None:
    """A node's label is the memory of its GPU in MiB."""
    if operator not in _ORDER or not values or not all(map(_WHOLE.fullmatch, values)):
        return None
    memory = f'device.capacity["{NVIDIA}"].memory'
    compared = [f'{memory}.compareTo(quantity("{int(value)}Mi")) {_ORDER[operator]}' for value in values]
    return Selects(NVIDIA, _either(compared))


_PRESENT: Mapping[str, str] = {
    "nvidia.com/gpu": NVIDIA,
    "nvidia.com/gpu.present": NVIDIA,
    "nvidia.com/gpu.deploy.device-plugin": NVIDIA,
    "feature.node.kubernetes.io/pci-10de.present": NVIDIA,
    "kubernetes.azure.com/accelerator": NVIDIA,
    "feature.node.kubernetes.io/amd-gpu": AMD,
}
"""Labels that say that a node has GPUs."""
_LABELS: Mapping[str, Read] = {
    "nvidia.com/gpu.product": _product,
    "nvidia.com/gpu.family": _family,
    "nvidia.com/gpu.compute.major": _major,
    "amd.com/gpu.product-name": _amd_product,
    "beta.amd.com/gpu.product-name": _amd_product,
    "cloud.google.com/gke-accelerator": _in_table(_GKE),
    "karpenter.k8s.aws/instance-gpu-name": _in_table(_EC2),
    "eks.amazonaws.com/instance-gpu-name": _in_table(_EC2),
    "gpu.nvidia.com/model": _model,
    "gpu.nvidia.com/class": _model,
    "aliyun.accelerator/nvidia_name": _model,
    "machine.cluster.vke.volcengine.com/gpu-name": _model,
    "node.kubernetes.io/instance-type": _machine,
    "beta.kubernetes.io/instance-type": _machine,
}
