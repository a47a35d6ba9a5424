"""Whole deployments made to take long, each within all bounds: what their calls take beside a neighbour's.

A call that runs out of its budget holds, and the next continues. So of a fresh deployment there may be several calls,
of which the longest counts: that long a neighbour may have to wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from rich.console import Console
from rich.table import Table

from function import cel, registry, wire
from function.scheduling import PROGRESS
from tests.bench import fleet, shuffled, worst
from tests.bench.reconciles import Asked, Index

Object = dict[str, Any]
Requests = Sequence[Object]

CLUSTERS, POOLS, NODES = 100, 7, 20
DEVICES = 32
"""Distinct devices of the fleet."""
_PER_NODE = 15
_MOST_CALLS = 200


class Taken(NamedTuple):
    """Milliseconds of CPU."""

    calls: int
    longest: float
    together: float
    steady: float
    said: str


def clusters(count: int = CLUSTERS) -> list[Object]:
    return [_cluster(i) for i in range(count)]


def _cluster(i: int) -> Object:
    pools = [
        {"name": f"pool-{n}", "nodes": NODES, "devices": [_device(n * 5 + k) for k in range(_PER_NODE)]}
        for n in range(POOLS)
    ]
    ready = [{"type": "Ready", "status": "True"}]
    status = {"conditions": ready, "gateway": {"address": "10.0.0.1"}, "gpuPools": pools}
    return {
        "apiVersion": fleet.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": f"cluster-{i:05}"},
        "status": status,
    }


def _device(i: int) -> Object:
    return {
        "name": f"d{i % DEVICES}",
        "claim": "DRA",
        "driver": "d.example.com",
        "deviceClassName": f"class-{i % _PER_NODE}.example.com",
        "count": 3,
        "attributes": {f"a{n}": {"string": f"{i % DEVICES}-{n}"} for n in range(4)},
        "capacity": {"memory": {"value": f"{40 + i % DEVICES}Gi"}},
    }


def request(name: str, *texts: str, count: int = 1) -> Object:
    return {"name": name, "count": count, "selectors": [{"cel": text} for text in texts]}


def asking(texts: Iterable[str], per_request: int = 1) -> list[Requests]:
    """Requests for members, with so many of the selectors each."""
    wanted = list(texts)
    asked = [request(f"r{i}", *wanted[i : i + per_request]) for i in range(0, len(wanted), per_request)]
    return [asked[i : i + 16] for i in range(0, len(asked), 16)]


def deployment(members: Sequence[Requests], copies: Sequence[int] = (), replicas: int = 3) -> Object:
    """Of gangs of two members where there are more than eight."""
    per_engine = 2 if len(members) > 8 else 1
    engines = [members[i : i + per_engine] for i in range(0, len(members), per_engine)]
    spec = {
        "replicas": replicas,
        "engines": [
            {"name": f"e{i}", "copies": copies[i] if copies else 1, "members": _members(engine)}
            for i, engine in enumerate(engines)
        ],
    }
    return {
        "apiVersion": fleet.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": "target", "namespace": "ml-team", "uid": "1"},
        "spec": spec,
    }


def _members(engine: Sequence[Requests]) -> list[Object]:
    roles = ("Standalone",) if len(engine) == 1 else ("Leader", "Worker")
    template = {"spec": {"containers": [{"name": "engine", "image": "i"}]}}
    worker = {"Worker": {"worker": {"nodes": 1}}}
    return [
        {"role": role, "nodeSelector": {"devices": list(asked)}, "template": template, **worker.get(role, {})}
        for role, asked in zip(roles, engine, strict=True)
    ]


_COPYING = [f"optional.of({i}){'.optMap(x, x)' * 8}.hasValue()" for i in range(3)]
_USUAL = 'device.driver == "d.example.com"'
DEPLOYMENTS: Mapping[str, Object] = {
    "usual": deployment([[request("gpu", _USUAL)]]),
    "selectors that end at their bound": deployment(
        asking(f"lists.range({140_000 + i}).all(x, x >= 0)" for i in range(5))
    ),
    "selectors that just do not": deployment(asking(f"lists.range({3_300 + i}).all(x, x >= 0)" for i in range(5))),
    "many cheap selectors": deployment(asking((f"{i} >= 0" for i in range(500)), 8)),
    "long texts": deployment(asking(["||".join(["(1/0==1)"] * 1_000) + f"||{i}>=0" for i in range(2)])),
    "macros that copy": deployment(asking(_COPYING)),
    "nested lists": deployment(asking(f"{worst.nested(5, 'b5 == b5')} || {i} < 0" for i in range(15))),
    "one selector everywhere": deployment(asking([_USUAL] * 2_048, 8)),
    "kinds that do not go up": deployment([[request(f"r{n}", "true", count=2) for n in range(16)]] * 8),
    "the same, all different": deployment(
        [[request(f"r{n}", f"{m} >= 0", count=2) for n in range(16)] for m in range(16)]
    ),
    "engines of odd sizes": deployment([[request("gpu", _USUAL)]] * 8, copies=(11, 12, 13, 14, 15, 16, 17, 18)),
    "2,048 selectors": deployment(asking((f"lists.range({1_000 + i}).all(x, x >= 0)" for i in range(2_048)), 8)),
}
"""All but the last are admitted."""


def main() -> None:
    """Print the table, the one that takes longest first."""
    table = Table("deployment", "calls", "longest ms", "/ usual", "all ms", "steady ms", "/ usual", "said")
    everything = clusters()
    taken = {name: measured(xr, everything) for name, xr in DEPLOYMENTS.items()}
    usual = taken["usual"].steady
    for name, found in sorted(taken.items(), key=lambda pair: -pair[1].longest):
        table.add_row(
            name, str(found.calls), f"{found.longest:.0f}", f"{found.longest / usual:.0f}", f"{found.together:.0f}",
            f"{found.steady:.0f}", f"{found.steady / usual:.1f}", found.said,
        )  # fmt: skip
    Console(width=132).print(table)


def measured(xr: Object, everything: list[Object]) -> Taken:
    """Of calls until it is decided, in a process that knows nothing but the fleet, and of one more call."""
    call = _caller(xr, everything)
    call()
    cel.clear_caches()
    PROGRESS.forget()
    times: list[float] = []
    said = "ReplicasScheduled: Scheduling"
    while said.endswith("Scheduling") and len(times) < _MOST_CALLS:
        took, said = call()
        times.append(took)
    return Taken(len(times), max(times), sum(times), min(call()[0] for _ in range(3)), said.partition(": ")[2])


def _caller(xr: Object, everything: list[Object]) -> Callable[[], tuple[float, str]]:
    index, answers = Index(everything), fleet.answers(everything, [])
    asked: Asked = {}

    def call() -> tuple[float, str]:
        """Answer what the call before asked for, besides all that any call may ask for."""
        nonlocal asked
        data = shuffled.request(xr, {}, {**answers, **index.look_up(asked)}, tag="bench")
        start = time.thread_time()
        read = wire.decode(data)
        rsp = wire.encode(read, registry.compose(read.request))
        took = (time.thread_time() - start) * 1e3
        asked = dict(rsp.requirements.resources)
        return took, _said(rsp)

    return call


def _said(rsp: fnv1.RunFunctionResponse) -> str:
    return next(f"{c.type}: {c.reason}" for c in rsp.conditions if c.type == "ReplicasScheduled")


if __name__ == "__main__":
    main()
