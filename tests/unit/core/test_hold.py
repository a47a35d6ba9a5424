"""Silence deletes, and what is said again is what was written: no more, no less."""

from __future__ import annotations

from function.core import restate

RULE = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute"}


def observed(**metadata: object) -> dict:
    return {
        **RULE,
        "metadata": {
            "name": "route",
            "namespace": "ml",
            "uid": "1",
            "resourceVersion": "2",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{"uid": "0"}],
            "finalizers": ["foregroundDeletion"],
            "labels": {"crossplane.io/composite": "xr", "modelplane.ai/cluster": "east"},
            "annotations": {
                "crossplane.io/composition-resource-name": "route",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "modelplane.ai/spec-hash": "12345678",
            },
            **metadata,
        },
        "spec": {
            "parentRefs": [{"name": "gateway", "group": "gateway.networking.k8s.io"}],
            "hostnames": ["a", "b"],
            "rules": [{"name": "r", "backendRefs": [{"name": "x", "weight": 1}], "timeouts": {"request": "0s"}}],
            "crossplane": {"resourceRefs": [{"name": "x"}]},
        },
        "status": {"parents": []},
    }


def test_without_managed_fields_all_but_what_servers_set_is_restated() -> None:
    want = {
        **RULE,
        "metadata": {
            "name": "route",
            "namespace": "ml",
            "labels": {"modelplane.ai/cluster": "east"},
            "annotations": {"modelplane.ai/spec-hash": "12345678"},
        },
        "spec": {k: v for k, v in observed()["spec"].items() if k != "crossplane"},
    }
    assert restate(observed()) == want


def test_with_managed_fields_only_what_we_own_is_restated() -> None:
    """Defaults and what controllers filled in stay theirs: maps by field, lists by key or value, leaves whole."""
    ours = {
        "manager": "apiextensions.crossplane.io/composed/0123",
        "operation": "Apply",
        "fieldsV1": {
            "f:metadata": {
                "f:labels": {"f:modelplane.ai/cluster": {}, "f:crossplane.io/composite": {}},
                "f:ownerReferences": {'k:{"uid":"0"}': {}},
            },
            "f:spec": {
                "f:parentRefs": {'k:{"name":"gateway"}': {".": {}, "f:name": {}}},
                "f:hostnames": {'v:"b"': {}},
                "f:rules": {'k:{"name":"r"}': {".": {}, "f:name": {}, "f:backendRefs": {}}},
            },
        },
    }
    theirs = {"manager": "gateway", "operation": "Update", "fieldsV1": {"f:spec": {"f:hostnames": {'v:"a"': {}}}}}
    want = {
        **RULE,
        "metadata": {"name": "route", "namespace": "ml", "labels": {"modelplane.ai/cluster": "east"}},
        "spec": {
            "parentRefs": [{"name": "gateway"}],
            "hostnames": ["b"],
            "rules": [{"name": "r", "backendRefs": [{"name": "x", "weight": 1}]}],
        },
    }
    assert restate(observed(managedFields=[theirs, ours])) == want


def test_a_finalizer_that_we_own_is_restated() -> None:
    """Left out, server-side apply would remove it."""
    ours = {
        "manager": "apiextensions.crossplane.io/composed/0123",
        "operation": "Apply",
        "fieldsV1": {"f:metadata": {"f:finalizers": {'v:"foregroundDeletion"': {}}}},
    }
    theirs = ["foregroundDeletion", "example.org/slow"]

    assert restate(observed(managedFields=[ours], finalizers=theirs))["metadata"]["finalizers"] == theirs[:1]
    assert "finalizers" not in restate(observed(managedFields=[ours], finalizers=theirs[1:]))["metadata"]


def test_the_status_that_we_applied_to_is_not_what_we_compose() -> None:
    """An entry for a subresource tells nothing about the object."""
    entry = {
        "manager": "apiextensions.crossplane.io/composed/0123",
        "operation": "Apply",
        "subresource": "status",
        "fieldsV1": {"f:status": {}},
    }
    assert restate(observed(managedFields=[entry])) == restate(observed())


def test_objects_without_a_spec_keep_their_data() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "type": "Opaque", "data": {"a": "Yg=="}}
    assert restate(secret) == secret


def test_what_is_observed_is_left_alone() -> None:
    before = observed()
    restate(before)
    assert before == observed()


def test_the_name_of_a_remote_thing_is_restated() -> None:
    """A Release without it would be another release."""
    release = observed(annotations={"crossplane.io/external-name": "mp-lws", "crossplane.io/paused": "true"})

    assert restate(release)["metadata"]["annotations"] == {"crossplane.io/external-name": "mp-lws"}
