"""Fleets as the data that a picture is made of: what `fleet` of `-o json` has, without a plan."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]


def occupant(deployment: str, replica: str, *, pods: int = 1, devices: int = 1, serving: bool = True) -> Data:
    namespace, name = deployment.split("/")
    return {
        "namespace": namespace, "deployment": name, "replica": replica, "workload": f"{replica}-engine",
        "serving": serving, "pods": pods, "devices": devices,
    }  # fmt: skip


def pool(name: str = "l4", nodes: int = 2, *occupants: Data, **more: Any) -> Data:
    """A pool of whole nodes with one device each, unless `more` says otherwise."""
    taken = sum(one["pods"] for one in occupants)
    own = {
        "name": name, "className": f"class-{name}", "devices": "1 NVIDIA L4", "slots": 1, "sharing": "Nodes",
        "nodes": nodes, "free": nodes - taken, "published": True, "occupants": list(occupants), "observed": None,
    }  # fmt: skip
    return own | more


def cluster(name: str, *pools: Data, region: str = "", **more: Any) -> Data:
    own = {
        "name": name, "region": region, "serving": True, "why": "", "taints": [], "capacity": "Declared",
        "pools": list(pools),
    }  # fmt: skip
    return own | more


def group(state: str = "Ready", names: tuple[str, ...] = (), count: int | None = None, **more: Any) -> Data:
    """Nodes that are observed as alike."""
    own = {
        "state": state, "taint": "", "count": len(names) if count is None else count, "names": list(names),
        "devices": 1, "foreign": 0, "holders": [],
    }  # fmt: skip
    return own | more


def plan(before: list[Data] | None, after: list[Data], **more: Any) -> Data:
    """The data of a plan."""
    own = {
        "summary": "A plan.", "exitCode": 3, "deployments": [], "gone": [], "lost": [], "silenced": [], "clusters": [],
        "troubles": [], "staging": [], "errors": [],
        "fleet": {"before": {"clusters": after if before is None else before}, "after": {"clusters": after}},
    }  # fmt: skip
    return own | more


def replica(name: str, where: str, change: str = "moved", replaces: str = "", source: str = "") -> Data:
    """A replica of a plan's data."""
    return {
        "change": change, "name": name, "cluster": where, "replaces": replaces or None, "from": source or None,
        "why": "",
    }  # fmt: skip


def deployment(name: str, *replicas: Data, why: str = "", rejections: tuple[Data, ...] = ()) -> Data:
    namespace, own = name.split("/")
    return {
        "namespace": namespace, "name": own, "why": why, "replicas": list(replicas), "rejections": list(rejections),
    }  # fmt: skip


def moving() -> Data:
    """A plan of which one replica moves from east to west, and another is lost."""
    chat, old, new = "ml-team/chat", occupant("ml-team/chat", "chat-1"), occupant("ml-team/chat", "chat-2")
    lost = occupant("ml-team/search", "search-1")
    before = [cluster("east", pool("l4", 2, old, lost), region="us"), cluster("west", pool("l4", 2), region="eu")]
    after = [cluster("east", pool("l4", 2), region="us"), cluster("west", pool("l4", 2, new), region="eu")]
    return plan(
        before, after,
        exitCode=2,
        deployments=[deployment(chat, replica("chat-2", "west", replaces="chat-1", source="east"))],
        gone=[{"namespace": "ml-team", "deployment": "search", "replica": "search-1", "cluster": "east"}],
        lost=[{"deployment": "ml-team/search", "before": 1, "after": 0, "wanted": 1}],
    )  # fmt: skip


_REGIONS = ("africa-south", "asia-east", "asia-south", "europe-north", "europe-west", "sa-east", "us-east", "us-west")


def large(clusters: int) -> Data:
    """A plan of so many clusters in eight regions. Few replicas move, and one cluster has a problem."""
    before, after, moved = [], [], []
    for number in range(clusters):
        name, region = f"cluster-{number:04}", _REGIONS[number % len(_REGIONS)]
        models = [f"team-{number % 7}/model-{(number * 3 + i) % 300}" for i in range(number % 6)]
        kept = [occupant(model, f"{model.split('/')[1]}-{number}-{i}") for i, model in enumerate(models)]
        before.append(
            cluster(name, pool("a100", 6, *kept, devices="8 NVIDIA A100-SXM4-40GB"), pool("l4", 2), region=region)
        )
        after.append(
            cluster(name, pool("a100", 6, *kept, devices="8 NVIDIA A100-SXM4-40GB"), pool("l4", 2), region=region)
        )
    for number in range(3):
        source, target = number * 8, number * 8 + 9
        old, new = (occupant(f"chat/moving-{number}", f"moving-{number}-{side}") for side in ("old", "new"))
        before[source]["pools"][1] = pool("l4", 2, old)
        after[target]["pools"][1] = pool("l4", 2, new)
        moved.append(
            deployment(
                f"chat/moving-{number}",
                replica(new["replica"], f"cluster-{target:04}", replaces=old["replica"], source=f"cluster-{source:04}"),
            )
        )
    after[5] = after[5] | {"serving": False, "why": "GatewayNotReady: no address"}
    return plan(before, after, summary="3 replicas move on 6 clusters.", deployments=moved, clusters=[after[5]])


def states() -> Data:
    """A plan of a fleet with nodes in all states."""
    chat = occupant("ml-team/chat", "chat-1")
    holder = {"holders": [{"workload": "ml-team/chat-1-engine", "devices": 1}]}
    groups = [
        group("Ready", ("gpu-a",), **holder),
        group("Cordoned", ("gpu-b",)),
        group("NotReady", ("gpu-c",)),
        group("Tainted", ("gpu-d",), taint="dedicated=batch:NoSchedule"),
        group("Ready", ("gpu-e",), foreign=1),
    ]
    seen = pool("h100", 6, chat, observed={"groups": groups, "left": 0, "outOfStock": True})
    over = pool("over", 1, occupant("ml-team/chat", "chat-2"), occupant("ml-team/chat", "chat-3", serving=False))
    stale = cluster("stale", pool("h100", 2), capacity="Stale", why="CapacityObserved: Stale")
    half = pool("half", 2, occupant("ml-team/chat", "chat-4", devices=3), sharing="Devices", slots=8, free=13)
    tainted = ["modelplane.ai/drain:NoExecute"]
    after = [
        cluster("seen", seen, half, capacity="Observed"),
        cluster("over", over, pool("less", 1), taints=tainted),
        stale,
    ]
    before = [*after[:1], after[1] | {"pools": [over, pool("less", 2)]}, stale]
    return plan(before, after)


_SCRIPT = "</script><script>window.hacked=1</script>"
_IMAGE = "<img src=x onerror=window.hacked=1>"
_BREAK = "\"'><svg onload=window.hacked=1>{{ 7*7 }}${7*7}\u202eevil\u0000"


def hostile() -> Data:
    """A plan of which every name and message tries to be more than text."""
    name = f"{_IMAGE}{_SCRIPT}"
    one = occupant(f"{_IMAGE}/{_BREAK}", _SCRIPT)
    node = group("Tainted", (_BREAK,), taint=_SCRIPT)
    there = pool(
        _IMAGE, 3, one, className=_SCRIPT, devices=_BREAK, observed={"groups": [node], "left": 1, "outOfStock": False}
    )
    rejected = {"cluster": name, "reason": _IMAGE, "message": "API_KEY=hunter2 in https://user:hunter2@example.com"}
    after = [cluster(name, there, region=_SCRIPT, why=_IMAGE, taints=[_BREAK])]
    waiting = deployment(f"{_BREAK}/{_IMAGE}", why=f"{_SCRIPT} --api-key hunter2", rejections=(rejected,))
    return plan(None, after, summary=_SCRIPT, deployments=[waiting], silenced=[_IMAGE])
