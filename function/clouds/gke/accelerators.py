"""Machine types of Compute Engine, and the accelerators that they have.

Accelerator-optimised machine types have a fixed accelerator and count (page "GPU machine types"). Sizes that are not in
the table are taken as the user describes them: Google adds some, and its API knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from function.clouds.gke.blocks import Accelerator, Machine
from function.contracts.cloud.nodes import DEVICE_DRIVERS
from function.vocabulary import drivers as dra


def _family(accelerator: str, counts: Mapping[str, int]) -> dict[str, tuple[str, int]]:
    return {machine: (accelerator, count) for machine, count in counts.items()}


FIXED: Mapping[str, tuple[str, int]] = {
    **_family(
        "nvidia-l4",
        {f"g2-standard-{cpus}": 1 for cpus in (4, 8, 12, 16, 32)}
        | {"g2-standard-24": 2, "g2-standard-48": 4, "g2-standard-96": 8},
    ),
    **_family("nvidia-tesla-a100", {f"a2-highgpu-{count}g": count for count in (1, 2, 4, 8)} | {"a2-megagpu-16g": 16}),
    **_family("nvidia-a100-80gb", {f"a2-ultragpu-{count}g": count for count in (1, 2, 4, 8)}),
    **_family("nvidia-h100-80gb", {f"a3-highgpu-{count}g": count for count in (1, 2, 4, 8)}),
    **_family("nvidia-h100-mega-80gb", {"a3-megagpu-8g": 8}),
    **_family("nvidia-h200-141gb", {"a3-ultragpu-8g": 8}),
    **_family("nvidia-b200", {"a4-highgpu-8g": 8}),
    **_family("nvidia-gb200", {"a4x-highgpu-4g": 4}),
    **_family("nvidia-gb300", {"a4x-maxgpu-4g-metal": 4}),
    **_family(
        "nvidia-rtx-pro-6000",
        {"g4-standard-48": 1, "g4-standard-96": 2, "g4-standard-192": 4, "g4-standard-384": 8},
    ),
}
"""Accelerator and count by machine type."""
_PREEMPTIBLE = "Google makes that as a Spot or Flex-start VM only, and Modelplane makes neither; choose a3-highgpu-8g"
_RACK = "its nodes need a placement of whole racks and networks of their own, which Modelplane cannot ask for; choose"
SCARCE: Mapping[str, str] = {
    **dict.fromkeys((f"a3-highgpu-{count}g" for count in (1, 2, 4)), _PREEMPTIBLE),
    **dict.fromkeys(("a4x-highgpu-4g", "a4x-maxgpu-4g-metal"), f"{_RACK} a4-highgpu-8g"),
}
"""Machine types that no pool gets, and why (page "GPU machine types", note on A3 High; GoogleCloudPlatform's
container-engine-accelerators, daemonset-preloaded-latest-a4x.yaml). They stay in FIXED for pools that exist."""
NVIDIA = "gpu.nvidia.com"
"""DRA driver of all accelerators that GKE has, TPUs aside."""
_WITHOUT = re.compile(r"(c[234]a?|c[234]d|e2|f1|g1|h[34]d?|m[1234]|n2d?|n4[ad]?|t2[ad]|x4|z3)-")
"""Families that take no accelerator. Of the general-purpose ones, only N1 takes some (page "GPU machine types")."""


def accelerator(machine: Machine) -> Accelerator | None:
    """Return the accelerators of a machine: those that its type has, else those that the user names."""
    fixed = FIXED.get(machine.machineType)
    return Accelerator(type=fixed[0], count=fixed[1]) if fixed else machine.accelerator


def faults(machine: Machine, drivers: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the class of a machine and of devices of some DRA drivers, as the rest of a sentence."""
    yield from _machine_faults(machine)
    yield from _device_faults(machine, drivers)


def _machine_faults(machine: Machine) -> Iterator[str]:
    given, fixed, type_ = machine.accelerator, FIXED.get(machine.machineType), machine.machineType
    if type_ in SCARCE:
        yield f"has machineType {type_}, but {SCARCE[type_]}, or another accelerator"
    if given is None:
        return
    named = f"{given.count} {given.type}"
    if fixed and (given.type, given.count) != fixed:
        problem = f"asks for {named}, but machineType {type_} has {fixed[1]} {fixed[0]}"
        yield f"{problem}; leave out provisioning.gke.accelerator, or give these"
    if _WITHOUT.match(type_):
        problem = f"asks for {named}, but machineType {type_} takes no accelerator"
        yield f"{problem}; choose a machine type with some, such as g2-standard-8"


def _device_faults(machine: Machine, drivers: Sequence[str]) -> Iterator[str]:
    if dra.NETWORK in drivers:
        why = "nodes have one network interface, which is their own"
        yield f"has devices of {dra.NETWORK}, but {why}; give these devices claim Synthetic, or leave them out"
    for driver in sorted({*drivers}.intersection(DEVICE_DRIVERS)):
        if driver != NVIDIA:
            yield f"has devices of {driver}; GKE has those of {NVIDIA}"
        elif accelerator(machine) is None:
            why = f"machineType {machine.machineType} has no accelerator of its own"
            yield f"has devices of {driver}, but {why}; give provisioning.gke.accelerator"
