"""The garbage collector, and the finalizer by which an object asks to be deleted in the foreground."""

from __future__ import annotations

from typing import Any

import pytest

from function.sandbox import schemas
from function.sandbox.errors import Refused
from function.sandbox.garbage import GarbageCollector
from function.sandbox.store import Ref, Store
from function.vocabulary import kubernetes

TOP, MIDDLE, LEAF = (Ref("v1", "ConfigMap", "team", name) for name in ("top", "middle", "leaf"))
SLOW = "example.org/slow"


def owned(ref: Ref, by: Ref | None, store: Store, *finalizers: str) -> dict[str, Any]:
    owner = store.get(by) if by else None
    references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"]}] if owner else []
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "finalizers": [*finalizers],
            "ownerReferences": [{**one, "uid": owner["metadata"]["uid"]} for one in references if owner],
        },
    }


@pytest.fixture
def store() -> Store:
    """Three objects: each owns the next, and something has to be done before the last one may go."""
    store = Store(schemas.load([]))
    store.load(owned(TOP, None, store))
    store.load(owned(MIDDLE, TOP, store, kubernetes.FOREGROUND))
    store.load(owned(LEAF, MIDDLE, store, SLOW))
    return store


def collected(store: Store, collector: GarbageCollector) -> list[str]:
    for _ in range(4):
        collector()
    return [ref.name for ref in store.refs("v1", "ConfigMap")]


def test_an_orphan_with_the_finalizer_waits_for_its_dependents(store: Store) -> None:
    collector = GarbageCollector(store)
    store.delete(TOP)

    assert collected(store, collector) == ["leaf", "middle"]
    store.remove_finalizer(LEAF, SLOW)
    assert collected(store, collector) == []


def test_the_finalizer_deletes_nothing_by_itself(store: Store) -> None:
    assert collected(store, GarbageCollector(store)) == ["leaf", "middle", "top"]


def test_a_deletion_in_the_background_removes_the_finalizer(store: Store) -> None:
    collector = GarbageCollector(store)
    store.delete(MIDDLE)

    assert collected(store, collector) == ["leaf", "top"]


def test_what_is_being_deleted_gets_no_finalizer(store: Store) -> None:
    store.delete(LEAF)

    with pytest.raises(Refused, match="no new finalizers can be added"):
        store.apply(owned(LEAF, MIDDLE, store, SLOW, kubernetes.FOREGROUND), "someone")
