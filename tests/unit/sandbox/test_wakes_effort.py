"""What a change costs, on kinds that ask narrowly: counted, not timed.

An App asks for the Hosts, and, on the second call, for the Apps of the one that it chooses. A Host asks for its Apps by
label, and publishes how many more it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function.core import Manifest, Request, Requirement, Result, dig, plain
from function.sandbox import remote, schemas
from function.sandbox.control_loop import ControlLoop
from function.sandbox.store import Ref, Store
from tests.unit.sandbox.test_control_loop import VERSION, definition, result, xr

ROOM = 2
HOST = "host"
"""The label of an App, and the field in which it chose."""


def hosting(request: Request) -> Result:
    return host(request) if request.xr["kind"] == "Host" else placed(request)


def host(request: Request) -> Result:
    asked = Requirement("apps", VERSION, "App", match_labels={HOST: request.identity.name})
    apps = request.resolved(asked) or ()
    return result(request, {}, requirements=(asked,), status={"free": ROOM - len(apps)})


def placed(request: Request) -> Result:
    """An App that has chosen asks for its Host alone."""
    chosen = dig(request.xr, "metadata", "labels", HOST)
    if chosen:
        own = Requirement("own", VERSION, "Host", match_name=chosen, namespace="team")
        return result(request, {}, requirements=(own,), status={HOST: chosen})
    every = Requirement("hosts", VERSION, "Host", namespace="team")
    hosts = request.resolved(every)
    if hosts is None:
        return result(request, {}, requirements=(every,))
    free = [m["metadata"]["name"] for m in hosts if (dig(m, "status", "free") or 0) > 0]
    return result(request, {}, requirements=(every,), status={"wants": free[0]} if free else {})


def chooser(store: Store) -> None:
    """A controller: gives an App the label of the Host that it wants."""
    for manifest in store.of_kind(VERSION, "App"):
        label_as_wanted(store, manifest)


def label_as_wanted(store: Store, manifest: Manifest) -> None:
    wanted = dig(manifest, "status", "wants")
    if wanted and not dig(manifest, "metadata", "labels", HOST):
        ref = Ref(VERSION, "App", "team", manifest["metadata"]["name"])
        store.update(ref, lambda m: m["metadata"].setdefault("labels", {}).update({HOST: wanted}), status=True)


def named(kind: str, name: str) -> Ref:
    return Ref(VERSION, kind, "team", name)


def settled(hosts: int, apps: int, **options: Any) -> ControlLoop:
    """Hosts, each full of Apps but for the last, and Apps that have chosen."""
    store = Store(schemas.load([definition("App"), definition("Host")]))
    made = ControlLoop(store, hosting, (chooser,), levels={"App": 1}, **options)
    full = [xr("App", f"app-{i}") for i in range(apps)]
    for i, app in enumerate(full):
        app["metadata"]["labels"] = {HOST: f"host-{i // ROOM}"}
    made.load([*(xr("Host", f"host-{i}") for i in range(hosts)), *full])
    made.settle()
    return made


@pytest.mark.parametrize("size", [10, 40])
def test_a_placement_wakes_its_host_and_who_chose_the_same_one(size: int) -> None:
    made = settled(size, ROOM * size - 1)
    before = made.counts

    made.load([xr("App", "one-more")])
    made.settle()

    done = made.counts - before
    assert dig(made.store.get(named("App", "one-more")), "status", HOST) == f"host-{size - 1}"
    assert done.wakes == {"Host": 2, "App": 1}  # the Host again when the App says where it is
    assert done.reconciles["App"] + done.reconciles["Host"] < 10


@pytest.mark.parametrize("size", [10, 40])
def test_who_waits_for_room_is_woken_by_the_room_alone(size: int) -> None:
    made = settled(size, ROOM * size)
    made.load([xr("App", "waits")])
    made.settle()
    before = made.counts

    made.store.delete(named("App", "app-0"))
    made.settle()

    assert dig(made.store.get(named("App", "waits")), "status", HOST) == "host-0"
    assert (made.counts - before).reconciles.total() < 16


def test_a_label_that_changes_wakes_those_who_asked_for_the_old_and_for_the_new_one() -> None:
    made = settled(4, 2)
    before = made.counts

    made.store.update(named("App", "app-0"), lambda m: m["metadata"]["labels"].update({HOST: "host-3"}), status=True)
    made.settle()

    free = [dig(m, "status", "free") for m in made.store.of_kind(VERSION, "Host")]
    assert (free, (made.counts - before).wakes["Host"]) == ([1, 2, 2, 1], 2 + 1)  # and when the App says so


def test_a_fleet_at_rest_costs_nothing_and_everything_once_at_a_resync() -> None:
    made = settled(3, 4)
    before = made.counts

    made.settle()
    idle = made.counts - before
    made.resync()
    made.settle()

    assert idle.reconciles.total() == 0
    assert (made.counts - before).reconciles == {"Host": 3, "App": 4}
    assert (made.counts - before).calls == {"Host": 3, "App": 4}


def test_a_look_up_touches_only_what_it_finds() -> None:
    store = Store(schemas.load([definition("App")]))
    for i in range(60):
        app = xr("App", f"app-{i:02}", f"team-{i % 20}")
        app["metadata"]["labels"] = {"tier": str(i % 2)}
        store.load(app)
    touched: list[Any] = []
    table = store._tables[VERSION, "App"]
    table._objects = Noted(table._objects, touched)

    found = [
        store.find(Requirement("x", VERSION, "App", **asked))
        for asked in (
            {"namespace": "team-3"},
            {"namespace": "team-4", "match_labels": {"tier": "0"}},
            {"namespace": "team-4", "match_labels": {"tier": "1"}},
            {"namespace": "team-5", "match_name": "app-05"},
            {"namespace": "team-5", "match_name": "app-06"},
        )
    ]

    names = [[m["metadata"]["name"] for m in answer] for answer in found]
    assert names == [["app-03", "app-23", "app-43"], ["app-04", "app-24", "app-44"], [], ["app-05"], []]
    assert len(touched) <= sum(map(len, found)) + 1


class Noted(dict[Any, Any]):
    """Notes each key that is looked up, and has no way to be read as a whole."""

    def __init__(self, of: dict[Any, Any], touched: list[Any]) -> None:
        super().__init__(of)
        self.touched = touched

    def __getitem__(self, key: Any) -> Any:
        self.touched.append(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.touched.append(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("all objects of a kind are read")

    items = values = keys = __iter__  # type: ignore[assignment]  # none of them is to be called


def publishing(request: Request) -> Result:
    """A Host publishes how many Apps chose it; an App chooses at once, and composes nothing but its choice."""
    if request.xr["kind"] == "Host":
        return host(request)
    every = Requirement("hosts", VERSION, "Host", namespace="team")
    hosts = request.resolved(every)
    before = dig(request.xr, "status", HOST)
    if before or hosts is None:
        return result(request, {}, requirements=(every,), status={HOST: before} if before else {})
    free = [m["metadata"]["name"] for m in hosts if (dig(m, "status", "free") or 0) > 0]
    return result(request, {}, requirements=(every,), status={HOST: free[0] if free else ""})


@pytest.mark.parametrize(("ahead", "overcommitted"), [({"App": ("Host",)}, False), ({}, True)])
def test_who_goes_ahead_publishes_before_the_next_one_decides(ahead: dict[str, Any], overcommitted: bool) -> None:
    """Each App's choice is labelled at once, as if the Host counted what it composes."""
    store = Store(schemas.load([definition("App"), definition("Host")]))

    def labelling(request: Request) -> Result:
        answer = publishing(request)
        choice = dict(answer.status).get(HOST)
        if request.xr["kind"] == "App" and choice:
            ref = named("App", request.identity.name)
            store.update(ref, lambda m: m["metadata"].setdefault("labels", {}).update({HOST: choice}), status=True)
        return answer

    made = ControlLoop(store, labelling, levels={"App": 1}, ahead=ahead)
    made.load([*(xr("Host", f"host-{i}") for i in range(3)), *(xr("App", f"app-{i}") for i in range(6))])
    made.settle()

    free = [dig(m, "status", "free") for m in store.of_kind(VERSION, "Host")]
    assert (min(free) < 0) is overcommitted
    assert sum(free) == 0


def test_requests_are_weighed_on_demand() -> None:
    made = settled(2, 2)
    unweighed = made.counts
    made.reconciler.weigh = remote.weight
    made.resync()
    made.settle()

    done = made.counts - unweighed
    hosts, apps = (made.store.of_kind(VERSION, kind) for kind in ("Host", "App"))
    weigh = remote.weight
    assert not unweighed.weights
    assert done.weights == {
        "Host": sum(map(weigh, hosts)) + sum(map(weigh, apps)),
        "App": sum(map(weigh, apps)) + 2 * weigh(hosts[0]),
    }
    assert all(weigh(plain(m)) == weigh(m) > 100 for m in hosts)


@pytest.mark.parametrize("seed", range(4))
def test_any_order_comes_to_the_same_rest(seed: int) -> None:
    made, other = settled(4, 5), settled(4, 5, seed=seed)
    for loop in (made, other):
        loop.load([xr("App", "one-more"), xr("App", "another")])
        loop.settle()

    assert [dig(m, "status") for m in other.store.of_kind(VERSION, "Host")] == [
        dig(m, "status") for m in made.store.of_kind(VERSION, "Host")
    ]


def test_a_copy_weighs_requests_as_the_loop_does() -> None:
    made = settled(1, 1)
    made.reconciler.weigh = lambda _manifest: 1
    copy = made.copied(made.store.copied(), ())

    copy.resync()
    copy.settle()

    assert (copy.counts - made.counts).weights["App"] > 0
    assert made.counts.weights.total() == 0
