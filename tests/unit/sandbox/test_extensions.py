"""The sandbox with kinds, a function, a controller and an admission rule of its own: it needs none of Modelplane's."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import ComposedResource, Condition, Manifest, Request, Requirement, Result, dig
from function.sandbox import schemas, usages
from function.sandbox.admission import Admission
from function.sandbox.conditions import with_conditions
from function.sandbox.control_loop import ControlLoop
from function.sandbox.errors import DidNotConverge, Fatal, Refused, Unreachable
from function.sandbox.schemas import ServedKind
from function.sandbox.store import Ref, Store

VERSION = "zoo.example.org/v1"
CAGE = Ref("v1", "Cage", "default", "africa")


def xrd(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    properties = {"spec": {"type": "object", "properties": spec}, "status": {"type": "object"}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    names = {"kind": kind, "plural": f"{kind.lower()}s"}
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.zoo.example.org"},
        "spec": {"group": "zoo.example.org", "names": names, "versions": [{"name": "v1", "schema": schema}]},
    }


ANIMAL = xrd("Animal", {"legs": {"type": "integer", "default": 4, "minimum": 0}})


def animal(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": VERSION, "kind": "Animal", "metadata": {"name": name, "namespace": "zoo"}, "spec": spec}


def keeper(request: Request) -> Result:
    """Composes a Feeder that names the animal's herd, and is ready when the Feeder is."""
    herd = Requirement("herd", VERSION, "Animal", namespace="zoo")
    found = request.resolved(herd)
    feeder = request.observed.get("feeder")
    ready = dig(feeder, "status", "full") is True
    manifest = {"apiVersion": "v1", "kind": "Feeder", "spec": {"bowls": len(found or ())}}
    return Result(
        ready=ready,
        conditions=(Condition("Fed", "True" if ready else "False", "Feeding"),),
        resources={} if found is None else {"feeder": ComposedResource(manifest, ready)},
        status={"legs": request.xr["spec"]["legs"]},
        requirements=(herd,),
        ttl=60,
    )


def filler(store: Store) -> None:
    """A controller: fills every Feeder."""
    for ref in store.refs("v1", "Feeder"):
        store.update(ref, lambda feeder: feeder.update(status={"full": True}), status=True)


def zoo(function: Any = keeper, *controllers: Any, admit: Any = None) -> ControlLoop:
    store = Store(schemas.load([ANIMAL]), admit or Admission(), usages.refuses)
    return ControlLoop(store, function, controllers, step="keep")


def conditions(loop: ControlLoop, name: str) -> dict[str, tuple[str, str]]:
    found = loop.store.get(Ref(VERSION, "Animal", "zoo", name))
    return {c["type"]: (c["status"], c.get("message", "")) for c in dig(found, "status", "conditions")}


def test_a_fleet_of_other_kinds_converges() -> None:
    """Defaults come from the XRD, requirements are answered, the controller's status wakes the XR."""
    loop = zoo(keeper, filler)
    loop.load([animal("lion"), animal("snake", legs=0)])

    loop.settle()

    feeders = [m["spec"]["bowls"] for m in loop.store.of_kind("v1", "Feeder")]
    legs = [dig(m, "status", "legs") for m in loop.store.of_kind(VERSION, "Animal")]
    assert (feeders, legs, conditions(loop, "lion")["Ready"]) == ([2, 2], [4, 0], ("True", ""))


def test_without_its_controller_nothing_becomes_ready() -> None:
    loop = zoo()
    loop.load([animal("lion")])

    loop.settle()

    assert {t: c[0] for t, c in conditions(loop, "lion").items()} == {
        "Responsive": "True",
        "Synced": "True",
        "Fed": "False",
        "Ready": "False",
    }


def test_controllers_are_called_in_order_once_a_round_until_they_are_idle() -> None:
    called: list[str] = []
    loop = zoo(keeper, lambda _: called.append("first"), lambda _: called.append("second"))
    loop.load([animal("lion")])

    rounds = loop.settle()

    assert called == ["first", "second"] * rounds


def test_a_controller_that_is_never_idle_keeps_the_loop_from_converging() -> None:
    def restless(store: Store) -> None:
        store.update(CAGE, lambda cage: cage.update(status={"seen": store.version}), status=True)

    loop = zoo(keeper, restless)
    loop.load([{"apiVersion": "v1", "kind": "Cage", "metadata": {"name": "africa"}}])

    with pytest.raises(DidNotConverge, match=r"1 objects still change after 3 rounds: Cage .*africa"):
        loop.settle(most=3)


def test_a_controller_that_is_at_work_is_called_again_although_nothing_changes() -> None:
    left = [True, True, True, False]
    loop = zoo(keeper, lambda _: left.pop(0))

    assert (loop.settle(), left) == (4, [])


def test_a_fatal_function_names_the_step_and_an_unreachable_one_stops_the_loop() -> None:
    def raising(problem: Exception) -> Any:
        def function(_: Request) -> Result:
            raise problem

        return function

    fatal = zoo(raising(Fatal("no food")))
    fatal.load([animal("lion")])
    fatal.settle()
    gone = zoo(raising(Unreachable("nobody there")))
    gone.load([animal("lion")])

    message = 'cannot compose resources: pipeline step "keep" returned a fatal result: no food'
    assert conditions(fatal, "lion")["Synced"] == ("False", message)
    with pytest.raises(Unreachable, match="nobody there"):
        gone.settle()


def test_an_admission_rule_sees_the_kind_and_the_old_object() -> None:
    seen: list[tuple[str, bool]] = []

    def admit(kind: ServedKind, manifest: dict[str, Any], old: Manifest | None) -> None:
        seen.append((kind.kind, old is None))
        if manifest["metadata"]["name"] == "dragon":
            raise Refused("no dragons")

    loop = zoo(keeper, admit=admit)
    with pytest.raises(Refused, match="no dragons"):
        loop.load([animal("dragon")])
    loop.load([animal("lion", legs=4)])
    loop.replace(animal("lion", legs=3))

    assert seen == [("Animal", True), ("Animal", True), ("Animal", False)]


def test_a_delete_guard_blocks_deletion() -> None:
    store = Store(schemas.load([ANIMAL]), blocks_delete=lambda _store, ref, _policy: ref.kind == "Animal")
    store.load(animal("lion"))
    ref = Ref(VERSION, "Animal", "zoo", "lion")

    assert (store.delete(ref), store.get(ref) is None) == (False, False)


def test_equal_conditions_stay_as_they_are() -> None:
    before = with_conditions([], (Condition("Fed", "True", "Feeding"),), 1)

    assert with_conditions(before, (Condition("Fed", "True", "Feeding"),), None) == before
