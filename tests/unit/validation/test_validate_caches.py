"""What is said of a ModelCache that is valid and probably not meant so."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation import validate
from tests.support import cache_cases
from tests.support.samples import CACHE, of

ENTRIES = "spec.persistentVolumeClaim.claims"


def cluster(name: str, **labels: str) -> dict[str, Any]:
    made = of(
        "InferenceCluster",
        {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}},
            "nodePools": [{"name": "gpu", "className": "h100", "maxNodeCount": 1}],
        },
        name=name,
        namespace=None,
    )
    return {**made, "metadata": {**made["metadata"], "labels": labels}}


def claims(*selectors: dict[str, str] | None, cache: dict[str, str] | None = None) -> dict[str, Any]:
    entries = [
        {"claimName": "weights", **({"clusterSelector": {"matchLabels": s}} if s is not None else {})}
        for s in selectors
    ]
    selected = {"clusterSelector": {"matchLabels": cache}} if cache else {}
    source = {"source": "PersistentVolumeClaim", "persistentVolumeClaim": {"claims": entries}}
    return of("ModelCache", {**source, **selected})


def said(*objects: dict[str, Any]) -> list[str]:
    return [f"{f.code}: {'.'.join(map(str, f.path))} {f.message}" for f in validate(objects)]


EAST, WEST = cluster("east", site="a"), cluster("west", site="b")


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        ([claims({"site": "a"}, {"site": "b"}), EAST, WEST], []),
        ([claims({"site": "a"}, None), EAST, WEST], []),
        ([claims({"site": "c"})], []),
        (
            [claims({"site": "a"}, {"site": "c"}), EAST, WEST],
            [f"claims: {ENTRIES}.1 selects none of the clusters that are given: east, west"],
        ),
        (
            [claims({"site": "a"}, cache={"site": "b"}), EAST, WEST],
            [f"claims: {ENTRIES}.0 selects none of the clusters that are given: east, west"],
        ),
        (
            [claims(None, {"site": "a"}), EAST],
            [f"claims: {ENTRIES}.1 is never chosen: claims[0] selects every cluster that it selects"],
        ),
        (
            [claims({"site": "a"}, {"site": "a", "tier": "gold"})],
            [f"claims: {ENTRIES}.1 is never chosen: claims[0] selects every cluster that it selects"],
        ),
    ],
)
def test_a_claim_that_no_cluster_gets_is_told(objects: list[dict[str, Any]], want: list[str]) -> None:
    assert said(*objects) == want


@pytest.mark.parametrize(
    ("xr", "edits", "want"),
    [
        (CACHE, {"include": ["*.gguf", "*.json"], "exclude": ["*.json"]}, ["spec.huggingFace.include.1"]),
        (cache_cases.BUCKET, {"include": ["*.gguf"], "exclude": ["*"]}, ["spec.s3.include.0"]),
        (CACHE, {"include": ["*.gguf"], "exclude": ["*-f16*"]}, []),
    ],
)
def test_patterns_that_take_each_other_away_are_told(
    xr: dict[str, Any], edits: dict[str, Any], want: list[str]
) -> None:
    [field] = {"huggingFace", "s3"} & set(xr["spec"])
    made = {**xr, "spec": {**xr["spec"], field: {**xr["spec"][field], **edits}}}

    assert said(made) == [f"patterns: {path} includes only files that exclude takes away again" for path in want]


@pytest.mark.parametrize(
    ("endpoint", "is_told"), [("http://hub.example.org", True), ("https://hub.example.org", False)]
)
def test_a_token_in_clear_text_is_told(endpoint: str, *, is_told: bool) -> None:
    made = {**CACHE, "spec": {**CACHE["spec"], "huggingFace": {**CACHE["spec"]["huggingFace"], "endpoint": endpoint}}}

    assert bool(said(made)) is is_told


def in_vultr(name: str, **labels: str) -> dict[str, Any]:
    made = cluster(name, **labels)
    return {**made, "spec": {**made["spec"], "cluster": {"source": "Vultr", "vultr": {"region": "mia"}}}}


def staged(**selected: str) -> dict[str, Any]:
    source = {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-8B", "sizeGiB": 20}}
    return of("ModelCache", {**source, **({"clusterSelector": {"matchLabels": selected}} if selected else {})})


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        ([staged(), in_vultr("miami"), EAST], []),
        ([staged(site="a"), in_vultr("miami", site="b")], []),
        ([claims(None), in_vultr("miami")], []),
        ([staged(), in_vultr("miami"), in_vultr("paris")], ["spec", "miami, paris"]),
        ([staged(site="b"), in_vultr("miami", site="b"), EAST], ["spec.clusterSelector", "miami"]),
    ],
)
def test_weights_that_no_selected_cluster_can_hold_are_told(objects: list[dict[str, Any]], want: list[str]) -> None:
    found = [finding for finding in validate(objects) if finding.code == "no-storage"]

    said_ = f"selects only clusters without storage for ModelCaches: {want[1]}. Vultr" if want else ""
    assert [finding.field for finding in found] == want[:1]
    assert all(finding.message.startswith(said_) for finding in found)
