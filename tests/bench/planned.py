"""Whole fleets on the embedded control plane: run as a process of its own, with the code of this tree or an older one.

    python -m tests.bench.planned plan 100

Prints what it took as JSON. Reconciles are counted around the reconciler, so that all revisions are counted alike.

- `plan`: as many deployments of one replica as clusters, from an empty fleet until nothing changes.
- `what-if`: the same fleet at rest, then every cluster is lost in turn.
- `wakes`: a fleet at rest with that many deployments; one more is placed, on a cluster that has room for it.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from function.core import dig
from function.planning import stubs, what_if
from function.planning.control_plane import ControlPlane
from function.sandbox.reconcile import Reconciler
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.bench.whole_fleets import Object, deployment, manifests

Taken = Mapping[str, float]

_NODES = 3
"""Nodes of each cluster, for `wakes`. A deployment takes one."""
_NEW = "new"
_WAITING = 2
"""Deployments of which no cluster has the devices."""
_ORDERS, _FEW = 4, 100
"""Orders of reconciles in a fleet of at most so many deployments. In a larger one there is one order."""


def at_rest(objects: list[Object]) -> ControlPlane:
    control = ControlPlane()
    control.loop.load([*objects, *stubs.objects(objects)])
    control.loop.settle()
    return control


def plan(size: int) -> Taken:
    return _measured(lambda: at_rest(manifests(size, size)))


def lose_any(size: int) -> Taken:
    control = at_rest(manifests(size, size))
    return _measured(lambda: what_if.lose_each(control, None))


def wakes(size: int) -> Taken:
    """Reconciles by what their deployments have to do with the new one: means of several orders of reconciles."""
    waiting = [f"waiting-{i}" for i in range(_WAITING)]
    objects = manifests(size // _NODES + 1 + size // 10, size, nodes=_NODES)
    control = at_rest([*objects, *map(_unplaceable, waiting)])
    orders = _ORDERS if size <= _FEW else 1
    counted = [_woken(_shuffled(control.copied(), seed), set(waiting)) for seed in range(orders)]
    return {key: statistics.mean(one[key] for one in counted) for key in counted[0]}


def _unplaceable(name: str) -> Object:
    """A deployment that asks for devices of a driver that no cluster has."""
    manifest = deployment(name, 1)
    (member,) = manifest["spec"]["engines"][0]["members"]
    member["nodeSelector"]["devices"][0]["selectors"] = [{"cel": 'device.driver == "nobody.example.com"'}]
    return manifest


def _shuffled(control: ControlPlane, seed: int) -> ControlPlane:
    """A control plane whose reconciles have no order of levels from now on, as in Crossplane."""
    control.loop.seed = seed
    control.loop._random.seed(seed)
    return control


def _woken(control: ControlPlane, waiting: set[str]) -> Taken:
    with _Counting() as counting:
        control.loop.load([deployment(_NEW, 1)])
        control.loop.settle()
    where = _clusters(control)
    near = {name for name, at in where.items() if at == where[_NEW]} - {_NEW}
    counted = counting.of("ModelDeployment")
    return {
        "itself": counted[_NEW],
        "neighbours": len(near),
        "of neighbours": sum(counted[name] for name in near),
        "waiting": len(waiting),
        "of waiting": sum(counted[name] for name in waiting),
        "of others": sum(count for name, count in counted.items() if name not in {_NEW, *near, *waiting}),
        "reconciles": counting.reconciles.total(),
    }


def _clusters(control: ControlPlane) -> dict[str, str]:
    """The cluster of each deployment that is placed."""
    replicas: Iterable[Any] = control.store.of_kind(versions.MODELPLANE, "ModelReplica")
    return {r["metadata"]["ownerReferences"][0]["name"]: dig(r, "spec", "clusterName") for r in replicas}


class _Counting:
    """Counts reconciles by XR, while it is entered."""

    def __init__(self) -> None:
        self.reconciles: Counter[Ref] = Counter()
        self._counted = Reconciler.__call__

    def __enter__(self) -> Self:
        counted, reconciles = self._counted, self.reconciles

        def call(reconciler: Reconciler, ref: Ref) -> None:
            reconciles[ref] += 1
            counted(reconciler, ref)

        Reconciler.__call__ = call  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, *_: object) -> None:
        Reconciler.__call__ = self._counted  # type: ignore[method-assign]

    def of(self, kind: str) -> Counter[str]:
        """Reconciles by name."""
        return Counter({ref.name: count for ref, count in self.reconciles.items() if ref.kind == kind})


def _measured(run: Callable[[], object]) -> Taken:
    """CPU seconds and reconciles. The garbage collector is off, as in the commands."""
    gc.disable()
    with _Counting() as counting:
        start = time.process_time()
        run()
        taken = time.process_time() - start
    return {"cpu": taken, "reconciles": counting.reconciles.total()}


MEASURES: Mapping[str, Callable[[int], Taken]] = {"plan": plan, "what-if": lose_any, "wakes": wakes}

if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](int(sys.argv[2]))))
