"""Our kinds on a real API server: what it accepts, what it refuses and in which words, what it fills in and shows."""

import re

import pytest

from tests.e2e import fleet, objects
from tests.e2e.control import Control, manifests
from tests.e2e.kube import Object, Refused, says
from tests.e2e.objects import changed

LEADER, WORKER = objects.member(role="Leader"), objects.member(role="Worker", worker={"nodes": 1})
DEPLOYMENT = objects.deployment()
GANG = objects.deployment(engines=[objects.engine("gang", LEADER, WORKER)], modelCacheRef={"name": "weights"})
PAIR = objects.deployment(
    serving={"mode": "PrefillDecode"},
    engines=[objects.engine("prefill", phase="Prefill"), objects.engine("decode", phase="Decode")],
)
CLASS = objects.inference_class(fleet.H100)
CLUSTER = objects.cluster(fleet.WEST)
SERVICE = objects.service(modelplane__deployment="qwen")
ENDPOINT = objects.endpoint()
CACHE = objects.cache()
GATEWAY = objects.gateway()
MEMBER = "spec.engines.0.members.0"
CONTAINER = f"{MEMBER}.template.spec.containers.0"
DEVICE = "spec.devices.0"
POOL = "spec.nodePools.0"

GOOD = {
    "a deployment": DEPLOYMENT,
    "a gang": GANG,
    "prefill and decode": PAIR,
    "no replicas": changed(DEPLOYMENT, "spec.replicas", 0),
    "a hundred replicas": changed(DEPLOYMENT, "spec.replicas", 100),
    "a toleration of everything": changed(DEPLOYMENT, "spec.tolerations", [{"operator": "Exists"}]),
    "labels of pods": changed(DEPLOYMENT, f"{MEMBER}.template.metadata", {"labels": {"example.org/team": "a"}}),
    "a variable from a Secret": changed(
        DEPLOYMENT,
        f"{CONTAINER}.env",
        [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
    ),
    "a probe of its own": changed(
        DEPLOYMENT, f"{CONTAINER}.startupProbe", {"httpGet": {"path": "/ready", "port": 8000}}
    ),
    "a class": CLASS,
    "a class with a provider": changed(
        CLASS, "spec.provisioning", {"provider": "EKS", "eks": {"instanceType": "p5.48xlarge"}}
    ),
    "a synthetic device": objects.inference_class(fleet.L4, claim="Synthetic"),
    "an existing cluster": CLUSTER,
    "a tainted cluster": changed(CLUSTER, "spec.taints", [{"key": "old", "effect": "NoSchedule"}]),
    "a service": SERVICE,
    "an endpoint": ENDPOINT,
    "an endpoint with an IPv6 address": changed(ENDPOINT, "spec.url", "http://[2001:db8::1]:8000/v1"),
    "a cache": CACHE,
    "the gateway": GATEWAY,
}

BAD = {
    "negative replicas": (changed(DEPLOYMENT, "spec.replicas", -1), "spec.replicas"),
    "too many replicas": (changed(DEPLOYMENT, "spec.replicas", 101), "less than or equal to 100"),
    "no engine": (changed(DEPLOYMENT, "spec.engines", []), "spec.engines"),
    "two engines of a name": (
        changed(DEPLOYMENT, "spec.engines", [objects.engine("a"), objects.engine("a")]),
        'spec.engines[1]: Duplicate value: {"name":"a"}',
    ),
    "an engine's name in capitals": (changed(DEPLOYMENT, "spec.engines.0.name", "VLLM"), "spec.engines[0].name"),
    "a leader alone": (
        objects.deployment(engines=[objects.engine("gang", LEADER)]),
        "an engine has one Standalone member, or exactly one Leader and one Worker",
    ),
    "two standalone members": (
        objects.deployment(engines=[objects.engine("two", objects.member(), objects.member())]),
        "an engine has one Standalone member, or exactly one Leader and one Worker",
    ),
    "worker on a leader": (
        changed(GANG, f"{MEMBER}.worker", {"nodes": 2}),
        "worker is only for a member with role Worker",
    ),
    "no member with devices": (
        changed(DEPLOYMENT, f"{MEMBER}.nodeSelector", None),
        "at least one member of an engine needs a nodeSelector",
    ),
    "a phase without PrefillDecode": (
        changed(DEPLOYMENT, "spec.engines.0.phase", "Prefill"),
        "without it no engine has a phase",
    ),
    "two of the same phase": (
        changed(PAIR, "spec.engines.1.phase", "Prefill"),
        "needs exactly two engines, one of phase Prefill and one of phase Decode",
    ),
    "no selector": (changed(DEPLOYMENT, f"{MEMBER}.nodeSelector.devices.0.selectors", []), "selectors"),
    "a toleration of nothing": (
        changed(DEPLOYMENT, "spec.tolerations", [{"value": "x"}]),
        "a toleration without a key tolerates everything, and needs operator Exists",
    ),
    "a misspelt field": (changed(DEPLOYMENT, "spec.replicaz", 1), 'unknown field "spec.replicaz"'),
    "an attribute of two types": (
        changed(CLASS, f"{DEVICE}.attributes", {"model": {"string": "a", "int": 1}}),
        "an attribute has exactly one of string, version, bool and int",
    ),
    "a version that is none": (
        changed(CLASS, f"{DEVICE}.attributes", {"cc": {"version": "9"}}),
        "attributes[cc].version",
    ),
    "an amount that is none": (
        changed(CLASS, f"{DEVICE}.capacity", {"memory": {"value": "80G B"}}),
        "capacity.memory.value",
    ),
    "a claim without a class": (
        changed(CLASS, f"{DEVICE}.deviceClassName", None),
        "a device that is claimed through DRA needs a deviceClassName",
    ),
    "a provider without its block": (
        changed(CLASS, "spec.provisioning", {"provider": "GKE"}),
        "provider GKE needs gke",
    ),
    "a source without its block": (
        changed(CLUSTER, "spec.cluster", {"source": "EKS"}),
        "source EKS needs eks",
    ),
    "a pool named system": (
        changed(CLUSTER, f"{POOL}.name", "system"),
        "the name system is kept for the cluster's own pool",
    ),
    "fewer nodes at most than at least": (
        changed(changed(CLUSTER, f"{POOL}.minNodeCount", 3), f"{POOL}.maxNodeCount", 2),
        "minNodeCount cannot be more than maxNodeCount",
    ),
    "negative nodes": (changed(CLUSTER, f"{POOL}.nodeCount", -1), "nodePools[0].nodeCount"),
    "a weight of zero": (changed(SERVICE, "spec.endpoints.0.weight", 0), "spec.endpoints[0].weight"),
    "a selector of everything": (
        changed(SERVICE, "spec.endpoints.0.selector.matchLabels", {}),
        "spec.endpoints[0].selector.matchLabels",
    ),
    "a URL with a password": (changed(ENDPOINT, "spec.url", "https://me:secret@example.org/v1"), "spec.url"),
    "a URL of another scheme": (changed(ENDPOINT, "spec.url", "ftp://example.org/v1"), "spec.url"),
    "a URL with an impossible port": (
        changed(ENDPOINT, "spec.url", "http://example.org:99999/v1"),
        "spec.url",
    ),
    "a repository that is a command": (
        changed(CACHE, "spec.huggingFace.repo", "a/b; rm -rf /"),
        "spec.huggingFace.repo",
    ),
    "no room for weights": (changed(CACHE, "spec.huggingFace.sizeGiB", 0), "spec.huggingFace.sizeGiB"),
    "a second gateway": (objects.gateway("other"), "there is one InferenceGateway, named default"),
}


@pytest.mark.parametrize("reason", GOOD)
def test_a_good_object_is_accepted(crossplane: Control, reason: str) -> None:
    """Applied rather than created: another story's object of that name may be there."""
    crossplane.as_crossplane.apply(GOOD[reason], dryRun="All")


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_object_is_refused_in_words_that_help(crossplane: Control, reason: str) -> None:
    manifest, words = BAD[reason]
    with pytest.raises(Refused) as refused:
        crossplane.as_crossplane.create(manifest, dryRun="All")

    assert words in str(refused.value)


def test_every_definition_is_established_and_says_what_its_fields_are(crossplane: Control) -> None:
    for definition in manifests("xrds"):
        found = crossplane.api.current(definition)
        crd = crossplane.api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition["metadata"]["name"])

        assert says(found, "Established")
        assert says(crd, "Established")
        assert not says(crd, "NonStructuralSchema")
        for version in definition["spec"]["versions"]:
            undescribed = list(without_description(version["schema"]["openAPIV3Schema"]["properties"]["spec"], "spec"))
            assert undescribed == []


def without_description(schema: Object, path: str) -> list[str]:
    """Paths of the properties that say nothing of themselves."""
    children = {**schema.get("properties", {}), **schema.get("items", {}).get("properties", {})}
    silent = [f"{path}.{name}" for name, child in children.items() if not child.get("description")]
    return silent + [
        found for name, child in children.items() for found in without_description(child, f"{path}.{name}")
    ]


def test_defaults_are_filled_in(crossplane: Control) -> None:
    """A user who leaves a field out sees what it is taken for."""
    bare = changed(changed(DEPLOYMENT, "spec.replicas", None), f"{MEMBER}.nodeSelector.devices.0.count", None)
    made = crossplane.api.create(bare, dryRun="All")["spec"]
    request = made["engines"][0]["members"][0]["nodeSelector"]["devices"][0]

    got = (made["replicas"], made["serving"], made["engines"][0]["copies"], request["count"])
    assert got == (1, {"mode": "Unified"}, 1, 1)


def test_kubectl_explains_our_fields(crossplane: Control) -> None:
    """`kubectl explain` shows the descriptions of the models."""
    told = crossplane.kubectl("explain", "modeldeployment.spec.engines.members.nodeSelector.devices.count")

    assert "Number of devices that each pod needs, all on one node. From 1 to 64." in " ".join(told.split())


def test_short_names_and_categories_are_served(crossplane: Control) -> None:
    told = crossplane.kubectl("api-resources", "--categories=modelplane", "--no-headers", "--output=wide")

    kinds = {definition["spec"]["names"]["kind"] for definition in manifests("xrds")}
    got = {word for line in told.splitlines() for word in line.split()} & kinds
    assert got == kinds


def test_every_printer_column_has_a_path_that_the_schema_knows(crossplane: Control) -> None:
    """A column whose path does not exist stays empty for ever, and nothing says so."""
    for definition in manifests("xrds"):
        for version in definition["spec"]["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            paths = [column["jsonPath"] for column in version.get("additionalPrinterColumns", [])]
            assert [path for path in paths if not known(schema, path)] == []


_STEP = re.compile(r"\.((?:\\\.|[^.\[])+)(\[[^\]]*\])?")
"""A field, whose dots are escaped, and which of its items."""


def known(schema: Object, path: str) -> bool:
    """Whether a schema has a JSONPath. Metadata is not in it."""
    if path.startswith(".metadata."):
        return True
    for name, chosen in _STEP.findall(path):
        schema = schema.get("properties", {}).get(name, {})
        schema = schema.get("items", {}) if chosen else schema
    return bool(schema)
