"""Nodes, pools and pods at random, as Modelplane sees them and as Kubernetes' allocator is asked about them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from function.scheduling.backtracking import tries
from function.scheduling.packing import NodeCapacity, PodDemand, fits_empty, is_safe

DRIVERS = ("gpu.nvidia.com", "nic.example.com")
_CLASSES = {driver: f'device.driver == "{driver}"' for driver in DRIVERS}

_MOST_TRIES = 20_000
"""For one search, so that thousands take seconds."""

# Whole nodes

_SELECTORS = (
    "true",
    'device.driver == "gpu.nvidia.com"',
    'device.attributes["gpu.nvidia.com"].model == "a"',
    'device.attributes["gpu.nvidia.com"].?model.orValue("a") == "a"',
    'device.attributes["gpu.nvidia.com"].?model.orValue("b") in ["b", "c"]',
    'device.attributes["nic.example.com"].?model.orValue("") != "c"',
    'device.attributes["gpu.nvidia.com"].?nvlink.orValue(false)',
    'device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("40Gi"))',
    'device.capacity["gpu.nvidia.com"].?memory.orValue(quantity("1Gi")).isLessThan(quantity("80Gi"))',
)


def devices(random: Random) -> list[dict[str, Any]]:
    """The entries of an InferenceClass. Few devices: the allocator takes exponentially long to say no."""
    return [_entry(random, f"d{i}", random.choice((1, 1, 2, 3))) for i in range(random.randint(1, 4))]


def _entry(random: Random, name: str, count: int) -> dict[str, Any]:
    driver = random.choice((DRIVERS[0], *DRIVERS))
    attributes: dict[str, Any] = {
        "model": {"string": random.choice("abc")},
        "nvlink": {"bool": random.random() < 0.5},
        "index": {"int": random.randint(0, 7)},
    }
    return {
        "name": name,
        "count": count,
        "claim": "DRA",
        "driver": driver,
        "deviceClassName": driver,
        "attributes": {key: value for key, value in attributes.items() if random.random() < 0.9},
        "capacity": {"memory": {"value": random.choice(("16Gi", "40Gi", "80Gi"))}} if random.random() < 0.9 else {},
    }


def requests(random: Random) -> list[dict[str, Any]]:
    """The device requests of a member."""
    return [
        {
            "name": f"r{i}",
            "count": random.choice((1, 1, 2, 3)),
            "selectors": random.choices(_SELECTORS, k=random.choice((1, 1, 2))),
        }
        for i in range(random.choice((1, 1, 2, 2, 3)))
    ]


def on_an_empty_node(entries: Sequence[dict[str, Any]], asked: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The question whether each choice of a class for each request can be given on one empty node."""
    choices = list(itertools.product(sorted({entry["deviceClassName"] for entry in entries}), repeat=len(asked)))
    return {
        "nodes": [_slices(entries)],
        "resources": [[]],
        "classes": _CLASSES,
        "demands": [
            [{**one, "class": chosen} for one, chosen in zip(asked, choice, strict=True)] for choice in choices
        ],
        "requests": [[] for _ in choices],
        "events": [{"do": "try", "pod": f"pod-{i}", "demand": i, "nodes": [0], "by": ""} for i in range(len(choices))],
        "choices": choices,
    }


def _slices(entries: Iterable[dict[str, Any]], order: Random | None = None) -> list[dict[str, Any]]:
    """What drivers publish: a device for each that an entry counts, in the order of entries, or in a random one."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        for i in range(entry["count"]):
            device = {key: entry[key] for key in ("attributes", "capacity")}
            found.setdefault(entry["driver"], []).append({**device, "name": f"{entry['name']}-{i}"})
    for published in found.values():
        if order is not None:
            order.shuffle(published)
    return [{"driver": driver, "devices": published} for driver, published in sorted(found.items())]


# Shared pools


@dataclass(frozen=True)
class Kind:
    """Pods that are alike."""

    demand: PodDemand
    requests: list[dict[str, Any]]


@dataclass
class Stream:
    """What happens to a shared pool: arrivals, departures and restarts, and where the pods are put."""

    random: Random
    nodes: list[NodeCapacity] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    running: list[tuple[str, int]] = field(default_factory=list)
    """The names of the pods that are there, each with its kind."""
    events: list[dict[str, Any]] = field(default_factory=list)
    arrivals: int = 0

    def __post_init__(self) -> None:
        entries = self.random.choice((1, 1, 1, 2, 3))
        largest = self.random.choice((2, 4, 8)) if entries == 1 else self.random.choice((2, 3, 4))
        counted = self.random.random() < 0.3
        full = tuple(self.random.randint(1, largest) if entries > 1 else largest for _ in range(entries))
        for number in range(self.random.randint(1, 6)):
            fewer = tuple(n - (number > 0 and self.random.random() < 0.15) for n in full)
            cpu, memory = (self.random.choice(((16, 16), (16, 12), (12, 16)))) if counted else (None, None)
            self.nodes.append(NodeCapacity(fewer, (cpu, memory, None)))
        while not self.kinds:
            made = (self._kind(full, counted) for _ in range(self.random.randint(1, 4)))
            self.kinds = [kind for kind in made if any(fits_empty(node, kind.demand) for node in self.nodes)]

    def _kind(self, full: Sequence[int], counted: bool) -> Kind:
        made = self.made(full, requests=self.random.choice((1, 1, 1, 2)))
        cpu, memory = (self.random.randint(0, 6), self.random.randint(0, 4)) if counted else (0, 0)
        return Kind(PodDemand(made.demand.devices, (cpu, memory, 0)), made.requests)

    def made(self, full: Sequence[int], *, requests: int) -> Kind:
        asked, positions = [], []
        for i in range(requests):
            drawn = tuple(sorted(self.random.sample(range(len(full)), self.random.randint(1, len(full)))))
            count = self.random.randint(1, max(1, sum(full[e] for e in drawn) // self.random.choice((1, 1, 2, 4))))
            asked.append(_request(f"r{i}", count, drawn))
            positions.append((count, drawn))
        return Kind(PodDemand(tuple(sorted(positions))), asked)

    def comes_with(self, kind: Kind, *, admitted: bool = True) -> None:
        """Let a pod of a kind of its own come."""
        self.kinds.append(kind)
        self.comes((f"pod-{len(self.kinds)}", len(self.kinds) - 1), admitted=admitted)

    def question(self) -> dict[str, Any]:
        return {
            "nodes": [self._published(node) for node in self.nodes],
            "resources": [[n for n in node.resources if n is not None] for node in self.nodes],
            "classes": _CLASSES,
            "demands": [kind.requests for kind in self.kinds],
            "requests": [list(kind.demand.resources) for kind in self.kinds],
            "events": self.events,
        }

    def _published(self, node: NodeCapacity) -> list[dict[str, Any]]:
        return _slices(
            (
                {
                    "name": f"d{e}",
                    "count": count,
                    "driver": DRIVERS[0],
                    "attributes": {"model": {"string": str(e)}},
                    "capacity": {},
                }
                for e, count in enumerate(node.devices)
            ),
            self.random,
        )

    def run(self, arrivals: int) -> None:
        """Let pods come, go and come back. A pod that is not admitted is only asked about."""
        for _ in range(arrivals):
            kind = self.random.randrange(len(self.kinds))
            self.arrivals += 1
            pod = f"pod-{self.arrivals}", kind
            admitted = is_safe(Counter(self.nodes), self._pods([*self.running, pod]))
            self.comes(pod, admitted=admitted)
            if self.running and self.random.random() < 0.15:
                self._goes(self.random.choice(self.running))
            if self.random.random() < 0.2:
                self._restart(self.random.sample(self.running, self.random.randint(0, len(self.running))))
        for kind in sorted({kind for _, kind in self.running}):
            self._restart_against(kind)

    def is_safe(self) -> bool:
        return is_safe(Counter(self.nodes), self._pods(self.running))

    def _pods(self, running: Iterable[tuple[str, int]]) -> Counter[PodDemand]:
        return Counter(self.kinds[kind].demand for _, kind in running)

    def comes(self, pod: tuple[str, int], *, admitted: bool = True, first: Iterable[int] = ()) -> None:
        nodes = self.random.sample(range(len(self.nodes)), len(self.nodes))
        by = self.random.choice(("", "packed", "scattered"))
        first = list(first)
        if first:
            nodes, by = [*first, *(node for node in nodes if node not in first)], ""
        do = "add" if admitted else "try"
        self.events.append({"do": do, "pod": pod[0], "demand": pod[1], "nodes": nodes, "by": by})
        if admitted:
            self.running.append(pod)

    def _goes(self, pod: tuple[str, int]) -> None:
        self.running.remove(pod)
        self.events.append({"do": "remove", "pod": pod[0], "demand": pod[1], "nodes": [], "by": ""})

    def _restart(self, pods: list[tuple[str, int]]) -> None:
        for pod in pods:
            self._goes(pod)
        for pod in self.random.sample(pods, len(pods)):
            self.comes(pod)

    def _restart_against(self, kind: int) -> None:
        """All pods go, and come back so that they block node after node for a pod of a kind, which comes last."""
        last = next(pod for pod in self.running if pod[1] == kind)
        others = [pod for pod in self.running if pod != last]
        for pod in list(self.running):
            self._goes(pod)
        self.random.shuffle(others)
        if self.random.random() < 0.7:
            others.sort(key=lambda pod: _size(self.kinds[pod[1]]), reverse=self.random.random() < 0.5)
        enough = _size(self.kinds[kind])
        nodes = iter(self.random.sample(range(len(self.nodes)), len(self.nodes)))
        node = next(nodes)
        left = sum(self.nodes[node].devices)
        for pod in others:
            if left < enough:
                node = next(nodes, node)
                left = sum(self.nodes[node].devices)
            self.comes(pod, first=[node])
            left -= _size(self.kinds[pod[1]])
        self.comes(last)


def _request(name: str, count: int, entries: Sequence[int]) -> dict[str, Any]:
    models = ", ".join(f'"{entry}"' for entry in entries)
    selector = f'device.attributes["{DRIVERS[0]}"].model in [{models}]'
    return {"name": name, "count": count, "class": DRIVERS[0], "selectors": [selector]}


def _size(kind: Kind) -> int:
    return sum(count for count, _ in kind.demand.devices)


def streams(random: Random, cases: int, arrivals: int) -> Iterator[Stream]:
    for _ in range(cases):
        stream = Stream(random)
        stream.run(arrivals)
        yield stream


def filled(random: Random) -> Stream:
    """A node on which some devices are taken, and a pod of up to four requests, which may not fit."""
    stream = Stream(random)
    while True:
        full = tuple(random.randint(1, 8) for _ in range(random.choice((1, 1, 2))))
        wanted = stream.made(full, requests=random.choice((1, 2, 2, 3, 4)))
        if fits_empty(NodeCapacity(full), wanted.demand) and tries(full, wanted.demand) < _MOST_TRIES:
            break
    stream.nodes, stream.kinds, stream.running = [NodeCapacity(full)], [], []
    for entry, has in enumerate(full):
        if taken := random.randint(0, has):
            stream.comes_with(Kind(PodDemand(((taken, (entry,)),)), [_request("r", taken, (entry,))]))
    stream.comes_with(wanted, admitted=False)
    return stream
