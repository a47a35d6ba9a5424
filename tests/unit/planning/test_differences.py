"""What differs between two states of a control plane."""

from __future__ import annotations

import copy
from typing import Any

from function.core import NamespacedName
from function.planning import differences, stubs
from function.planning.control_plane import ControlPlane
from function.planning.differences import Differences
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.bench import whole_fleets

FLEET = whole_fleets.manifests(1, 2, nodes=4)
NAMESPACE = whole_fleets.NAMESPACE


def settled(*edits: dict[str, Any]) -> tuple[ControlPlane, Differences]:
    """A fleet after edits, and what differs from the one before them."""
    control = ControlPlane()
    control.loop.load([*FLEET, *stubs.objects(FLEET)])
    control.loop.settle()
    before = control.store.copied()
    for edit in edits:
        control.loop.replace(edit)
    control.loop.settle()
    return control, differences.read(before, control.store, is_settled=True)


def edited(name: str, cel: str) -> dict[str, Any]:
    found = copy.deepcopy(next(m for m in FLEET if m["metadata"]["name"] == name))
    asked = found["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]
    asked["selectors"] = [{"cel": cel}]
    return found


def test_without_an_edit_nothing_differs() -> None:
    _, found = settled()

    assert found == Differences()


def test_the_same_object_again_is_no_edit() -> None:
    _, found = settled(FLEET[-1])

    assert found == Differences()


def test_a_manifest_of_another_name_under_the_same_key_has_changed() -> None:
    """It is not one that is gone and a new one."""
    _, found = settled(edited("d1", 'device.driver == "gpu.nvidia.com" && true'))

    changed = {(one.kind, one.what) for one in found.manifests}
    assert ("ResourceClaimTemplate", "changed") in changed
    assert {what for _, what in changed} == {"changed"}
    assert {(one.origin.kind, one.origin.name, one.where) for one in found.manifests} == {
        ("ModelDeployment", "d1", "c0")
    }


def test_what_an_edited_class_changes_counts_as_direct() -> None:
    class_ = copy.deepcopy(next(m for m in FLEET if m["kind"] == "InferenceClass"))
    class_["metadata"]["labels"] = {"a": "b"}

    _, found = settled(class_, edited("d1", 'device.driver == "gpu.nvidia.com" && true'))

    assert [(edit.kind, edit.composes) for edit in found.edits] == [
        ("InferenceClass", False),
        ("ModelDeployment", True),
    ]
    assert found.edited == {
        ("InferenceClass", NamespacedName("", "l4")),
        ("ModelDeployment", NamespacedName(NAMESPACE, "d1")),
    }
    assert all(is_direct for _, is_direct in found.direct)


def test_owners_in_a_circle_have_an_origin() -> None:
    control = ControlPlane()
    for name, owner in (("a", "b"), ("b", "a")):
        reference = {"apiVersion": versions.CORE, "kind": "Secret", "name": owner, "uid": owner, "controller": True}
        metadata = {"name": name, "namespace": NAMESPACE, "uid": name, "ownerReferences": [reference]}
        control.store.load({"apiVersion": versions.CORE, "kind": "Secret", "metadata": metadata})

    assert differences.origin(control.store, Ref(versions.CORE, "Secret", NAMESPACE, "a")).name in ("a", "b")
