"""What plans assume of clouds: provider configs, and the Secrets that they name."""

from __future__ import annotations

from typing import Any

import pytest

from function import clouds
from function.planning import stubs
from function.vocabulary import names, versions


def cluster(source: clouds.Source, **block: Any) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "a"},
        "spec": {"cluster": {"source": source.name, source.block: block}},
    }


def told(*manifests: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (m["kind"], m["metadata"].get("namespace", ""), m["metadata"]["name"]) for m in stubs.objects(list(manifests))
    ]


@pytest.mark.parametrize("source", clouds.PROVISIONED, ids=lambda source: source.name)
def test_a_cluster_whose_block_is_empty_has_a_provider_config(source: clouds.Source) -> None:
    assert ("ClusterProviderConfig", "", "default") in told(cluster(source))


def test_a_provider_config_has_the_secret_that_it_names() -> None:
    nebius = clouds.BY_NAME["Nebius"]
    assert told(cluster(nebius)) == [
        ("ClusterProviderConfig", "", "default"),
        ("Secret", "crossplane-system", "nebius"),
    ]
    assert stubs.objects([cluster(nebius)])[1]["data"].keys() == {"credentials"}


@pytest.mark.parametrize(
    ("kind", "reference", "namespace"),
    [
        ("ClusterProviderConfig", {"namespace": "keys", "name": "k", "key": "c"}, "keys"),
        ("ProviderConfig", {"name": "k", "key": "c"}, names.SYSTEM_NAMESPACE),
    ],
)
def test_so_has_one_that_is_given(kind: str, reference: dict[str, str], namespace: str) -> None:
    config = {
        "apiVersion": "nebius.m.upbound.io/v1beta1",
        "kind": kind,
        "metadata": {"name": "mine"},
        "spec": {"credentials": {"source": "Secret", "secretRef": reference}},
    }
    wanted = {"type": kind, "name": "mine"}

    assert told(cluster(clouds.BY_NAME["Nebius"], credentials=wanted), config) == [("Secret", namespace, "k")]
