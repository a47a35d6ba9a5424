"""What Vultr cannot do of what a cluster or a pool asks for.

Sources: vultr/terraform-provider-vultr, vultr/kubernetes.go and resource_vultr_kubernetes_nodepools.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.vultr import blocks, facts
from function.clouds.vultr.blocks import Cluster, Machine
from function.clouds.vultr.model import Pool
from function.contracts.cloud import nodes
from function.contracts.cloud.kubernetes import version_faults
from function.contracts.cloud.nodepool import NodePool


def cluster_faults(block: Cluster, _pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a cluster's block. See Provisioner.cluster_faults."""
    yield from version_faults(block.kubernetesVersion, blocks.VERSION, facts.VERSION)
    if block.systemPool.plan.startswith(facts.GPU_PLANS):
        yield "systemPool.plan", f"must be a plan without GPUs, such as vc2-6c-16gb, not {block.systemPool.plan}"


def pool_faults(_block: Cluster, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a pool. See Provisioner.pool_faults."""
    if not pool.nodeCount and pool.maxNodeCount is None:
        yield "nodeCount", "must be at least 1, not 0: Vultr makes no pool without nodes"
    if pool.maxNodeCount == 0:
        yield "maxNodeCount", "must be at least 1, not 0: Vultr makes no pool without nodes"
    yield from _taint_faults(pool)
    yield from _device_faults(pool, machine.plan)


def _taint_faults(pool: Pool) -> Iterator[tuple[str, str]]:
    """Vultr requires a value, and finds a taint that is to be updated by its key alone."""
    effects: dict[str, str] = dict.fromkeys(nodes.device_taint_keys(pool.drivers), "NoSchedule")
    for index, taint in enumerate(pool.taints):
        if not taint.value:
            yield f"taints[{index}].value", f"must not be empty: a taint of Vultr has a value, and {taint.key} has none"
        there = effects.setdefault(taint.key, taint.effect)
        if there != taint.effect:
            problem = f"must be {there}, not {taint.effect}: Vultr takes one taint of a key"
            yield f"taints[{index}].effect", f"{problem}, and {taint.key} has effect {there} already"


def _device_faults(pool: Pool, plan: str) -> Iterator[tuple[str, str]]:
    """Devices that the plan is known not to have. Of other plans nothing is known."""
    driver = next((driver for prefix, driver in facts.DEVICES.items() if plan.startswith(prefix)), "unknown")
    for wanted in sorted({*nodes.DEVICE_DRIVERS} & {*pool.drivers}):
        if driver not in ("unknown", wanted):
            has = f"GPUs of {driver}" if driver else "no GPUs"
            yield "className", f"InferenceClass {pool.className} has devices of {wanted}, and plan {plan} has {has}"
