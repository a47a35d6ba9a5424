"""Draws fleets at random. A fleet is the same, but for names, for the same seed, number and scale."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.e2e import objects
from tests.e2e.kube import Object
from tests.e2e.random_fleet import (
    FLEET,
    MEMORIES,
    NIC,
    PRODUCTS,
    Ask,
    Cluster,
    Entry,
    Hardware,
    Pool,
    RandomFleet,
    at_least,
    of_architecture,
    product,
)


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a fleet may be."""

    clusters: int = 3
    pools: int = 3
    nodes: int = 4
    crowding: float = 1.3  # nodes that deployments want, of those that there are: beyond 1, some are refused


def seeds(*fixed: str) -> tuple[str, ...]:
    """E2E_SEED, or the fixed seeds and a new one; shown, so that a run can be repeated."""
    chosen = os.environ.get("E2E_SEED")
    found = (chosen,) if chosen else (*fixed, str(int.from_bytes(os.urandom(4), "big")))
    print(f"seed   E2E_SEED={found[-1]} repeats the last of {', '.join(found)}", flush=True)
    return found


def draw(name: str, seed: str, scale: Scale, number: int = 0) -> RandomFleet:
    """One of the fleets of a seed."""
    return _Draw(name, Random(f"{seed}/{number}"), scale).fleet(seed)


def another(fleet: RandomFleet, random: Random, name: str) -> Object:
    """One more deployment for a fleet."""
    offered = [pool.hardware for pool in fleet.pools.values()]
    shared = float(all(pool.shared for pool in fleet.pools.values()))
    return _Draw(fleet.name, random, Scale(), shared).deployment(name, offered, whole=fleet.whole)


@dataclass(slots=True)
class _Draw:
    name: str
    random: Random
    scale: Scale
    shared: float = 0.0  # the part of pools whose nodes are shared

    def fleet(self, seed: str) -> RandomFleet:
        whole, self.shared = self.random.random() < 0.4, self.random.choice((0.0, 0.5, 1.0))
        hardware = tuple(self._hardware())
        clusters = tuple(self._cluster(index, hardware) for index in range(self.random.randint(1, self.scale.clusters)))
        offered = [pool.hardware for cluster in clusters for pool in cluster.pools for _ in range(pool.nodes)]
        deployments = list(self._deployments(offered, whole=whole))
        self.random.shuffle(deployments)
        return RandomFleet(self.name, seed, whole, hardware, clusters, tuple(deployments))

    def _hardware(self) -> Iterator[Hardware]:
        """Kinds of nodes that have no product in common."""
        products = iter(self.random.sample(sorted(PRODUCTS), len(PRODUCTS)))
        sized = self.random.random() < 0.5
        for index in range(self.random.randint(1, 3)):
            gpus = [Entry("gpu", self.random.choice((1, 2, 4, 8, 8)), next(products))]
            if self.random.random() < 0.25:
                gpus.append(Entry("other", self.random.choice((1, 2, 4)), next(products)))
            nics = [Entry("nic", self.random.choice((1, 2, 4)))] if self.random.random() < 0.3 else []
            cpu = self.random.choice((16, 32, 64))
            yield Hardware(f"{self.name}-{'abc'[index]}", (*gpus, *nics), cpu, 8 * cpu, sized)

    def _cluster(self, index: int, hardware: Sequence[Hardware]) -> Cluster:
        name = f"{self.name}-c{index}"
        pools = tuple(
            Pool(
                f"{name}-{number}",
                self.random.choice(hardware),
                nodes=self.random.randint(1, self.scale.nodes),
                shared=self.random.random() < self.shared,
            )
            for number in range(self.random.randint(1, self.scale.pools))
        )
        return Cluster(name, pools, {FLEET: self.name})

    def _deployments(self, offered: Sequence[Hardware], *, whole: bool) -> Iterator[Object]:
        """As many as it takes to want a multiple of the nodes; more where most pods take a part of one."""
        wanted, number = self.scale.crowding * len(offered) * (2 if whole else 3), 0
        while wanted > 0:
            made = self.deployment(f"d{number}", offered, whole=whole)
            yield made
            spec = made["spec"]
            wanted -= spec["replicas"] * sum(engine["copies"] * _pods(engine) for engine in spec["engines"])
            number += 1

    def deployment(self, name: str, offered: Sequence[Hardware], *, whole: bool) -> Object:
        count = self.random.choice((1, 1, 1, 1, 2, 3))
        engines = [self._engine(f"e{index}", offered, whole=whole) for index in range(count)]
        selector = {"matchLabels": {FLEET: self.name}}
        replicas = self.random.choice((1, 1, 2, 3))
        return objects.deployment(name, self.name, replicas=replicas, engines=engines, clusterSelector=selector)

    def _engine(self, name: str, offered: Sequence[Hardware], *, whole: bool) -> Object:
        """One pod, or a gang, whose leader may need no device."""
        hardware = self.random.choice(offered)
        wanted = self._asks(hardware, whole=whole)
        if self.random.random() < 0.7:
            return objects.engine(name, self._member(hardware, wanted), copies=self._few(2))
        leader = self._member(hardware, wanted if self.random.random() < 0.7 else (), role="Leader")
        worker = self._member(hardware, wanted, role="Worker", worker={"nodes": self._few(2)})
        return objects.engine(name, leader, worker, copies=self._few(2))

    def _member(self, hardware: Hardware, wanted: Sequence[Ask], **more: Any) -> Object:
        devices = {"nodeSelector": {"devices": [ask.request for ask in wanted]}} if wanted else {}
        # Pods without devices are counted on shared nodes only.
        resources = self._resources(hardware, wanted) if hardware.sized and (wanted or self.shared == 1) else {}
        return {**devices, "template": objects.template(**resources), **more}

    def _resources(self, hardware: Hardware, wanted: Sequence[Ask]) -> Object:
        """Requests of cpu and memory: about the share of the devices, or of a fourth of the node without any."""
        share = max(
            (ask.count / sum(e.count for e in hardware.entries if ask.takes(e)) for ask in wanted), default=0.25
        )
        cpu, memory = (
            max(1, int(has * share * self.random.uniform(0.2, 1.2))) for has in (hardware.cpu, hardware.memory)
        )
        requests = {"cpu": str(min(cpu, hardware.cpu)), "memory": f"{min(memory, hardware.memory)}Gi"}
        return {"resources": {"requests": requests}}

    def _asks(self, hardware: Hardware, *, whole: bool) -> list[Ask]:
        """Requests that one node of a kind satisfies: for all its GPUs, or for some of its devices."""
        if whole:
            return [Ask(entry.name, entry.count, product(entry.product)) for entry in hardware.gpus]
        entry = self.random.choice(hardware.gpus)
        architecture, _, memory = PRODUCTS[entry.product]
        least = at_least(max(size for size in MEMORIES if size <= memory))
        selector = self.random.choice((product(entry.product), of_architecture(architecture), least))
        count = self.random.choice((1, 1, self.random.randint(1, entry.count)))
        asks = [Ask("gpu", count, selector)]
        nics = next((one.count for one in hardware.entries if not one.product), 0)
        if nics and self.random.random() < 0.5:
            asks.append(Ask("nic", self.random.randint(1, nics), NIC))
        return asks

    def _few(self, most: int) -> int:
        """Most often one."""
        return min(most, self.random.choice((1, 1, 1, 1, 1, 2, 2, 3)))


def _pods(engine: Object) -> int:
    """Pods of one copy that claim devices."""
    return sum(one.get("worker", {}).get("nodes", 1) for one in engine["members"] if "nodeSelector" in one)
