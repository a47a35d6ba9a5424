"""The fleet of a document as regions, clusters, pools and nodes, each with what a reader may want to know of it.

Nothing here has a place yet; cards.py and layout.py give it one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from function.core import plural
from function.picture import cells
from function.picture.cells import Cell, Pod
from function.picture.document import Data, Document, Move, Verdict

Facts = tuple[tuple[str, str], ...]
"""What the details of something list: labels and values."""
NO_REGION = "No region"
_STATES = {
    "Ready": "ready",
    "Cordoned": "cordoned",
    "NotReady": "not ready",
    "Tainted": "tainted",
    "Unknown": "not known",
    "Absent": "not there yet",
    "Missing": "no such node: the pool is overcommitted",
    "Removed": "removed",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a pool."""

    title: str
    cell: Cell
    changes: Mapping[Pod, str]
    """Of pods on it, how their replicas change; those that do not are missing."""
    facts: Facts

    @property
    def label(self) -> str:
        """All of it in a sentence, for those who do not see it."""
        return f"{self.title}: " + "; ".join(f"{name} {value}" for name, value in self.facts)


@dataclass(frozen=True, slots=True)
class Pool:
    """A node pool."""

    name: str
    devices: str
    free: str
    nodes: tuple[Node, ...]
    slots: int
    facts: Facts
    used: tuple[float, float]
    """The share that is in use, before and after."""
    total: int
    left: int
    """Nodes in all, and free ones or devices."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """An inference cluster. `change` is new, lost, or empty."""

    name: str
    region: str
    serving: bool
    why: str
    taints: tuple[str, ...]
    change: str
    verdict: Verdict | None
    pools: tuple[Pool, ...]
    facts: Facts
    is_touched: bool
    """Whether a replica on it changes, or it has a problem or a verdict to look at."""
    deployments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """Clusters in one place."""

    name: str
    clusters: tuple[Cluster, ...]

    @property
    def summary(self) -> str:
        nodes = sum(pool.total for cluster in self.clusters for pool in cluster.pools)
        return f"{plural(len(self.clusters), 'cluster')}, {plural(nodes, 'node')}"


def regions(document: Document) -> tuple[Region, ...]:
    """The regions of a document, by name; clusters without one are last."""
    before = {c["name"]: c for c in document.before or ()}
    after = {c["name"]: c for c in document.after}
    changes = _changes(document.moves)
    is_first = not any(pool["occupants"] for cluster in before.values() for pool in cluster["pools"])
    found: dict[str, list[Cluster]] = {}
    for name in sorted({*before, *after}):
        was = before.get(name) if document.before is not None else after.get(name)
        cluster = _cluster(was, after.get(name), document, {} if is_first else changes)
        found.setdefault(cluster.region or NO_REGION, []).append(cluster)
    return tuple(Region(name, tuple(found[name])) for name in sorted(found, key=lambda n: (n == NO_REGION, n)))


def _changes(moves: Iterable[Move]) -> dict[str, Move]:
    """By replica, as `namespace/name`, how it changes: one that moved under both of its names."""
    found: dict[str, Move] = {}
    for move in moves:
        namespace = move.deployment.partition("/")[0]
        found |= {f"{namespace}/{name}": move for name in (move.replica, move.replaces) if name}
    return found


def _cluster(was: Data | None, now: Data | None, document: Document, changes: Mapping[str, Move]) -> Cluster:
    shown = now or was
    assert shown is not None, "a cluster exists before or after"
    pools = tuple(_pools(was, now, shown["capacity"], changes))
    verdict = document.verdicts.get(shown["name"])
    change = "lost" if now is None else "new" if was is None else ""
    moved = any(node.changes for pool in pools for node in pool.nodes)
    return Cluster(
        name=shown["name"],
        region=shown["region"],
        serving=bool(shown["serving"]),
        why=shown["why"],
        taints=tuple(shown["taints"]),
        change=change,
        verdict=verdict,
        pools=pools,
        facts=tuple(_cluster_facts(shown, change, verdict)),
        is_touched=bool(
            change or moved or shown["why"] or not shown["serving"] or (verdict and verdict.tone == "near")
        ),
        deployments=tuple(sorted({p.deployment for pool in pools for n in pool.nodes for p in n.cell.pods()})),
    )


def _cluster_facts(shown: Data, change: str, verdict: Verdict | None) -> Iterator[tuple[str, str]]:
    yield "Cluster", shown["name"]
    yield "Region", shown["region"] or "none is given"
    yield "Cluster state", change or ("serves" if shown["serving"] else "does not serve")
    if shown["why"]:
        yield "Problem", shown["why"]
    if shown["taints"]:
        yield "Cluster taints", ", ".join(shown["taints"])
    if shown["capacity"] != "Declared":
        yield (
            "Capacity",
            {"Observed": "as observed", "Stale": "declared, the observation does not count"}[shown["capacity"]],
        )
    if verdict is not None:
        yield verdict.label, verdict.text


def _pools(was: Data | None, now: Data | None, capacity: str, changes: Mapping[str, Move]) -> Iterator[Pool]:
    before, after = ({pool["name"]: pool for pool in side["pools"]} if side else {} for side in (was, now))
    for name in dict.fromkeys((*after, *before)):
        yield _pool(before.get(name), after.get(name), capacity, changes)


def _pool(was: Data | None, now: Data | None, capacity: str, changes: Mapping[str, Move]) -> Pool:
    shown = now or was
    assert shown is not None, "a pool exists before or after"
    found = cells.cells(was, now, capacity)
    return Pool(
        name=shown["name"],
        devices=shown["devices"] or shown["className"],
        free=_free(was, now),
        nodes=tuple(_node(cell, index, len(found), changes) for index, cell in enumerate(found, 1)),
        slots=cells.slots_of(shown),
        facts=tuple(_pool_facts(shown, _free(was, now))),
        used=(_used(was), _used(now)),
        total=int(shown["nodes"]),
        left=max(0, int(shown["free"])),
    )


def _pool_facts(shown: Data, free: str) -> Iterator[tuple[str, str]]:
    yield "Pool", shown["name"]
    yield "Class", shown["className"] or "not known"
    yield "Each node", shown["devices"] or "not published"
    yield "Free", free
    if shown["observed"] and shown["observed"]["outOfStock"]:
        yield "Autoscaler", "could not add a node"


def _capacity(pool: Data) -> int:
    return int(pool["nodes"]) * (int(pool["slots"]) if pool["sharing"] == "Devices" else 1)


def _free(was: Data | None, now: Data | None) -> str:
    """What is free, and what was."""
    shown = now or was or {}
    if not shown["published"]:
        return "not published"
    unit = "devices free" if shown["sharing"] == "Devices" else "free"
    if now is None:
        return "gone"
    same = was is None or not was["published"] or was["free"] == now["free"]
    if now["free"] < 0:
        return f"{plural(-now['free'], 'node')} short"
    before = "" if same or was is None else f"{was['free']} → "
    return f"{before}{now['free']} of {_capacity(now)} {unit}"


def _used(pool: Data | None) -> float:
    total = _capacity(pool) if pool else 0
    return 1 - max(0, int(pool["free"])) / total if pool and total else 0.0


def _node(cell: Cell, number: int, count: int, changes: Mapping[str, Move]) -> Node:
    title = cell.name or f"Node {number} of {count}"
    moves = {pod: changes[pod.replica].change for pod in cell.pods() if pod.replica in changes}
    return Node(title, cell, moves, tuple(_node_facts(cell, changes)))


def _node_facts(cell: Cell, changes: Mapping[str, Move]) -> Iterator[tuple[str, str]]:
    yield "State", f"{_STATES[cell.state]}{f' ({cell.note})' if cell.note else ''}"
    pods = cell.pods()
    if not pods:
        yield "Taken by", "nothing"
    for pod in pods:
        yield "Taken by", _told(pod, cell, changes.get(pod.replica))


def _told(pod: Pod, cell: Cell, move: Move | None) -> str:
    claims = plural(pod.devices, "device")
    if pod.is_foreign:
        return f"reserved: others hold {claims}"
    what = _how(pod, cell, move) or ("serves" if pod.serving else "placed, does not serve")
    name = pod.replica.partition("/")[2]
    return f"{pod.deployment}, replica {name}, {claims}, {what}"


def _how(pod: Pod, cell: Cell, move: Move | None) -> str:
    """What happens to the replica of a pod, in words."""
    if move is None:
        return ""
    if move.change == "moved":
        return f"moves to {move.target}" if pod in cell.before else f"comes from {move.source}"
    return {"stays": "cannot leave", "stops": "stops", "gone": "is removed"}.get(move.change, f"is {move.change}")


def deployments(found: Iterable[Region], clusters: Container[str]) -> Iterator[str]:
    """The deployments of replicas on some of the clusters."""
    there = (cluster for region in found for cluster in region.clusters if cluster.name in clusters)
    return (name for cluster in there for name in cluster.deployments if name != cells.OTHERS)
