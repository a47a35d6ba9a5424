"""Usages, played on an XR that composes a network, a cluster in it, and what says that the cluster uses it."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import ComposedResource, Request, Result, condition, dig, is_ready
from function.sandbox import schemas, usages
from function.sandbox.admission import Admission
from function.sandbox.control_loop import ControlLoop
from function.sandbox.store import Ref, Store
from function.vocabulary import versions

VERSION = "sky.example.org/v1"
SKY = Ref(VERSION, "Sky", "team", "a")
FINALIZER = "example.org/slow"
NAMES = {"network": ("v1", "Network"), "cluster": ("v1", "Cluster"), "usage": (versions.PROTECTION, "Usage")}
ALL = ("network", "cluster", "usage")


def xrd() -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "skies.sky.example.org"},
        "spec": {
            "group": "sky.example.org",
            "names": {"kind": "Sky", "plural": "skies"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
        },
    }


def compose(request: Request) -> Result:
    """Composes what its spec lists."""
    return Result(
        ready=True,
        conditions=(),
        resources={key: ComposedResource(manifest(key), ready=True) for key in request.xr["spec"]["parts"]},
        ttl=60,
    )


def manifest(key: str) -> dict[str, Any]:
    api_version, kind = NAMES[key]
    of, by = ({"apiVersion": "v1", "kind": k, "resourceRef": {"name": k.lower()}} for k in ("Network", "Cluster"))
    spec = {"of": of, "by": by, "replayDeletion": True} if key == "usage" else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": key}, "spec": spec}


def ref(key: str) -> Ref:
    return Ref(*NAMES[key], "team", key)


def sky(seed: int | None = None, parts: tuple[str, ...] = ALL) -> ControlLoop:
    """At rest, with all three unless other parts are given. The cluster takes time to go."""
    loop = ControlLoop(Store(schemas.load([xrd()]), Admission(), usages.refuses), compose, seed=seed)
    loop.load([{"apiVersion": VERSION, "kind": "Sky", "metadata": {"name": "a", "namespace": "team"},
                "spec": {"parts": list(parts)}}])  # fmt: skip
    loop.settle()
    if "cluster" in parts:
        loop.store.add_finalizer(ref("cluster"), FINALIZER)
    return loop


def left(loop: ControlLoop) -> list[str]:
    return [key for key in ALL if loop.store.get(ref(key))]


def wants(loop: ControlLoop, *parts: str) -> None:
    loop.store.update(SKY, lambda xr: xr["spec"].update(parts=list(parts)))
    loop.settle()


def says(loop: ControlLoop) -> str:
    return str(dig(condition(loop.store.get(SKY) or {}, "Synced"), "message") or "")


def test_what_is_used_is_deleted_after_its_user() -> None:
    loop = sky()
    loop.store.delete(SKY)
    loop.settle()
    waiting = left(loop), [dig(loop.store.get(ref(key)), "metadata", "deletionTimestamp") is None for key in ALL]
    loop.store.remove_finalizer(ref("cluster"), FINALIZER)
    loop.settle()

    assert waiting == ([*ALL], [True, False, False])
    assert left(loop) == []


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3])
def test_a_reconcile_ends_at_the_first_delete_that_is_refused(seed: int | None) -> None:
    loop = sky(seed)
    wants(loop, "usage")

    assert says(loop) == (
        "cannot compose resources: cannot garbage collect composed resources: "
        'cannot delete composed resource "network": Network team/network is in use'
    )
    assert "usage" in left(loop)


def test_a_usage_that_is_no_longer_composed_does_not_wait_for_its_user() -> None:
    """Crossplane takes the label off it by which its controller knows that it was composed."""
    loop = sky()
    wants(loop, "network", "cluster")

    assert left(loop) == ["network", "cluster"]


def test_a_usage_that_goes_with_its_xr_waits_for_its_user() -> None:
    loop = sky()
    loop.store.delete(SKY)
    loop.settle()

    assert "usage" in left(loop)


def test_a_delete_that_was_refused_is_replayed() -> None:
    loop = sky()
    refused = loop.store.delete(ref("network"))
    wants(loop, "network", "cluster")

    found = loop.store.get(ref("network"))
    assert (refused, found is not None and is_ready(found), left(loop)) == (False, False, ["network", "cluster"])


def test_a_usage_refuses_before_its_user_is_there_and_is_not_ready() -> None:
    loop = sky(parts=("network", "usage"))
    refused = loop.store.delete(ref("network"))
    before = is_ready(loop.store.get(ref("usage")) or {})
    wants(loop, *ALL)

    assert (refused, before, is_ready(loop.store.get(ref("usage")) or {})) == (False, False, True)


def test_a_usage_without_its_user_goes_with_its_xr() -> None:
    loop = sky(parts=("network", "usage"))
    loop.store.delete(SKY)
    loop.settle()

    assert left(loop) == []
