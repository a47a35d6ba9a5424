"""Refusals: the conditions that count as one, and whose edit they are due to."""

from __future__ import annotations

import pytest

from function import registry
from function.api import servingstack
from function.core import Composer, Reason
from function.planning import refusals
from function.planning.control_plane import ControlPlane
from function.planning.refusals import Refusal
from function.sandbox.store import Ref
from function.vocabulary import conditions, versions

DEPLOYMENT = Ref(versions.MODELPLANE, "ModelDeployment", "ml-team", "a")


def refusal(ref: Ref = DEPLOYMENT, message: str = "spec.engines: no") -> Refusal:
    return Refusal(ref, ref, "ReplicasScheduled", "InvalidSpec", message)


def loaded(*manifests: dict[str, object]) -> tuple[Refusal, ...]:
    control = ControlPlane()
    control.loop.load(manifests)
    return refusals.read(control.store)


def cluster(**condition: str) -> dict[str, object]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "europe"},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "a"}}},
            "nodePools": [{"name": "a", "className": "b", "nodeCount": 1}],
        },
        "status": {"conditions": [condition]},
    }


def stack(**condition: str) -> dict[str, object]:
    owner = {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "name": "europe", "controller": True}
    return {
        "apiVersion": servingstack.API_VERSION,
        "kind": "ServingStack",
        "metadata": {"name": "europe", "namespace": "modelplane-system", "ownerReferences": [owner]},
        "spec": {
            "clusterName": "europe",
            "source": "Existing",
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "a"},
        },
        "status": {"conditions": [condition]},
    }


@pytest.mark.parametrize("composer", registry.COMPOSERS.values(), ids=lambda composer: composer.kind)
def test_what_a_composer_says_of_an_invalid_spec_is_a_refusal(composer: Composer) -> None:
    condition = composer.invalid(field="spec.a", problem="no")

    got = refusals.is_refusal({"type": condition.type, "status": condition.status, "reason": condition.reason})

    assert got


@pytest.mark.parametrize(
    ("reason", "want"),
    [
        (conditions.INVALID_NODE_SELECTOR, True),
        (conditions.INVALID_NODE_POOL, True),
        (conditions.INVALID_URL, True),
        (conditions.INSUFFICIENT_CAPACITY, False),
        (conditions.WAITING_FOR_CLASSES, False),
        (conditions.REPLICAS_CREATED, False),
    ],
)
def test_a_refusal_names_a_field(reason: Reason, want: bool) -> None:
    assert refusals.is_refusal({"type": reason.type, "status": reason.status, "reason": reason.reason}) == want


def test_a_condition_that_holds_again_is_no_refusal() -> None:
    assert not refusals.is_refusal({"type": "ReplicasScheduled", "status": "Unknown", "reason": "InvalidSpec"})


def test_a_refusal_of_what_an_object_composes_is_its_own() -> None:
    """The user wrote the cluster, and not its serving stack."""
    said = {"type": "StackReady", "status": "False", "reason": "InvalidSpec", "message": "spec.a: no"}

    (got,) = loaded(cluster(type="ClusterReady", status="False", reason="Installing"), stack(**said))

    assert (got.ref.kind, got.object.kind, got.field) == ("InferenceCluster", "ServingStack", "spec.a")


def test_a_refusal_of_what_an_object_elsewhere_composes_stays_where_it_is() -> None:
    said = {"type": "StackReady", "status": "False", "reason": "InvalidSpec", "message": "spec.a: no"}

    (got,) = loaded(stack(**said))

    assert got.ref == got.object


def test_a_refusal_is_due_to_a_change_that_edits_its_object_or_causes_it() -> None:
    old, other = refusal(), Ref(versions.MODELPLANE, "ModelDeployment", "ml-team", "b")

    got = [
        refusals.due((), (old,), ()),
        refusals.due((old,), (refusal(message="spec.engines: no, again"),), ()),
        refusals.due((old,), (old,), (other,)),
        refusals.due((old,), (old,), (DEPLOYMENT,)),
        refusals.due((old,), (), (DEPLOYMENT,)),
    ]

    assert got == [(old,), (), (), (old,), ()]
