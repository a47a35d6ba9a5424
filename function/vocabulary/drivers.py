"""DRA drivers by the names that InferenceClasses have for them, and the taints of nodes with their devices."""

from __future__ import annotations

from collections.abc import Mapping

from function.vocabulary import labels

NVIDIA = "gpu.nvidia.com"
AMD = "gpu.amd.com"
NETWORK = "dra.net"
"""Network interfaces, published by dranet or by a cloud's build of it."""

PROFILES: Mapping[str, str] = {NVIDIA: "profile", AMD: "partitionProfile"}
"""Attribute that tells how a partition was cut, by driver: 1g.10gb for a MIG slice, cpx_nps4 for a part of an MI300X.
Whole GPUs do not have it (dra-driver-nvidia-gpu v0.4, resourceslice-attributes.md; k8s-gpu-dra-driver v0.1)."""

TAINTS: Mapping[str, str] = {NVIDIA: labels.GPU_TAINT, AMD: labels.AMD_GPU_TAINT}
"""Key of the taint that keeps other pods off the nodes with devices of a driver. Clouds give it different values."""
