"""Sizes of Azure's machines with GPUs, and whose driver their nodes need.

Names of sizes are compared without regard to case, as Azure does.
"""

from __future__ import annotations

from collections.abc import Collection
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


def size_fault(vm_size: str) -> str:
    """Return why nodes of a size cannot be made; empty where they can."""
    if any(family in vm_size.lower() for family in _ARM):
        return f"asks for vmSize {vm_size}, an Arm machine whose GPU driver AKS does not install; take another size"
    return ""


def driver_fault(vm_size: str, drivers: Collection[str]) -> str:
    """Return why nodes of a size cannot have the devices of some DRA drivers; empty where they can."""
    asked = sorted({NVIDIA, AMD} & set(drivers))
    if asked and not vm_size.lower().startswith(_FAMILY):
        return f"{vm_size} has no GPU for devices of {asked[0]}: sizes with GPUs begin with Standard_N"
    known, _ = GPUS.get(vm_size.lower(), ("", 0))
    others = [driver for driver in asked if known and driver != known]
    return f"{vm_size} has GPUs of {known}, not of {others[0]}" if others else ""
