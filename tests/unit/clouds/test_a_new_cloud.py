"""A cloud is a folder and a line: a toy cloud is added to a copy of the tree, and nothing else is edited."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import trees

pytestmark = pytest.mark.slow
GROUP = "toy.m.example.org"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = trees.SUPPORT / "toycloud/toy"
    return trees.extended(tmp_path_factory.mktemp("tree"), "function/clouds", folder)


@pytest.fixture(scope="module")
def told(tree: Path) -> dict[str, Any]:
    return trees.told(tree, "tests.support.toycloud.story")


def test_its_blocks_and_its_kind_are_published(tree: Path) -> None:
    assert trees.generated(tree) == [
        "compositions/toyclusters.yaml",
        "docs/reference/README.md",
        "docs/reference/inferenceclass.md",
        "docs/reference/inferencecluster.md",
        "docs/reference/providers.md",
        "docs/reference/servingstack.md",
        "docs/reference/toycluster.md",
        "docs/runbooks/ClusterRunning.md",
        "docs/runbooks/CredentialsMissing.md",
        "docs/runbooks/InvalidSpec.md",
        "docs/runbooks/Provisioning.md",
        "docs/runbooks/ProvisioningFailed.md",
        "docs/runbooks/README.md",
        "function/cli/commands.json",
        "package/admission.yaml",
        "package/configuration/activation.yaml",
        "package/monitoring/custom-resource-state.yaml",
        "package/monitoring/kube-state-metrics-role.yaml",
        "package/monitoring/kube-state-metrics-values.yaml",
        "package/rbac.yaml",
        "package/roles.yaml",
        "xrds/inferenceclasses.yaml",
        "xrds/inferenceclusters.yaml",
        "xrds/servingstacks.yaml",
        "xrds/toyclusters.yaml",
    ]
    cluster = _spec(tree / "xrds/inferenceclusters.yaml")["cluster"]["properties"]
    machine = _spec(tree / "xrds/inferenceclasses.yaml")["provisioning"]["properties"]
    assert (cluster["toy"]["description"], machine["toy"]["description"]) == (
        "A cluster that Toy makes.",
        "How Toy makes them.",
    )
    assert "Toy" in cluster["source"]["enum"]
    assert "Toy" in machine["provider"]["enum"]


def _spec(path: Path) -> Any:
    [version] = yaml.safe_load(path.read_text())["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_an_inference_cluster_of_it_is_accepted_and_made(told: dict[str, Any]) -> None:
    pool = {"name": "gpu", "className": "toy", "nodeCount": 2, "zones": ["a"], "machine": {"size": "large"}}
    assert told["findings"] == []
    assert told["composites"] == [{**told["composites"][0], "clusterName": "good", "region": "toy-1"}]
    assert told["composites"][0]["nodePools"] == [{**told["composites"][0]["nodePools"][0], **pool}]
    [network], [cluster], [made] = (told["managed"][kind] for kind in ("Network", "Cluster", "Pool"))
    assert network == {"region": "toy-1", "cidr": "10.0.0.0/16"}
    assert cluster["networkRef"]["name"].startswith("good-network-")
    assert made == {
        "clusterRef": made["clusterRef"],
        "size": "large",
        "nodes": 2,
        "labels": {"modelplane.ai/pool": "gpu"},
        "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
    }


def test_it_is_reached_by_the_secret_that_its_provider_wrote(told: dict[str, Any]) -> None:
    [secret] = told["access"]
    assert secret.startswith("good-cluster-")
    assert told["secrets"] == [["kubeconfig"]]
    assert told["conditions"]["good"] == "ClusterRunning: 2 nodes, pools: gpu"
    assert (told["ready"], bool(told["address"])) == ("True", True)


def test_it_stays_as_it_is_while_a_class_is_gone(told: dict[str, Any]) -> None:
    assert told["without class"] == {"same": True, "reason": "WaitingForClasses"}


def test_it_is_deleted_with_its_inference_cluster(told: dict[str, Any]) -> None:
    assert told["deleted"] == [[], [], []]


def test_it_outlives_what_is_installed_on_it(told: dict[str, Any]) -> None:
    assert told["usages"] == [["ToyCluster", "ServingStack"], ["ToyCluster", "Object"]]


def test_only_the_gateway_and_its_load_balancer_are_deleted_on_it(told: dict[str, Any]) -> None:
    deleting, gateway_and_service, usages = told["load balancer"]
    assert deleting == gateway_and_service
    assert [(of, ready) for of, _, ready in usages if of == "ToyCluster"] == [("ToyCluster", "True")]


def test_its_load_balancer_is_gone_before_anything_of_the_cloud_is_deleted(told: dict[str, Any]) -> None:
    order = told["deletions"]
    assert [kind for kind in order if kind in ("Gateway", "Service", "ToyCluster", "Pool", "Cluster", "Network")] == [
        "Gateway",
        "Service",
        "ToyCluster",
        "Pool",
        "Cluster",
        "Network",
    ]


def test_what_it_cannot_do_is_refused_at_the_pools_field(told: dict[str, Any]) -> None:
    assert (told["conditions"]["scaled"], told["conditions"]["unmade"]) == (
        (
            "InvalidNodePool: spec.nodePools[0].minNodeCount: must be at least 1, not 0: the autoscaler of Toy adds no "
            "first node to a pool whose devices are claimed through DRA"
        ),
        (
            "InvalidNodePool: spec.nodePools[0].className: InferenceClass bare does not say how Toy makes its nodes; "
            "give it spec.provisioning.toy"
        ),
    )


def test_validate_finds_every_fault_of_every_pool_by_the_classes_that_are_given(told: dict[str, Any]) -> None:
    minimum = "spec.nodePools[{}].minNodeCount"
    assert told["faults"] == [
        ["spec.cluster.toy.cidr", "must have at least 256 addresses, unlike 10.0.0.0/28"],
        [minimum.format(0), "is for a pool that is scaled; give maxNodeCount, too"],
        ["spec.nodePools[0].zones", "must be left out: Toy chooses the zone of huge machines"],
        [
            "spec.nodePools[1].className",
            "InferenceClass bare does not say how Toy makes its nodes; give it spec.provisioning.toy",
        ],
        [
            minimum.format(2),
            (
                "must be at least 1, not 0: the autoscaler of Toy adds no first node to a pool whose devices are "
                "claimed through DRA"
            ),
        ],
        [minimum.format(3), "is for a pool that is scaled; give maxNodeCount, too"],
    ]
    assert told["faults without classes"] == [told["faults"][at] for at in (0, 1, 4, 5)]


def test_validate_tells_credentials_that_are_not_among_those_given(told: dict[str, Any]) -> None:
    problem = "names ClusterProviderConfig default, which is not given; there is ClusterProviderConfig defaults"
    assert told["mistyped credentials"] == [["spec.cluster.toy", problem]]


def test_its_provider_is_installed_and_activated(told: dict[str, Any]) -> None:
    assert "xpkg.example.org/toy/provider-toy" in told["packages"]
    assert [kind for kind in told["activated"] if kind.endswith(".toy.m.example.org")] == [
        "clusters.toy.m.example.org",
        "networks.toy.m.example.org",
        "pools.toy.m.example.org",
    ]


def test_crossplane_may_write_what_it_composes_and_read_its_provider_configs(tree: Path) -> None:
    trees.generated(tree)
    rules = yaml.safe_load((tree / "package/rbac.yaml").read_text())["rules"]
    found = {tuple(rule["resources"]): len(rule["verbs"]) for rule in rules if rule["apiGroups"] == [GROUP]}

    assert found == {("clusters", "networks", "pools"): 7, ("clusterproviderconfigs", "providerconfigs"): 3}


def test_the_reference_lists_its_provider_and_its_kinds(tree: Path) -> None:
    trees.generated(tree)
    section = (tree / "docs/reference/providers.md").read_text().partition("## Toy\n")[2]

    assert "| `xpkg.example.org/toy/provider-toy` | `>=v1.0.0` |" in section
    assert "| Network | `networks.toy.m.example.org` |" in section


def test_it_has_every_story_of_a_cloud(tree: Path) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-o", "pythonpath=", "--rootdir", str(trees.ROOT))
    pytest_ = ("-m", "pytest", *options, str(trees.ROOT / "tests/world/test_cloud_stories.py"))
    done, of_another = trees.run(tree, *pytest_, "-k", "Toy"), trees.run(tree, *pytest_, "-k", "Vultr", "--co")

    [passed] = re.findall(r"(\d+) passed", done)
    assert [passed] == re.findall(r"(\d+)/\d+ tests collected", of_another)
    assert "skipped" not in done


NO_FACTS = ("golden_case", "definitions_say", "passes_its_schema", "is_a_field", "are_fields")
"""Laws that need golden cases and schemas of the provider's kinds, of which a toy has none."""


def test_the_laws_of_all_clouds_hold_of_it_and_any_edits_of_it(tree: Path) -> None:
    trees.generated(tree)
    files = ("tests/unit/clouds/test_laws_of_clouds.py", "tests/properties/test_edits_of_clouds.py")
    chosen = f"Toy and not ({' or '.join(NO_FACTS)})"
    options = ("-q", "-p", "no:cacheprovider", "-o", "pythonpath=", "-m", "not slow", "-k", chosen)
    told = trees.run(tree, "-m", "pytest", *options, *(str(trees.ROOT / file) for file in files))

    [passed] = re.findall(r"(\d+) passed", told)
    assert int(passed) > len(NO_FACTS), told
