"""What an EKSCluster composes: in which order, and what becomes of it by edits."""

from __future__ import annotations

import base64
import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function.clouds.eks import kinds
from function.core import dig
from function.manifests import pods
from function.vocabulary import conditions as c
from tests.support import foreign
from tests.support.eksclusters import H100, L4, compose, made, manifests, parameters, rounds, running, xr

SMALL = xr(L4)
BOTH = xr(L4, H100)


def added(xr: Mapping[str, Any]) -> dict[str, int]:
    """The pass in which each resource was composed first."""
    first: dict[str, int] = {}
    for index, observed in enumerate(rounds(xr)):
        first |= {key: index for key in observed if key not in first}
    return first


# The order


@pytest.mark.slow
@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("cluster", "granted-cluster-eksclusterpolicy"),
        ("kubeconfig", "cluster"),
        ("account-cni", "granted-cni-ekscnipolicy"),
        ("addon-vpc-cni", "account-cni"),
        ("system-pool", "addon-vpc-cni"),
        ("system-pool", "addon-kube-proxy"),
        ("system-pool", "addon-pod-identity"),
        ("system-pool", "granted-node-eksworkernodepolicy"),
        ("system-pool", "route-a"),
        ("system-pool", "template-system"),
        ("pool-l4", "template-l4"),
        ("pool-l4", "routed-c"),
        ("addon-coredns", "system-pool"),
        ("addon-ebs", "account-ebs"),
        ("addon-efs", "account-efs"),
        ("default-storage", "addon-ebs"),
        ("storage", "mount-target-c"),
        ("storage", "addon-efs"),
        ("autoscaler", "account-autoscaler"),
        ("autoscaler", "autoscaler-devices-binding"),
        ("nat-gateway-a", "internet-gateway"),
        ("template-h100", "efa-egress"),
        ("template-h100", "placement-h100"),
        ("pool-h100", "route-c"),
    ],
)
def test_what_needs_something_comes_after_it_and_is_deleted_before_it(later: str, earlier: str) -> None:
    first, there = added(BOTH), running(BOTH)
    usages = {(m["spec"]["of"]["resourceRef"]["name"], m["spec"]["by"]["resourceRef"]["name"])
              for m in there.values() if m["kind"] == "Usage"}  # fmt: skip
    users: dict[str, set[str]] = {}
    for of, by in usages:
        users.setdefault(of, set()).add(by)

    def used_by(name: str) -> set[str]:
        return set().union(users.get(name, set()), *map(used_by, users.get(name, ())))

    assert first[earlier] < first[later]
    assert there[later]["metadata"]["name"] in used_by(there[earlier]["metadata"]["name"])


def test_what_is_composed_is_taken_by_the_api_server() -> None:
    found = {key: foreign.problems(manifest) for key, manifest in manifests(compose(BOTH, running(BOTH))).items()}

    assert {key: problems for key, problems in found.items() if problems} == {}


def test_once_everything_is_made_it_is_ready_and_changes_no_more() -> None:
    result = compose(BOTH, running(BOTH))

    assert (result.ready, result.waiting) == (True, False)
    assert {key: m["spec"] for key, m in made(result).items()} == {key: m["spec"] for key, m in running(BOTH).items()}


def test_a_kind_is_declared_if_and_only_if_it_is_composed() -> None:
    every = {(m["apiVersion"], m["kind"]) for m in running(BOTH).values() if ".aws.m." in m["apiVersion"]}

    assert every == {(kind.api_version, kind.kind) for kind in kinds.ALL}


# Node groups


def test_nodes_are_made_from_the_version_of_their_template_that_is_observed() -> None:
    there = running(SMALL)
    there["template-l4"]["status"]["atProvider"] |= {"id": "lt-7", "latestVersion": 3}

    assert parameters(compose(SMALL, there), "system-pool")["launchTemplate"]["version"] == "1"
    assert parameters(compose(SMALL, there), "pool-l4")["launchTemplate"]["version"] == "3"


def test_interfaces_with_efa_have_the_security_groups_of_the_cluster_and_of_efa() -> None:
    there = running(BOTH)
    cluster, efa = there["cluster"]["status"]["atProvider"], there["efa-security-group"]["status"]["atProvider"]

    every = parameters(compose(BOTH, there), "template-h100")["networkInterfaces"]
    assert {tuple(each["securityGroups"]) for each in every} == {
        (cluster["vpcConfig"]["clusterSecurityGroupId"], efa["id"])
    }
    assert len(every) == 32


def test_a_template_without_efa_leaves_the_interfaces_to_eks() -> None:
    found = parameters(compose(SMALL), "template-l4")

    assert not {"networkInterfaces", "vpcSecurityGroupIds", "placement"} & {*found}


def test_a_capacity_block_is_named_by_the_template_and_the_group_and_places_its_nodes_itself() -> None:
    block = {"capacityReservationId": "cr-0123456789abcdef0"}
    wanted = xr({**H100, "capacityBlock": block})
    result = compose(wanted, running(wanted))

    template = parameters(result, "template-h100")
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {"capacityReservationTarget": block}
    assert parameters(result, "pool-h100")["capacityType"] == "CAPACITY_BLOCK"
    assert "placement" not in template
    assert not any(key.startswith("placement") for key in result.resources)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "scaling"),
    [
        ({"nodeCount": 3}, {"minSize": 3, "maxSize": 3, "desiredSize": 3}),
        ({"nodeCount": 0}, {"minSize": 0, "maxSize": 1, "desiredSize": 0}),
    ],
)
def test_a_pool_without_autoscaler_keeps_its_size(sizes: dict[str, int], scaling: dict[str, int]) -> None:
    spec = pool_of(sized(sizes), running(sized(sizes)))

    assert spec["forProvider"]["scalingConfig"] == scaling
    assert "initProvider" not in spec


@pytest.mark.parametrize(
    ("sizes", "scaling"),
    [
        ({"nodeCount": 3, "maxNodeCount": 8}, {"minSize": 1, "maxSize": 8, "desiredSize": 3}),
        ({"nodeCount": 9, "maxNodeCount": 8}, {"minSize": 1, "maxSize": 8, "desiredSize": 8}),
        ({"nodeCount": 0, "maxNodeCount": 8, "minNodeCount": 2}, {"minSize": 2, "maxSize": 8, "desiredSize": 2}),
    ],
)
@pytest.mark.parametrize("desired", [None, 7])
def test_the_provider_leaves_the_size_of_a_pool_to_its_autoscaler(
    sizes: dict[str, int], scaling: dict[str, int], desired: int | None
) -> None:
    """It recognizes fields of creation only as a whole: below an embedded object it would set the size again."""
    observed = running(sized(sizes))
    if desired is not None:
        observed["pool-l4"]["status"]["atProvider"]["scalingConfig"]["desiredSize"] = desired
    spec = pool_of(sized(sizes), observed)

    assert spec["initProvider"]["scalingConfig"] == scaling
    assert "scalingConfig" not in spec["forProvider"]
    assert "LateInitialize" not in spec["managementPolicies"]


@pytest.mark.parametrize(
    ("edit", "scaling"),
    [
        ({"maxNodeCount": 12}, {"minSize": 1, "maxSize": 12, "desiredSize": 5}),
        ({"maxNodeCount": 4}, {"minSize": 1, "maxSize": 4, "desiredSize": 4}),
        ({"minNodeCount": 6}, {"minSize": 6, "maxSize": 8, "desiredSize": 6}),
        ({"nodeCount": 4}, None),
    ],
)
def test_other_bounds_are_written_until_aws_has_them_and_keep_the_size_that_there_is(
    edit: dict[str, int], scaling: dict[str, int] | None
) -> None:
    before = {"nodeCount": 2, "maxNodeCount": 8}
    observed = running(sized(before))
    observed["pool-l4"]["status"]["atProvider"]["scalingConfig"]["desiredSize"] = 5
    wanted = sized({**before, **edit})

    written = compose(wanted, observed)
    assert parameters(written, "pool-l4").get("scalingConfig") == scaling
    assert "scalingConfig" not in parameters(compose(wanted, made(written)), "pool-l4")


def test_a_pool_that_gets_an_autoscaler_is_handed_over() -> None:
    observed = running(sized({"nodeCount": 3}))
    wanted = sized({"nodeCount": 3, "maxNodeCount": 6})

    written = compose(wanted, observed)
    assert parameters(written, "pool-l4")["scalingConfig"] == {"minSize": 1, "maxSize": 6, "desiredSize": 3}
    assert "scalingConfig" not in parameters(compose(wanted, made(written)), "pool-l4")


def sized(sizes: Mapping[str, int]) -> dict[str, Any]:
    return xr({**{key: value for key, value in L4.items() if not key.endswith("Count")}, **sizes})


def pool_of(wanted: Mapping[str, Any], observed: Mapping[str, Any]) -> Any:
    manifest = manifests(compose(wanted, observed))["pool-l4"]
    assert foreign.problems(manifest) == []
    return manifest["spec"]


def test_nodes_have_the_taints_of_their_devices_and_of_the_pool_in_the_words_of_eks() -> None:
    taints = [{"key": "team", "effect": "NoExecute"}, {"key": "nvidia.com/gpu", "value": "no", "effect": "NoSchedule"}]
    wanted = xr({**L4, "taints": taints})

    assert parameters(compose(wanted, running(wanted)), "pool-l4")["taint"] == [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
        {"key": "team", "effect": "NO_EXECUTE"},
    ]


BOTTLEROCKET = {"instanceType": "g6.2xlarge", "amiType": "BOTTLEROCKET_x86_64_NVIDIA", "diskSizeGb": 300}


def test_images_of_bottlerocket_are_on_their_second_volume() -> None:
    [disk] = parameters(compose(xr({**L4, "machine": BOTTLEROCKET})), "template-l4")["blockDeviceMappings"]
    assert (disk["deviceName"], disk["ebs"]["volumeSize"]) == ("/dev/xvdb", 300)


def test_bottlerocket_offers_no_gpu_a_second_time() -> None:
    """Its own device plugin does, unless the user data turn it off."""
    manifest = manifests(compose(xr({**L4, "machine": BOTTLEROCKET})))["template-l4"]
    settings = tomllib.loads(base64.b64decode(manifest["spec"]["forProvider"]["userData"], validate=True).decode())

    assert settings == {"settings": {"kubelet-device-plugins": {"nvidia": {"enabled": False}}}}
    assert foreign.problems(manifest) == []
    assert "userData" not in parameters(compose(xr(L4)), "template-l4")
    assert "userData" not in parameters(compose(xr(L4)), "template-system")


# Zones


def test_a_cluster_without_zones_is_in_those_of_its_pools_and_in_two_at_least() -> None:
    assert homes(xr(L4)) == ["a", "b"]
    assert homes(xr({**L4, "zones": ["us-east-1c"]})) == ["a", "c"]
    assert homes(xr({**L4, "zones": ["us-east-1b", "us-east-1d", "us-east-1e"]})) == ["b", "d", "e"]
    assert homes(xr({**L4, "zones": ["us-east-1d"]}, zones=["us-east-1b", "us-east-1f"])) == ["b", "f"]


def homes(wanted: Mapping[str, Any]) -> list[str]:
    """Letters of the zones of a control plane, once it was made."""
    refs = parameters(compose(wanted, running(wanted)), "cluster")["vpcConfig"]["subnetIdRefs"]
    return [ref["name"].split("-")[3] for ref in refs]


NEW = {**L4, "name": "new", "zones": ["us-east-1d"]}


@pytest.mark.parametrize("block", [{}, {"zones": ["us-east-1a", "us-east-1b"]}], ids=["found", "named"])
@pytest.mark.parametrize("passes", [1, 2, None])
def test_a_pool_in_a_further_zone_changes_nothing_that_is_there(block: dict[str, Any], passes: int | None) -> None:
    before = rounds(xr(L4, **block))[passes or -1]

    after = manifests(compose(xr(L4, NEW, **block), before))

    there = {key: m["spec"] for key, m in before.items() if m["kind"] != "Usage"}
    assert {key: after[key]["spec"] for key in there} == there
    assert {"subnet-private-d", "subnet-public-d", "routes-d", "mount-target-d"} <= after.keys() - there.keys()


def test_one_nat_gateway_stays_where_it_was_made() -> None:
    single = {"network": {"natGateways": "Single"}}
    before = running(xr({**L4, "zones": ["us-east-1c", "us-east-1d"]}, **single))

    wanted = xr({**L4, "zones": ["us-east-1c", "us-east-1d"]}, {**NEW, "zones": ["us-east-1a"]}, **single)
    after = compose(wanted, before)

    assert parameters(after, "nat-gateway") == before["nat-gateway"]["spec"]["forProvider"]
    assert parameters(after, "route-a")["natGatewayIdRef"] == {"name": before["nat-gateway"]["metadata"]["name"]}
    assert sum(m["kind"] == "NATGateway" for m in manifests(after).values()) == 1


# Edits

POOL_EDITS = st.fixed_dictionaries(
    {},
    optional={
        "nodeCount": st.integers(0, 9),
        "maxNodeCount": st.integers(1, 9),
        "taints": st.lists(
            st.fixed_dictionaries({"key": st.sampled_from("ab"), "effect": st.just("NoExecute")}), max_size=2
        ),
    },
)
CLUSTER_EDITS = st.fixed_dictionaries(
    {},
    optional={
        "kubernetesVersion": st.sampled_from(["1.36", "1.37"]),
        "apiServer": st.just({"allowedSources": ["198.51.100.0/24"]}),
    },
)
POOLS = st.lists(
    st.sampled_from([H100, NEW, {**NEW, "name": "other", "zones": ["us-east-1a", "us-east-1e"]}]),
    max_size=2,
    unique_by=lambda pool: pool["name"],
)


@pytest.mark.slow
@given(POOL_EDITS, CLUSTER_EDITS, POOLS)
@settings(max_examples=60)
def test_no_edit_changes_what_cannot_be_changed(
    edit: dict[str, Any], block: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    before = running(BOTH)

    after = manifests(compose(xr({**L4, **edit}, *others, **block), before))

    for kind in kinds.ALL:
        for key, manifest in after.items():
            if key in before and manifest["kind"] == kind.kind:
                was, now = before[key]["spec"]["forProvider"], manifest["spec"]["forProvider"]
                for path in kind.immutable:
                    assert dig(now, *path.split(".")) == dig(was, *path.split(".")), (key, path)


@pytest.mark.slow
@given(POOL_EDITS, POOLS)
@settings(max_examples=40)
def test_an_edit_of_other_pools_leaves_a_template_and_a_group_as_they_are(
    edit: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    before = running(BOTH)
    kept = [pool for pool in others if pool["name"] != "h100"]

    after = manifests(compose(xr({**L4, **edit}, H100, *kept), before))

    for key in ("template-h100", "pool-h100", "template-system", "system-pool", "template-l4"):
        assert after[key]["spec"] == before[key]["spec"]


def test_a_release_that_would_make_other_instances_replaces_none() -> None:
    before = running(BOTH)
    for key in ("template-l4", "template-h100", "template-system"):
        template = before[key]["spec"]["forProvider"]
        template |= {"instanceType": "g5.2xlarge", "metadataOptions": {"httpTokens": "optional"}}
        del template["tagSpecifications"]

    after = manifests(compose(BOTH, before))

    for key in ("template-l4", "template-h100", "template-system"):
        assert after[key]["spec"]["forProvider"] == before[key]["spec"]["forProvider"]


def test_an_upgrade_reaches_the_nodes_once_the_control_plane_runs_it() -> None:
    before = running(xr(L4, kubernetesVersion="1.35"))
    wanted = xr(L4, kubernetesVersion="1.36")

    first = compose(wanted, before)
    assert (parameters(first, "cluster")["version"], parameters(first, "pool-l4")["version"]) == ("1.36", "1.35")

    then = compose(wanted, made(first))
    assert {parameters(then, key)["version"] for key in ("cluster", "pool-l4", "system-pool")} == {"1.36"}


@pytest.mark.slow
def test_a_pool_that_is_removed_goes_before_what_it_needs() -> None:
    named = {"zones": ["us-east-1a", "us-east-1b"]}
    before = running(xr(L4, H100, **named))
    gone: list[str] = []
    for _ in range(30):
        after = made(compose(xr(L4, **named), before))
        gone += [key for key in before if key not in after and not key.startswith("usage-")]
        before = {key: manifest for key, manifest in after.items() if key in before}

    assert gone.index("pool-h100") < gone.index("template-h100") < gone.index("efa-security-group")
    assert gone.index("pool-h100") < gone.index("routed-c") < gone.index("subnet-private-c")
    assert before.keys() == running(xr(L4, **named)).keys()


def test_a_cluster_that_asks_for_an_old_version_is_held() -> None:
    before = running(SMALL)

    result = compose(xr(L4, kubernetesVersion="1.33"), before)

    [found] = [each for each in result.conditions if each.type == c.CLUSTER_READY.type]
    assert (found.reason, manifests(result).keys()) == ("InvalidSpec", manifests(compose(SMALL, before)).keys())


# Identity and storage


@pytest.mark.parametrize(
    ("region", "arn", "ec2"),
    [
        ("us-east-1", "arn:aws:iam::aws:policy/", "ec2.amazonaws.com"),
        ("us-gov-west-1", "arn:aws-us-gov:iam::aws:policy/", "ec2.amazonaws.com"),
        ("cn-north-1", "arn:aws-cn:iam::aws:policy/", "ec2.amazonaws.com.cn"),
    ],
)
def test_policies_and_principals_are_those_of_the_partition(region: str, arn: str, ec2: str) -> None:
    found = manifests(compose(xr(L4, region=region)))
    attached = [m["spec"]["forProvider"] for m in found.values() if m["kind"] == "RolePolicyAttachment"]

    assert all(each["policyArn"].startswith(arn) for each in attached if "policyArn" in each)
    trust = json.loads(found["role-node"]["spec"]["forProvider"]["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Service": ec2}
    policy = found["policy-autoscaler"]["spec"]["forProvider"]["policy"]
    assert f'"{arn.partition(":iam")[0]}:eks:{region}:' in policy


def test_nodes_have_the_rights_to_join_and_to_pull_images_and_no_others() -> None:
    found = manifests(compose(SMALL))
    by_role: dict[str, set[str]] = {}
    for manifest in found.values():
        if manifest["kind"] == "RolePolicyAttachment":
            wanted = manifest["spec"]["forProvider"]
            policies = by_role.setdefault(wanted["roleRef"]["name"], set())
            policies.add(wanted.get("policyArn", "own").rpartition("/")[2])

    named = {key: by_role[found[f"role-{key}"]["metadata"]["name"]] for key in ("cluster", "node", "autoscaler")}
    assert named == {
        "cluster": {"AmazonEKSClusterPolicy"},
        "node": {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"},
        "autoscaler": {"own"},
    }


def test_the_autoscaler_resizes_the_groups_of_its_own_cluster_only() -> None:
    found = manifests(compose(SMALL))
    statements = json.loads(found["policy-autoscaler"]["spec"]["forProvider"]["policy"])["Statement"]

    [resizes] = [each for each in statements if "autoscaling:SetDesiredCapacity" in each["Action"]]
    name = found["cluster"]["metadata"]["annotations"]["crossplane.io/external-name"] if "cluster" in found else None
    name = name or running(SMALL)["cluster"]["metadata"]["name"]
    assert resizes["Condition"] == {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{name}": "owned"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "image", "flags"),
    [
        ("1.34", "v1.34.4", {"expander": "least-waste", "enable-dynamic-resource-allocation": "true"}),
        ("1.36", "v1.36.1", {"expander": "least-waste"}),
        ("1.40", "v1.36.1", {"expander": "least-waste"}),
    ],
)
def test_the_autoscaler_is_that_of_the_version_of_kubernetes(version: str, image: str, flags: dict[str, str]) -> None:
    wanted = xr(L4, kubernetesVersion=version)
    values = parameters(compose(wanted, running(wanted)), "autoscaler")["values"]

    assert (values["image"]["tag"], values["extraArgs"]) == (image, flags)
    assert values["autoDiscovery"]["clusterName"] == running(wanted)["cluster"]["metadata"]["name"]


def test_what_caches_hold_belongs_to_the_user_that_stages_it() -> None:
    manifest = parameters(compose(SMALL, running(SMALL)), "storage")["manifest"]

    user = str(pods.OUR_USER)
    assert (manifest["parameters"]["uid"], manifest["parameters"]["gid"]) == (user, user)


def test_a_pool_that_cannot_be_made_is_told_and_keeps_nothing_from_the_others() -> None:
    there = running(BOTH)
    why = "async create failed: AsgInstanceLaunchFailures: InsufficientInstanceCapacity"
    failed = {"type": "LastAsyncOperation", "status": "False", "reason": "AsyncCreateFailure", "message": why}
    there["pool-h100"]["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "Creating"}, failed]

    result = compose(BOTH, there)

    [told] = result.conditions
    name = there["pool-h100"]["metadata"]["name"]
    assert told.message == f"NodeGroup {name} (pool-h100): {why} (65 of 66 resources are ready)"
    assert (result.ready, result.status["pools"]) == (False, ["l4"])
    assert {"secrets", "cache"} <= result.status.keys()


def test_the_provider_config_that_plans_assume_is_one_that_the_provider_takes() -> None:
    config = {"apiVersion": kinds.PROVIDER, "kind": "ClusterProviderConfig", "metadata": {"name": "default"}}

    assert foreign.problems({**config, "spec": kinds.ASSUMED_CONFIG}) == []
