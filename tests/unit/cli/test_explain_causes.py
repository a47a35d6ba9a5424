"""`modelplane explain` tells the cause before its consequences, and each change that it advises was tried and helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.explained import DEPLOYMENT, RIVAL, cluster, explain, explained, fleet, helping, remedies

ARCHITECTURE = 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
READS = "which request gpu of engine short (Standalone) reads"
CASES = {
    "a cache that does not exist": (
        ("modelCacheRef: {name: deepseek}", "modelCacheRef: {name: deepseeek}"),
        (
            f"ModelCache chat/deepseeek does not exist, which {DEPLOYMENT.replace('/', ' ', 1)} names in"
            " spec.modelCacheRef.name; did you mean deepseek?"
        ),
        "set spec.modelCacheRef.name to deepseek",
    ),
    "a class that does not exist": (
        ("className: h200-8x", "className: h200-x8"),
        (
            "InferenceClass h200-x8 does not exist, which InferenceCluster north names in spec.nodePools[0].className;"
            " did you mean h200-8x?"
        ),
        "set spec.nodePools[0].className of InferenceCluster north to h200-8x",
    ),
    "an attribute that is abbreviated": (
        (ARCHITECTURE, ARCHITECTURE.replace("architecture", "arch")),
        (
            f"no device in the fleet has attribute arch of gpu.nvidia.com, {READS}; did you mean architecture?"
            " There are: architecture, productName"
        ),
        "write architecture instead of arch in the selector",
    ),
    "a value that no device has": (
        (ARCHITECTURE, ARCHITECTURE.replace("Hopper", "Hoper")),
        f"no device in the fleet has attribute architecture Hoper, {READS}; did you mean Hopper? There are: Hopper",
        "write Hopper instead of Hoper in the selector",
    ),
    "one value of a list": (
        (ARCHITECTURE, 'device.attributes["gpu.nvidia.com"].architecture in ["Hoper"]'),
        f"no device in the fleet has attribute architecture Hoper, {READS}; did you mean Hopper? There are: Hopper",
        "write Hopper instead of Hoper in the selector",
    ),
    "a domain that no driver has": (
        (ARCHITECTURE, ARCHITECTURE.replace("gpu.nvidia", "gpu.nvidla")),
        (
            f"no device in the fleet has attributes or capacities of domain gpu.nvidla.com, {READS};"
            " did you mean gpu.nvidia.com? There are: gpu.nvidia.com"
        ),
        "write gpu.nvidia.com instead of gpu.nvidla.com in the selector",
    ),
    "a driver that no device has": (
        (ARCHITECTURE, 'device.driver == "gpu.nvidla.com"'),
        (
            f"no device in the fleet has driver gpu.nvidla.com, {READS}; did you mean gpu.nvidia.com?"
            " There are: gpu.nvidia.com"
        ),
        "write gpu.nvidia.com instead of gpu.nvidla.com in the selector",
    ),
    "a label that no cluster has": (
        ("  replicas: 1\n", "  replicas: 1\n  clusterSelector: {matchLabels: {modelplane.ai/regoin: north}}\n"),
        (
            "no cluster has label modelplane.ai/regoin=north, which spec.clusterSelector requires;"
            " did you mean modelplane.ai/region=north?"
        ),
        "select modelplane.ai/region=north instead of modelplane.ai/regoin=north in spec.clusterSelector",
    ),
    "a label value that no cluster has": (
        ("  replicas: 1\n", "  replicas: 1\n  clusterSelector: {matchLabels: {modelplane.ai/region: nort}}\n"),
        (
            "no cluster has label modelplane.ai/region=nort, which spec.clusterSelector requires;"
            " did you mean modelplane.ai/region=north?"
        ),
        "select modelplane.ai/region=north instead of modelplane.ai/region=nort in spec.clusterSelector",
    ),
}


@pytest.mark.parametrize(("edit", "cause", "change"), CASES.values(), ids=CASES)
def test_the_cause_comes_first_and_what_removes_it_helps(
    edit: tuple[str, str], cause: str, change: str, tmp_path: Path
):
    code, output = explain(fleet(tmp_path, edit), DEPLOYMENT)
    first, second, *rest = output.splitlines()

    assert (code, first, second) == (3, f"{DEPLOYMENT}: 0 of 1 replicas are placed.", f"Cause: {cause}")
    assert [line.strip() for line in rest if "help" in line] == [f"would help: {change}"]


@pytest.mark.parametrize(("edit", "cause", "change"), CASES.values(), ids=CASES)
def test_data_has_what_the_text_has(edit: tuple[str, str], cause: str, change: str, tmp_path: Path):
    found = explained(fleet(tmp_path, edit), DEPLOYMENT)

    assert found["cause"] == [{"message": cause, "clusters": ["north"]}]
    assert list(remedies(found)) == [{"changes": [change], "tried": True, "helps": True, "why": ""}]


def test_nothing_is_advised_that_names_a_cache_that_does_not_exist(tmp_path: Path):
    """Nothing is near, so nothing can be tried."""
    found = explained(fleet(tmp_path, ("modelCacheRef: {name: deepseek}", "modelCacheRef: {name: llama}")), DEPLOYMENT)

    (cause,) = found["cause"]
    assert cause["message"].endswith("names in spec.modelCacheRef.name; there are: deepseek")
    assert list(remedies(found)) == []


def test_a_label_that_nothing_resembles_may_be_given_or_dropped(tmp_path: Path):
    selector = ("  replicas: 1\n", "  replicas: 1\n  clusterSelector: {matchLabels: {tier: gold}}\n")
    found = explained(fleet(tmp_path, selector), DEPLOYMENT)

    (cause,) = found["cause"]
    assert (
        cause["message"]
        == "no cluster has label tier=gold, which spec.clusterSelector requires; there are: modelplane.ai/region"
    )
    assert helping(found) == {("label the cluster tier=gold",), ("remove tier from spec.clusterSelector",)}


def test_an_attribute_that_is_read_as_a_capacity_is_found_where_it_is(tmp_path: Path):
    capacity = 'device.capacity["gpu.nvidia.com"].architecture.isGreaterThan(quantity("1"))'
    found = explained(fleet(tmp_path, (ARCHITECTURE, capacity)), DEPLOYMENT)

    (cause,) = found["cause"]
    assert cause["message"] == (
        f"no device in the fleet has capacity architecture of gpu.nvidia.com, {READS};"
        " architecture is in device.attributes"
    )


@pytest.mark.slow
def test_a_class_that_many_clusters_mistype_is_one_cause(tmp_path: Path):
    pools = [{"name": "h200", "className": "h200-x8", "nodeCount": 4}]
    more = "".join(cluster(f"south-{i}", nodePools=pools) for i in range(3))
    found = explained(fleet(tmp_path, NOWHERE, more=more), DEPLOYMENT)

    (cause,) = found["cause"]
    assert cause["message"].endswith("did you mean h200-8x? (named by 2 more clusters)")
    assert cause["clusters"] == ["south-0", "south-1", "south-2"]
    assert ("set spec.nodePools[0].className of InferenceCluster south-0 and of 2 more to h200-8x",) in helping(found)


def test_two_mistakes_are_removed_together(tmp_path: Path):
    """Neither alone helps."""
    edits = (
        ("modelCacheRef: {name: deepseek}", "modelCacheRef: {name: depseek}"),
        ("className: h200-8x", "className: h20-8x"),
    )
    found = explained(fleet(tmp_path, *edits), DEPLOYMENT)

    assert len(found["cause"]) == 2
    assert helping(found) == {
        (
            "set spec.modelCacheRef.name to deepseek",
            "set spec.nodePools[0].className of InferenceCluster north to h200-8x",
        )
    }


TAINTED = {"taints": [{"key": "team", "value": "vision", "effect": "NoSchedule"}]}
NOWHERE = ("nodeCount: 4", "nodeCount: 1")


def test_a_taint_and_too_few_nodes_are_removed_together(tmp_path: Path):
    more = cluster("south", nodePools=[{"name": "h200", "className": "h200-8x", "nodeCount": 2}], **TAINTED)
    found = explained(fleet(tmp_path, NOWHERE, more=more), DEPLOYMENT)

    assert helping(found) == {
        ("add 2 nodes to pool h200",),
        ("tolerate team=vision:NoSchedule in spec.tolerations", "add 1 node to pool h200"),
    }


def test_clusters_that_reject_for_the_same_reason_are_told_once(tmp_path: Path):
    more = "".join(cluster(f"south-{i}", **TAINTED) for i in range(3))
    code, output = explain(fleet(tmp_path, NOWHERE, more=more), DEPLOYMENT)

    assert code == 3
    assert output.endswith("""
3 clusters reject for the same reason: south-0, south-1, south-2
  Tainted: the cluster has taint team=vision:NoSchedule, which spec.tolerations does not tolerate
  would help: tolerate team=vision:NoSchedule in spec.tolerations
""")


def test_room_that_another_deployment_takes_first_does_not_help(tmp_path: Path):
    """The scheduler alone would say that three nodes are enough."""
    folder = fleet(tmp_path, ("nodeCount: 4", "nodeCount: 0"), more=RIVAL)
    found = explained(folder, DEPLOYMENT)

    assert helping(found) == {("add 4 nodes to pool h200",)}


def test_a_paused_deployment_is_told_to_be_paused(tmp_path: Path):
    """Crossplane would carry out no change."""
    paused = (
        "{name: deepseek, namespace: chat}\nspec:\n  replicas",
        "{name: deepseek, namespace: chat, annotations: {crossplane.io/paused: 'true'}}\nspec:\n  replicas",
    )
    found = explained(fleet(tmp_path, paused, NOWHERE), DEPLOYMENT)

    assert found["cause"][0]["message"].startswith("the deployment is paused")
    assert list(remedies(found)) == []


def test_a_selector_that_does_not_compile_is_the_cause(tmp_path: Path):
    found = explained(fleet(tmp_path, (ARCHITECTURE, ARCHITECTURE.replace("==", ">=") + " && 1")), DEPLOYMENT)

    assert found["clusters"] == []
    assert found["cause"][0]["message"].startswith("InvalidNodeSelector: spec.engines[1].members[0].nodeSelector")


def test_a_fleet_without_a_cluster_is_the_cause(tmp_path: Path):
    text = (Path(fleet(tmp_path)) / "deployment.yaml").read_text()
    (tmp_path / "fleet.yaml").write_text("")
    assert text
    code, output = explain(str(tmp_path), DEPLOYMENT)

    assert (code, output.splitlines()[1]) == (
        3,
        "Cause: NoClusters: There is no InferenceCluster; what runs stays as it is",
    )


@pytest.mark.slow
def test_changes_beyond_the_limit_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("function.planning.explanation.trials.MOST_TRIALS", 1)
    pools = [[{"name": f"pool-{i}", "className": "h200-8x", "nodeCount": 1}] for i in range(3)]
    more = "".join(cluster(f"south-{i}", nodePools=pool) for i, pool in enumerate(pools))
    folder = fleet(tmp_path, NOWHERE, more=more)
    found = explained(folder, DEPLOYMENT)
    code, output = explain(folder, DEPLOYMENT)

    assert found["untried"] == 3
    assert [one["why"] for one in remedies(found)].count("the limit of trials was reached") == 3
    assert "Not tried, because of the limit: changes for 3 clusters. -o json lists them.\n  Full: " in output
    assert code == 3


def test_two_selectors_that_contradict_are_the_cause(tmp_path: Path):
    """One is the deployment's, the other its cache's."""
    ours = ("  replicas: 1\n", "  replicas: 1\n  clusterSelector: {matchLabels: {modelplane.ai/region: south}}\n")
    caches = (
        "  source: HuggingFace\n",
        "  source: HuggingFace\n  clusterSelector: {matchLabels: {modelplane.ai/region: north}}\n",
    )
    found = explained(fleet(tmp_path, ours, caches), DEPLOYMENT)

    assert found["cause"][0]["message"] == (
        "no cluster can satisfy both selectors: spec.clusterSelector wants modelplane.ai/region=south, and the"
        " clusterSelector of the ModelCache modelplane.ai/region=north"
    )
    assert helping(found) >= {("remove modelplane.ai/region from spec.clusterSelector",)}


def test_a_cache_that_cannot_be_staged_says_why(tmp_path: Path):
    found = explained(fleet(tmp_path, ("      cache: {storageClassName: shared}\n", "")), DEPLOYMENT)

    (north,) = found["clusters"]
    assert north["reason"] in ("CacheFailed", "NotInCacheFootprint")
    assert "north" in north["conditions"][0]


def test_a_replica_of_a_dump_that_does_not_serve_is_something_missing(tmp_path: Path):
    code, output = explain(fleet(tmp_path, more=STARTING), DEPLOYMENT)

    assert code == 3
    assert "Replica deepseek-1 does not serve. ModelStarting: ImagePullBackOff" in output
    assert "Nothing is missing" not in output


STARTING = """
apiVersion: modelplane.ai/v1alpha1
kind: ModelReplica
metadata:
  name: deepseek-1
  namespace: chat
  labels: {modelplane.ai/deployment: deepseek, modelplane.ai/cluster: north}
spec:
  clusterName: north
  engines:
  - name: short
    members:
    - role: Standalone
      nodePoolName: h200
      template: {spec: {containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]}}
status:
  conditions:
  - {type: ModelReady, status: "False", reason: ModelStarting, message: ImagePullBackOff}
"""
