"""DRA drivers by the names that InferenceClasses have for them, and the taints of nodes with their devices."""

from __future__ import annotations

from collections.abc import Mapping

from function.vocabulary import labels

NVIDIA = "gpu.nvidia.com"
AMD = "gpu.amd.com"
NETWORK = "dra.net"
"""Network interfaces, published by dranet or by a cloud's build of it."""

TAINTS: Mapping[str, str] = {NVIDIA: labels.GPU_TAINT, AMD: labels.AMD_GPU_TAINT}
"""Key of the taint that keeps other pods off the nodes with devices of a driver. Clouds give it different values."""
