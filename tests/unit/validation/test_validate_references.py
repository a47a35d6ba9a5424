"""References between objects: the table has all of them, and what is given decides how sure a finding is."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from function.publish.catalog import BY_KIND
from function.validation import report, validate
from function.validation.references import TABLE
from tests.support.samples import CACHE, DEPLOYMENT, ENDPOINT, GATEWAY, SERVICE, Object, edited, of

NAMING = re.compile(r"(ref|secret|classname|claimname)$", re.IGNORECASE)
"""Names of fields that name an object, or hold its name."""
NOT_GIVEN = {
    ("ModelCache", "persistentVolumeClaim.claims.*.claimName"),  # on the inference clusters
    ("InferenceCluster", "servingStack.gateway.tls.secretRef"),  # on the inference cluster
    ("InferenceClass", "devices.*.deviceClassName"),  # a driver installs it on the inference clusters
}
"""Fields that name what is no object of the control cluster."""
COMPOSED = ("ModelReplica", "ServingStack", "EKSCluster", "GKECluster", "AKSCluster", "NebiusCluster", "VultrCluster")
"""Kinds that the function writes."""


def naming(model: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of fields that name an object, below a model."""
    for name, info in model.model_fields.items():
        if NAMING.search(name):
            yield (*above, name)
            continue
        for inner, is_list in models(info.annotation):
            yield from naming(inner, (*above, name, *(("*",) if is_list else ())))


def models(annotation: Any, *, is_list: bool = False) -> Iterator[tuple[Any, bool]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, is_list
    is_list = is_list or typing.get_origin(annotation) in (list, tuple)
    for part in typing.get_args(annotation):
        yield from models(part, is_list=is_list)


def test_every_field_that_names_an_object_is_in_the_table() -> None:
    fields = {
        (kind.kind, ".".join(path))
        for kind in BY_KIND.values()
        if kind.kind not in COMPOSED
        for path in naming(kind.spec)
    }
    rows = {
        (kind, ".".join(row.path[:-1] if row.path[-1] == "name" else row.path)) for kind in TABLE for row in TABLE[kind]
    }

    assert fields == rows | NOT_GIVEN


def secret(name: str, namespace: str | None = "ml-team", **data: str) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}


def told(about: Object, *around: Object) -> list[tuple[str, str, str]]:
    """Severity, code and message of what is found in the first of some objects."""
    return [(one.severity, one.code, one.message) for one in report([about, *around]) if one.index == 0]


PROVIDER = edited(ENDPOINT, "spec.auth.secretRef", {"name": "provider"})
NOTE = "names Secret provider, but no Secret is given: this cannot be checked"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ([secret("provider", **{"api-key": "x"})], []),
        ([secret("provider", None)], []),
        ([], [("note", "unchecked", NOTE)]),
        ([secret("proviter", "other-team")], [("note", "unchecked", NOTE)]),
        ([secret("proviter")],
         [("warning", "not-found", "names Secret provider, which is not given; did you mean proviter?")]),
        ([secret("provider", "other-team")],
         [("warning", "tenancy", "names a Secret of its own namespace, but provider is only in other-team")]),
        ([secret("provider", **{"api-kex": "x"})],
         [("warning", "missing-key", "names key api-key, which Secret provider lacks; did you mean api-kex?")]),
    ],
    ids=["there", "in no namespace", "nothing", "another tenant's", "a typo", "elsewhere", "no key"],
)  # fmt: skip
def test_what_is_given_decides_how_sure_a_finding_is(given: list[Object], want: list[Any]) -> None:
    assert told(PROVIDER, *given) == want


@pytest.mark.parametrize(
    "made",
    [
        of("SealedSecret", {}, "provider", group="bitnami.com/v1alpha1"),
        of("ExternalSecret", {"target": {"name": "provider"}}, "x", group="external-secrets.io/v1"),
        of("ExternalSecret", {}, "provider", group="external-secrets.io/v1beta1"),
        of("Certificate", {"secretName": "provider"}, "x", group="cert-manager.io/v1"),
    ],
)
def test_a_secret_that_a_controller_makes_is_given_with_keys_that_nobody_knows(made: Object) -> None:
    assert told(PROVIDER, made, secret("another")) == []


def test_one_note_counts_all_references_to_a_kind() -> None:
    other = edited(PROVIDER, "metadata.name", "other")

    got = [one.message for one in report([PROVIDER, other]) if one.code == "unchecked"]
    assert got == ["names Secret provider, but no Secret is given: this and 1 more like it cannot be checked"]


def test_the_secrets_of_the_platform_are_in_its_namespace() -> None:
    tls = {"name": "cert"}
    gateway = edited(GATEWAY, "spec.tls.secretRef", tls)

    assert told(gateway, secret("cert", "modelplane-system", **{"tls.crt": "x", "tls.key": "x"})) == []
    assert told(gateway, secret("cert", None)) == []
    (got,) = told(gateway, secret("cert", "ml-team"))
    assert got[1:] == ("tenancy", "names a Secret of namespace modelplane-system, but cert is only in ml-team")


def test_an_optional_reference_may_find_nothing() -> None:
    """The samples name Secret hub as optional, and ConfigMap conf not."""
    found = report([DEPLOYMENT, secret("another"), {**secret("another"), "kind": "ConfigMap"}])

    names = {one.message.split(",")[0] for one in found if one.code == "not-found"}
    assert names == {"names ConfigMap conf", "names Secret registry.example.org"}


def test_a_storage_class_is_told_if_others_are_given() -> None:
    """It is on the inference cluster, so that none is the usual case."""
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}}
    existing = {"source": "Existing", "existing": {"secretRef": {"name": "x"}, "cache": {"storageClassName": "fats"}}}
    pools = [{"name": "gpu", "className": "h100", "maxNodeCount": 1}]
    cluster = of("InferenceCluster", {"cluster": existing, "nodePools": pools}, "lab", None)

    codes = [[one.code for one in validate(given)] for given in ([cluster], [cluster, storage])]
    assert codes == [[], ["not-found"]]


@pytest.mark.parametrize(
    ("callers", "labels", "want"),
    [
        ({}, None, [("note", "unchecked")]),
        ({"required": False}, None, []),
        ({}, {}, []),
        ({"selector": {"matchLabels": {"team": "a"}}}, {"team": "b"}, [("warning", "selects-nothing")]),
        ({"selector": {"matchLabels": {"team": "a"}}}, {"team": "a"}, []),
        ({"required": False, "selector": {"matchLabels": {"team": "a"}}}, {"team": "b"},
         [("warning", "selects-nothing")]),
    ],
)  # fmt: skip
def test_callers_that_match_nobody_are_told(callers: Object, labels: Object | None, want: list[Any]) -> None:
    service = edited(SERVICE, "spec.callers", callers)
    caller = of("ModelCaller", {"keys": [{"secretRef": {"name": "key"}}]}, "eval")
    given = [] if labels is None else [edited(caller, "metadata.labels", labels)]

    found = [one for one in report([service, *given]) if one.field.startswith("spec.callers")]
    assert [(one.severity, one.code) for one in found] == want


def test_callers_of_another_namespace_are_nobody() -> None:
    service = edited(SERVICE, "spec.callers", {})
    caller = of("ModelCaller", {"keys": [{"secretRef": {"name": "key"}}]}, "eval", "other-team")

    (got,) = (one for one in validate([service, caller]) if one.field == "spec.callers")
    want = "requires the key of a ModelCaller, but none that is given is in namespace ml-team"
    assert (got.code, got.message) == ("selects-nothing", want)


LABELS = {"modelplane.ai/deployment": "sample", "modelplane.ai/cluster": "any", "modelplane.ai/replica-index": "0"}


@pytest.mark.parametrize(
    ("wanted", "want"),
    [
        (LABELS, None),
        ({"modelplane.ai/deployment": "simple"},
         "selects endpoints with modelplane.ai/deployment simple, which none that is given has; did you mean sample?"),
        ({"modelplane.ai/deploiment": "sample"},
         "selects endpoints with label modelplane.ai/deploiment, which none that is given has; did you mean {}?"),
        ({"modelplane.ai/deployment": "sample", "tier": "gold"},
         "selects no endpoints: none that is given has all of these labels"),
    ],
    ids=["labels of replicas", "value", "key", "together"],
)  # fmt: skip
def test_labels_that_no_endpoint_has_are_told(wanted: Object, want: str | None) -> None:
    service = edited(SERVICE, "spec.endpoints.0.selector.matchLabels", wanted)
    gold = edited(edited(DEPLOYMENT, "metadata.labels", {"tier": "gold"}), "metadata.name", "gold")

    got = [one.message for one in validate([service, DEPLOYMENT, gold]) if one.index == 0]
    assert got == ([want.format("modelplane.ai/deployment")] if want else [])


def test_of_several_wrong_labels_the_one_with_a_similar_name_is_told() -> None:
    service = edited(SERVICE, "spec.endpoints.0.selector.matchLabels", {"a": "b", "modelplane.ai/deployment": "simple"})

    (got,) = (one for one in validate([service, DEPLOYMENT]) if one.index == 0)
    assert got.path[-1] == "modelplane.ai/deployment"


def test_a_cache_that_nothing_uses_is_a_note() -> None:
    used = edited(DEPLOYMENT, "spec.modelCacheRef.name", "sample")
    codes = [{one.code for one in report(given) if one.severity == "note"} for given in (
        [CACHE], [CACHE, used], [CACHE, edited(used, "metadata.namespace", "other-team")]
    )]  # fmt: skip
    assert [("unused" in found) for found in codes] == [False, False, True]


def test_validate_tells_no_notes() -> None:
    assert [len(found) for found in (report([PROVIDER]), validate([PROVIDER]))] == [1, 0]


def test_if_objects_are_missing_references_are_not_judged() -> None:
    typo = [PROVIDER, secret("proviter")]
    assert [one.code for one in report(typo)] == ["not-found"]
    assert report(typo, is_complete=False) == []


def test_a_nearest_name_is_looked_for_as_often_as_people_mistype_one() -> None:
    """If hundreds of names are missing, files are; comparing each with all would take the square."""
    many = [
        edited(edited(PROVIDER, "metadata.name", f"e{i}"), "spec.auth.secretRef.name", f"key{i}") for i in range(150)
    ]

    hints = [one.message.partition("; ")[2] for one in report([*many, secret("key")]) if one.code == "not-found"]
    assert hints == ["did you mean key?"] * 100 + ["there is key"] * 50
