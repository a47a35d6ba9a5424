"""`modelplane explain` takes every kind of ours, by any of its names: what it waits for, why, and who uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from function.publish import catalog
from tests.support.explained import DATA, explain, explained, fleet

TOUR = str(Path(__file__).parents[3] / "examples" / "tour")
NO_CLASS = ("className: h200-8x", "className: h200-x8")
CAUSE = (
    "InferenceClass h200-x8 does not exist, which InferenceCluster north names in spec.nodePools[0].className;"
    " did you mean h200-8x?"
)
STAGING = """
apiVersion: modelplane.ai/v1alpha1
kind: ModelReplica
metadata: {name: deepseek-1, namespace: chat, labels: {modelplane.ai/cluster: north}}
spec:
  clusterName: north
  modelCacheRef: {name: weights}
  engines:
  - name: short
    members:
    - role: Standalone
      nodePoolName: h200
      template: {spec: {containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]}}
status:
  conditions:
  - {type: Ready, status: "False", reason: Creating}
  - {type: ModelAccepted, status: "False", reason: WaitingForCache, message: Waiting for ModelCache weights}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelCache
metadata: {name: weights, namespace: chat}
spec:
  source: HuggingFace
  huggingFace: {repo: deepseek-ai/DeepSeek-V3.1, sizeGiB: 800}
status:
  conditions:
  - {type: ArtifactReady, status: "False", reason: Hydrating, message: The claim waits for north}
  - {type: Ready, status: "False", reason: Creating}
"""


def test_a_cluster_says_what_it_names_and_does_not_exist(tmp_path: Path):
    assert explain(fleet(tmp_path, NO_CLASS), "InferenceCluster/north") == (
        3,
        f"""InferenceCluster/north: not ready.
Cause: {CAUSE}
ClusterReady is False: WaitingForClasses: InferenceClass h200-x8 of pool h200 does not exist
""",
    )


def test_what_waits_for_what_is_followed_down_to_the_cause(tmp_path: Path):
    """As a dump has it: a simulation would start the replica."""
    code, output = explain(fleet(tmp_path, NO_CLASS, more=STAGING), "ModelReplica/chat/deepseek-1")

    assert code == 3
    assert (
        output
        == f"""ModelReplica/chat/deepseek-1: not ready, as the input has it.
Cause: {CAUSE}
ModelAccepted is False: WaitingForCache: Waiting for ModelCache weights

waits for:
  InferenceCluster/north
    ClusterReady is False: WaitingForClasses: InferenceClass h200-x8 of pool h200 does not exist
  ModelCache/chat/weights
    ArtifactReady is False: Hydrating: The claim waits for north
"""
    )


def test_data_has_what_the_text_has(tmp_path: Path):
    found = explained(fleet(tmp_path, NO_CLASS, more=STAGING), "mr/deepseek-1")

    assert (found["object"], found["ready"], found["simulated"]) == ("ModelReplica/chat/deepseek-1", False, False)
    assert found["cause"] == [{"message": CAUSE}]
    assert [one["name"] for one in found["waits_for"]] == ["InferenceCluster/north", "ModelCache/chat/weights"]
    assert found["waits_for"][0]["conditions"][0]["reason"] == "WaitingForClasses"


@pytest.mark.parametrize(
    ("what", "user"),
    [
        ("InferenceClass/h200-8x", "InferenceCluster/north (spec.nodePools[0].className)"),
        ("ModelCache/deepseek", "ModelDeployment/chat/deepseek (spec.modelCacheRef.name)"),
        ("InferenceCluster/north", "ModelDeployment/chat/deepseek"),
        ("InferenceGateway/default", "ModelService/chat/deepseek"),
    ],
)
def test_it_says_who_uses_it(what: str, user: str):
    assert user in explained(str(DATA), what)["used_by"]


def test_a_service_names_the_label_that_no_endpoint_has():
    code, output = explain(str(DATA), "ModelService/deepseek")

    assert code == 3
    assert output.splitlines()[1] == (
        "Cause: spec.endpoints[1]: no ModelEndpoint in namespace chat has label"
        " modelplane.ai/deployment=deepseek-nxt; did you mean deepseek?"
    )


def test_a_service_names_the_deployment_that_has_no_replica(tmp_path: Path):
    found = explained(fleet(tmp_path, ("nodeCount: 4", "nodeCount: 1")), "ModelService/deepseek")

    assert found["cause"][0]["message"].startswith(
        "spec.endpoints[0]: ModelDeployment chat/deepseek: InsufficientCapacity: 0 of 1 replicas are placed"
    )


SECRET = """
apiVersion: v1
kind: Secret
metadata: {name: hub-token, namespace: chat}
stringData: {HF_TOKEN: a-value-that-nobody-may-see}
"""


def test_a_secret_that_the_input_lacks_is_told_to_be_assumed_where_a_similar_one_is_there(tmp_path: Path):
    typo = ("sizeGiB: 800\n", "sizeGiB: 800\n    authSecret: {name: hub-tokn}\n")
    code, output = explain(fleet(tmp_path, typo, more=SECRET), "ModelCache/deepseek")

    told = "Secret chat/hub-tokn is assumed to exist, since the input lacks it; did you mean hub-token?"
    assert (code, output.splitlines()[-1]) == (0, f"Assumed: {told}")
    assert explained(str(tmp_path), "ModelCache/deepseek")["assumed"] == [told]
    assert "a-value" not in output


# Names


@pytest.mark.parametrize("kind", catalog.KINDS, ids=lambda kind: kind.kind)
def test_a_kind_has_the_names_that_its_definition_has(kind: catalog.Kind):
    """All of them are told that nothing of this name exists: none is an unknown kind."""
    words = (kind.kind, kind.kind.lower(), kind.plural, kind.crd, *kind.short_names)
    namespace = "" if kind.scope == "Cluster" else "nowhere/"
    told = {explain_nothing(f"{word}/{namespace}nothing") for word in words}

    assert told == {f"{kind.kind} {namespace}nothing not found"}


def explain_nothing(what: str) -> str:
    from function.planning.control_plane import ControlPlane
    from function.planning.explanation import naming

    with pytest.raises(naming.Unclear) as problem:
        naming.find(ControlPlane().store, naming.read(what)[:1])
    return str(problem.value).partition(";")[0]


@pytest.mark.parametrize(
    ("what", "want"),
    [
        ("mistral-7b", "ModelDeployment/support/mistral-7b"),
        ("support/mistral-7b", "ModelDeployment/support/mistral-7b"),
        ("md/mistral-7b", "ModelDeployment/support/mistral-7b"),
        ("starter", "InferenceCluster/starter"),
        ("inferenceclusters/starter", "InferenceCluster/starter"),
        ("ModelService/qwen", "ModelService/ml-team/qwen"),
    ],
)
def test_a_name_may_be_short_where_it_is_the_only_one(what: str, want: str):
    assert explained(TOUR, what)["object"] == want


def test_several_matches_are_listed():
    code, output = explain(str(DATA), "deepseek")

    assert code == 1
    assert "deepseek: several objects match: ModelCache/chat/deepseek, ModelDeployment/chat/deepseek" in output


def test_a_name_that_nothing_has_gets_the_nearest():
    code, output = explain(str(DATA), "deepseeek")

    assert (code, output) == (1, "Error: deepseeek not found; did you mean ModelCache/chat/deepseek?\n")


def test_a_mistyped_kind_before_a_name_alone_is_told():
    """It could be a namespace, too."""
    code, output = explain(str(DATA), "ModelDeploymnt/deepseek")

    want = "ModelDeploymnt is neither a kind nor a namespace of the input; did you mean ModelDeployment/deepseek?"
    assert (code, output) == (1, f"Error: ModelDeploymnt/deepseek: {want}\n")
