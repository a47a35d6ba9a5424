"""Crossplane's loop, played on composers small enough to see through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from function.core import ComposedResource, Condition, Request, Requirement, Result, dig, is_ready
from function.sandbox import schemas
from function.sandbox.composed import child_name
from function.sandbox.control_loop import ControlLoop
from function.sandbox.errors import DidNotConverge, Fatal
from function.sandbox.store import Ref, Store

GROUP = "test.modelplane.ai"
VERSION = f"{GROUP}/v1"


def definition(kind: str, *, scope: str = "Namespaced", spec: Mapping[str, Any] | None = None) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": spec or {"type": "object"}, "status": {"type": "object"}}}
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": kind, "plural": f"{kind.lower()}s"},
            "scope": scope,
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
        },
    }


def xr(kind: str = "App", name: str = "a", namespace: str = "team", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def config_map(**data: str) -> ComposedResource:
    return ComposedResource({"apiVersion": "v1", "kind": "ConfigMap", "data": data})


def result(request: Request, resources: Mapping[str, ComposedResource], **said: Any) -> Result:
    """Ready when all of it was observed."""
    seen = {k: replace(r, ready=k in request.observed) for k, r in resources.items()}
    answer: dict[str, Any] = {"ready": all(r.ready for r in seen.values()), "conditions": (), "ttl": 60, **said}
    return Result(resources=seen, **answer)


def app(request: Request) -> Result:
    """An App composes a ConfigMap for each of its parts."""
    parts = request.xr["spec"].get("parts") or {}
    return result(request, {k: config_map(v=v) for k, v in parts.items()}, status={"parts": len(parts)})


def world(compose: Any = app, *objects: dict[str, Any], seed: int | None = None) -> ControlLoop:
    made = ControlLoop(Store(schemas.load([definition("App"), definition("Part")])), compose, seed=seed)
    made.load(objects)
    return made


REF = Ref(VERSION, "App", "team", "a")


def test_what_is_composed_carries_crossplanes_marks() -> None:
    """A name from the owner's uid and the key, an owner, a label, an annotation, a reference from the XR."""
    made = world(app, xr(parts={"one": "1"}))

    made.settle()

    owner = made.store.get(REF)
    assert owner is not None
    (got,) = made.store.of_kind("v1", "ConfigMap")
    name = child_name("a-", owner["metadata"]["uid"], "one")
    want = {
        "name": name,
        "namespace": "team",
        "labels": {"crossplane.io/composite": "a"},
        "annotations": {"crossplane.io/composition-resource-name": "one"},
        "owner": "a",
        "data": {"v": "1"},
        "refs": [{"apiVersion": "v1", "kind": "ConfigMap", "name": name}],
        "status": {"parts": 1},
        "ready": True,
    }
    assert want == {
        **{k: got["metadata"][k] for k in ("name", "namespace", "labels", "annotations")},
        "owner": got["metadata"]["ownerReferences"][0]["name"],
        "data": got["data"],
        "refs": owner["spec"]["crossplane"]["resourceRefs"],
        "status": {"parts": owner["status"]["parts"]},
        "ready": is_ready(owner),
    }


def test_a_name_that_is_too_long_keeps_its_hash() -> None:
    got = child_name("a" * 62 + "-", "uid", "key"), child_name("short", "uid", "key")

    assert [(len(name), name[-12:]) for name in got] == [(63, "bea5f6ed3354"), (18, "bea5f6ed3354")]


def test_what_is_no_longer_desired_is_deleted_and_what_is_kept_keeps_its_name() -> None:
    made = world(app, xr(parts={"one": "1", "two": "2"}))
    made.settle()
    before = {m["data"]["v"]: m["metadata"]["uid"] for m in made.store.of_kind("v1", "ConfigMap")}

    made.store.update(REF, lambda m: m["spec"].update(parts={"two": "3"}))
    made.settle()

    got = {m["data"]["v"]: m["metadata"]["uid"] for m in made.store.of_kind("v1", "ConfigMap")}
    assert got == {"3": before["2"]}


def test_a_field_that_is_no_longer_said_goes_and_anothers_field_stays() -> None:
    """Server-side apply: each owner's silence takes away its own fields only."""

    def one(request: Request) -> Result:
        return result(request, {"one": config_map(**request.xr["spec"]["data"])})

    made = world(one, xr(data={"a": "1", "b": "2"}))
    made.settle()
    (ref,) = [Ref("v1", "ConfigMap", "team", m["metadata"]["name"]) for m in made.store.of_kind("v1", "ConfigMap")]
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ref.name, "namespace": "team"}}
    made.store.apply({**other, "data": {"c": "3"}}, "someone")

    made.store.update(REF, lambda m: m["spec"].update(data={"a": "1"}))
    made.settle()

    assert (made.store.get(ref) or {})["data"] == {"a": "1", "c": "3"}


def test_a_fatal_answer_changes_nothing_and_says_so() -> None:
    stop = False

    def sometimes(request: Request) -> Result:
        if stop:
            raise Fatal("boom")
        parts = app(request)
        return replace(parts, conditions=(Condition("Fine", "True", "Fine"),))

    made = world(sometimes, xr(parts={"one": "1"}))
    made.settle()
    stop = True
    made.store.update(REF, lambda m: m["spec"].update(parts={}))
    made.settle()

    owner = made.store.get(REF)
    said = {c["type"]: (c["status"], c["reason"]) for c in dig(owner, "status", "conditions")}
    want = {
        "Responsive": ("True", "WatchCircuitClosed"),
        "Fine": ("Unknown", "FatalError"),
        "Synced": ("False", "ReconcileError"),
        "Ready": ("True", "Available"),
    }
    assert (len(made.store.of_kind("v1", "ConfigMap")), said) == (1, want)


def nested(request: Request) -> Result:
    """An App composes a Part, and a Part a ConfigMap."""
    if request.xr["kind"] == "Part":
        return result(request, {"leaf": config_map(v="x")})
    part = {"apiVersion": VERSION, "kind": "Part", "metadata": {"name": "p"}, "spec": {}}
    wanted = request.xr["spec"].get("part", True)
    return result(request, {"part": ComposedResource(part)} if wanted else {})


def test_what_is_dropped_takes_what_it_composed_along() -> None:
    """Foreground: the leaf goes before the part that owns it."""
    made = world(nested, xr())
    made.settle()
    had = [len(made.store.of_kind(*k)) for k in ((VERSION, "Part"), ("v1", "ConfigMap"))]

    made.store.update(REF, lambda m: m["spec"].update(part=False))
    made.settle()

    got = [len(made.store.of_kind(*k)) for k in ((VERSION, "Part"), ("v1", "ConfigMap"))]
    assert (had, got) == ([1, 1], [0, 0])


@pytest.mark.parametrize("foreground", [True, False])
def test_a_deleted_xr_takes_everything_along(foreground: bool) -> None:
    made = world(nested, xr())
    made.settle()

    made.store.delete(REF, foreground=foreground)
    made.settle()

    assert list(made.store.all()) == []


def test_another_xrs_resource_is_not_taken_over() -> None:
    def same_name(request: Request) -> Result:
        shared = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}}
        return result(request, {"one": ComposedResource(shared)})

    made = world(same_name, xr(name="a"), xr(name="b"))
    made.settle()

    synced = [
        next(c["status"] for c in m["status"]["conditions"] if c["type"] == "Synced")
        for m in made.store.of_kind(VERSION, "App")
    ]
    assert sorted(synced) == ["False", "True"]


def test_a_namespaced_xr_cannot_compose_what_has_no_namespace() -> None:
    def cluster_wide(request: Request) -> Result:
        return result(
            request, {"one": ComposedResource({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})}
        )

    made = world(cluster_wide, xr())
    made.settle()

    (synced,) = [c for c in dig(made.store.get(REF), "status", "conditions") if c["type"] == "Synced"]
    assert "cannot apply cluster scoped composed resource 'one'" in synced["message"]


def counting(request: Request) -> Result:
    """Reads all Parts, and says how many there are."""
    asked = Requirement("parts", VERSION, "Part")
    parts = request.resolved(asked)
    status = {} if parts is None else {"parts": len(parts)}
    return result(request, {}, requirements=(asked,), status=status)


def test_who_reads_others_is_woken_when_they_change() -> None:
    made = world(counting, xr(), xr("Part", "p1"), xr("Part", "p2"))
    made.settle()
    calls = made.reconciler.calls
    made.settle()
    idle = made.reconciler.calls - calls

    made.load([xr("Part", "p3")])
    made.settle()

    assert (idle, dig(made.store.get(REF), "status", "parts")) == (0, 3)


def test_a_world_that_does_not_rest_names_who_moves() -> None:
    def restless(request: Request) -> Result:
        count = int(dig(request.xr, "status", "count") or 0)
        return result(request, {}, status={"count": count + 1})

    with pytest.raises(DidNotConverge, match="1 objects still change after 600 rounds: App team/a"):
        world(restless, xr()).settle()


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_reconciles_ends_the_same(seed: int) -> None:
    objects = [xr(name=n, parts={"one": n}) for n in "abcd"]
    want, got = world(app, *objects), world(app, *objects, seed=seed)

    want.settle()
    got.settle()

    assert [m["data"] for m in got.store.of_kind("v1", "ConfigMap")] == [
        m["data"] for m in want.store.of_kind("v1", "ConfigMap")
    ]


def test_a_dump_is_a_start_state() -> None:
    """What a dump says to be owned is adopted by the owner from Git, and nothing of it moves."""
    made = world(app, xr(parts={"one": "1"}))
    made.settle()
    (composed,) = made.store.of_kind("v1", "ConfigMap")

    again = world(app, xr(parts={"one": "1"}), dict(composed))
    again.settle()

    got = [(m["metadata"]["name"], m["metadata"]["uid"]) for m in again.store.of_kind("v1", "ConfigMap")]
    assert got == [(composed["metadata"]["name"], composed["metadata"]["uid"])]


def test_an_edit_replaces_all_that_users_write() -> None:
    """A field that the edit does not have is gone. Status, and what Crossplane wrote, stay."""
    loop = world(app, xr(parts={"x": "1"}))
    loop.settle()
    given = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own", "namespace": "team"}}
    loop.load([{**given, "data": {"a": "1"}, "binaryData": {"b": "MQ=="}}])

    loop.replace({**given, "data": {"a": "2"}})
    without_spec = {k: v for k, v in xr().items() if k != "spec"}
    loop.replace(without_spec)

    config, edited = (
        loop.store.get(Ref(*at)) for at in (("v1", "ConfigMap", "team", "own"), (VERSION, "App", "team", "a"))
    )
    assert (dig(config, "data"), dig(config, "binaryData")) == ({"a": "2"}, None)
    assert (list(dig(edited, "spec")), dig(edited, "status", "parts")) == (["crossplane"], 1)
