"""Sizes of Azure's machines with GPUs, and whose driver their nodes need.

Names of sizes are compared without regard to case, as Azure does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

NVIDIA, AMD = "gpu.nvidia.com", "gpu.amd.com"
"""DRA drivers of GPUs."""
GPUS = {
    # AKS, "Supported Hardware"; Azure, pages of the size series
    "standard_nc24ads_a100_v4": (NVIDIA, 1),
    "standard_nc48ads_a100_v4": (NVIDIA, 2),
    "standard_nc96ads_a100_v4": (NVIDIA, 4),
    "standard_nd96asr_v4": (NVIDIA, 8),
    "standard_nd96amsr_a100_v4": (NVIDIA, 8),
    "standard_nc40ads_h100_v5": (NVIDIA, 1),
    "standard_nc80adis_h100_v5": (NVIDIA, 2),
    "standard_nd96isr_h100_v5": (NVIDIA, 8),
    "standard_nd96isr_h200_v5": (NVIDIA, 8),
    "standard_nd96isr_mi300x_v5": (AMD, 8),
}
"""DRA driver and number of the GPUs of sizes that are known. Others are accepted, too."""
_FAMILY = "standard_n"
"""All sizes with GPUs begin with it, and only those with accelerators do (Azure, "Sizes for virtual machines")."""
_ARM = ("_gb200_", "_gb300_")


def gpu_driver(vm_size: str, drivers: Collection[str]) -> Literal["Install", "None"] | None:
    """Return whether AKS installs the GPUs' driver: on nodes of NVIDIA's. Returns None for nodes without GPUs.

    It must not on nodes of AMD's: it knows none for them, and refuses the pool (AKS, use-amd-gpus).
    """
    known, _ = GPUS.get(vm_size.lower(), ("", 0))
    if AMD in (known, *drivers):
        return "None"
    return "Install" if NVIDIA in (known, *drivers) else None


def faults(vm_size: str, drivers: Collection[str]) -> Iterator[str]:
    """Yield why nodes of a size cannot be made, or cannot have the devices of some DRA drivers."""
    size = vm_size.lower()
    if any(family in size for family in _ARM):
        yield f"has vmSize {vm_size}, an Arm machine, for which AKS installs no GPU driver"
    known, _ = GPUS.get(size, ("", 0))
    for driver in sorted({NVIDIA, AMD} & set(drivers)):
        if not size.startswith(_FAMILY):
            why = "only sizes that begin with Standard_N have GPUs"
            yield f"has devices of {driver}, and vmSize {vm_size} has none; {why}"
        elif known and driver != known:
            yield f"has devices of {driver}, and vmSize {vm_size} has those of {known}"
