"""What is said against objects: each by itself, and what they say of each other."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Value

from function.api import tenancy
from function.validation import Finding, validate
from function.validation.finding import ERRORS, SEVERITIES
from function.validation.size import encoded
from tests.support.samples import (
    ALL,
    CACHE,
    CLASS,
    CLUSTER,
    DEPLOYMENT,
    ENDPOINT,
    GATEWAY,
    REPLICA,
    SERVICE,
    STACK,
    Object,
    edited,
    of,
)

DEVICES = "spec.engines.0.members.0.nodeSelector.devices"
ARGS = "spec.engines.0.members.0.template.spec.containers.0.args"


BEHIND = "spec.engines.1.members.0.template.spec.containers.0.args"
SOUND_REPLICA = edited(REPLICA, BEHIND, ["--port=8001"])
"""Its decode engine listens behind the sidecar."""
SOUND_CLUSTER = of(
    "InferenceCluster",
    {
        "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}},
        "nodePools": [{"name": "gpu-h100", "className": "sample", "maxNodeCount": 4}],
        "servingStack": {"gateway": {"allowedSources": ["10.0.0.0/8"]}},
    },
    namespace=None,
)
SOUND = tuple(
    {
        id(REPLICA): SOUND_REPLICA,
        id(CLUSTER): edited(SOUND_CLUSTER, "metadata.labels", {"modelplane.ai/region": "us-central", "tier": "gold"}),
        id(CACHE): edited(CACHE, "metadata.name", "weights"),
        id(SERVICE): edited(SERVICE, "spec.endpoints.0.selector.matchLabels", {"modelplane.ai/deployment": "sample"}),
    }.get(id(one), one)
    for one in ALL
)
"""One of each kind that the function takes as it is. They refer to each other."""


def said(*objects: Object) -> list[tuple[int, str, str, str]]:
    return [(finding.index, finding.field, finding.code, finding.message) for finding in validate(objects)]


def codes(*objects: Object) -> list[tuple[int, str, str]]:
    return [found[:3] for found in said(*objects)]


def test_full_objects_of_every_kind_have_no_flaws() -> None:
    assert said(*SOUND) == []
    assert {code for _, _, code in codes(*ALL)} & ERRORS.keys() == {"refused"}


def test_an_object_of_another_group_is_passed_over() -> None:
    assert said({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Not_A_Name"}}) == []


def test_another_version_of_our_kind_is_told_which_there_is() -> None:
    got = said(SERVICE | {"apiVersion": "modelplane.ai/v1beta1"})

    want = "must be modelplane.ai/v1alpha1 for kind ModelService, not modelplane.ai/v1beta1"
    assert got == [(0, "apiVersion", "api-version", want)]


def test_our_kind_in_our_other_group_is_told_where_it_is() -> None:
    got = said(SERVICE | {"apiVersion": "infrastructure.modelplane.ai/v1alpha1"})

    want = "must be modelplane.ai/v1alpha1 for kind ModelService, not infrastructure.modelplane.ai/v1alpha1"
    assert got == [(0, "apiVersion", "api-version", want)]


@pytest.mark.parametrize("api_version", ["modelplane.io/v1alpha1", "modelplane/v1alpha1", "v1alpha1", "v1", "apps/v1"])
def test_our_kind_in_a_group_that_cannot_be_meant_is_told_where_it_is(api_version: str) -> None:
    """It would be passed over otherwise, and nobody would know why nothing is placed."""
    got = said(SERVICE | {"apiVersion": api_version})

    want = f"must be modelplane.ai/v1alpha1 for kind ModelService, not {api_version}"
    assert got == [(0, "apiVersion", "api-version", want)]


def test_anothers_kind_of_the_same_name_is_passed_over() -> None:
    """llm-d has ModelServices of its own."""
    assert said(SERVICE | {"apiVersion": "llm-d.ai/v1alpha1"}) == []


def test_a_mistyped_kind_is_told_which_is_meant() -> None:
    [(_, field, _, message)] = said(SERVICE | {"kind": "modelservice"})

    assert (field, message.rpartition(", not ")[2]) == ("kind", "modelservice; did you mean ModelService?")


_TEXT = "must be a string; numbers and yes, no, true and false are written in quotes, not 5"
_VALUE = (
    "must be a label value: letters, digits, dashes, dots and underscores, a letter or digit at both ends "
    '(up to 63 characters), not "b c"'
)
_KEY = (
    "must have a key that is a label key: up to 63 letters, digits, dashes, dots and underscores, alone or after a DNS "
    "name of up to 253 characters and a slash"
)


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        ("metadata.lables", {"a": "b"}, ("metadata.lables", "unknown-field", "is not a field; did you mean labels?")),
        ("metadata.namespace", 5, ("metadata.namespace", "value", _TEXT)),
        ("metadata.labels", ["a"], ("metadata.labels", "value", "must be a map, not a list of 1 item")),
        ("metadata.labels", {"a": "b c"}, ("metadata.labels.a", "value", _VALUE)),
        ("metadata.annotations", {"a b": "c"}, ('metadata.annotations["a b"]', "key", _KEY)),
    ],
    ids=["unknown", "namespace", "no-map", "label", "annotation"],
)
def test_metadata_is_read_as_strictly_as_the_spec(path: str, value: Any, want: tuple[str, str, str]) -> None:
    assert said(edited(SERVICE, path, value)) == [(0, *want)]


def test_metadata_that_servers_write_is_accepted() -> None:
    """What `kubectl get -o yaml` prints."""
    dumped = {
        **SERVICE["metadata"],
        "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 0, "finalizers": ["foregroundDeletion"], "generation": 3,
        "managedFields": [{"manager": "kubectl"}], "ownerReferences": [{"kind": "X"}], "resourceVersion": "5",
        "uid": "b7e0", "labels": None, "annotations": {"long": "x" * 40_000, "any/thing": "\u00fc, ö!"},
    }  # fmt: skip
    assert said(SERVICE | {"metadata": dumped}) == []


@pytest.mark.parametrize("path", ["spec.replicas", "spec.clusterSelector", "spec.engines.0.copies", "metadata.labels"])
def test_null_is_as_if_it_were_not_there(path: str) -> None:
    """The API server drops it."""
    assert said(*(edited(one, path, None) if one is DEPLOYMENT else one for one in SOUND)) == []


def test_what_names_no_namespace_is_in_one() -> None:
    nowhere = edited(SERVICE, "metadata.namespace", None)
    got = validate([nowhere, nowhere, edited(SERVICE, "metadata.namespace", "")])

    want = [(1, "duplicate", "appears twice: ModelService your-namespace/sample", 0),
            (2, "duplicate", "appears twice: ModelService your-namespace/sample", 0)]  # fmt: skip
    assert [(finding.index, finding.code, finding.message, finding.other) for finding in got] == want


def test_a_kind_that_is_none_of_ours_is_told_which_there_are() -> None:
    [(_, field, code, message)] = said(SERVICE | {"kind": "ModelServing"})

    assert (field, code, message.startswith("must be one of "), "ModelService" in message) == (
        ("kind", "api-version", True, True)
    )


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        (
            "metadata.name",
            "Qwen_3",
            "must be lower-case letters, digits, dashes and dots, with a letter or digit around every dot",
        ),
        ("metadata.name", "a" * 64, "must have up to 63 characters, not 64: Crossplane writes it into a label"),
        (
            "metadata.namespace",
            "ml.team",
            "must be up to 63 lower-case letters, digits and dashes, with a letter or digit at both ends",
        ),
    ],
    ids=["form", "length", "namespace"],
)
def test_a_name_that_would_be_refused_is_said(path: str, value: str, want: str) -> None:
    assert said(edited(SERVICE, path, value)) == [(0, path, "name", want)]


def test_a_cluster_scoped_kind_has_no_namespace() -> None:
    got = said(edited(CLUSTER, "metadata.namespace", "ml-team"))

    assert got == [(0, "metadata.namespace", "name", "is not for kind InferenceCluster, which is cluster-scoped")]


def test_a_rule_over_the_whole_object_is_checked() -> None:
    got = said(edited(GATEWAY, "metadata.name", "other"))

    assert got == [(0, "metadata.name", "rule", "there is one InferenceGateway, named default")]


def test_flaws_stand_in_the_order_of_objects_and_fields() -> None:
    broken = edited(edited(DEPLOYMENT, "spec.replicas", -1), "spec.engines.1.name", "A")
    tenth = edited(SERVICE, "spec.endpoints", SERVICE["spec"]["endpoints"] * 11)
    tenth = edited(edited(tenth, "spec.endpoints.10.weight", 0), "spec.endpoints.2.weight", 0)

    got = codes(CLASS, tenth, broken)

    want = [
        (1, "spec.endpoints[2].weight", "value"),
        (1, "spec.endpoints[10].weight", "value"),
        (2, "spec.engines[1].name", "value"),
        (2, "spec.replicas", "value"),
    ]
    assert got == want


def test_a_selector_that_kubernetes_would_not_compile_is_said_with_its_place() -> None:
    typo = edited(DEPLOYMENT, f"{DEVICES}.0.selectors.0.cel", "devices.driver == 'x'")

    [(_, field, code, message)] = said(typo)

    assert (field, code) == ("spec.engines[0].members[0].nodeSelector.devices[0].selectors[0].cel", "selector")
    want = 'would be refused by Kubernetes: line 1, column 1: undeclared reference "devices"; did you mean "device"?'
    assert message == want


def test_a_selector_that_fails_on_every_device_is_a_warning() -> None:
    typo = edited(DEPLOYMENT, f"{DEVICES}.0.selectors.0.cel", "device.driver == 'a' && semver('1.2').major() > 0")

    [(_, _, code, message)] = said(typo)

    want = 'is accepted by Kubernetes, but line 1, column 25: "1.2" is no semantic version: '
    want += "three numbers are wanted, as in 1.2.3, so it fails on every device"
    assert (code, message) == ("selector-fails", want)


def test_a_selector_that_could_cost_too_much_is_said() -> None:
    """The API server estimates it; what it refuses, the ResourceClaimTemplate never becomes."""
    loops = "[1,2,3,4,5,6,7,8,9,10]"
    dear = edited(
        DEPLOYMENT,
        f"{DEVICES}.0.selectors.0.cel",
        f"{loops}.all(a, {loops}.all(b, {loops}.all(c, "
        f"{loops}.all(d, {loops}.all(e, {loops}.all(f, {loops}.all(g, a + b + c + d + e + f + g > 0)))))))",
    )

    [(_, _, code, message)] = said(dear)

    assert code == "selector"
    assert "could cost" in message


def test_a_selector_of_a_replica_is_compiled_as_well() -> None:
    typo = edited(SOUND_REPLICA, "spec.engines.1.members.0.deviceRequests.0.selectors.0.cel", "true &&")

    assert codes(typo) == [(0, "spec.engines[1].members[0].deviceRequests[0].selectors[0].cel", "selector")]


def test_a_device_that_kubernetes_would_not_take_is_said() -> None:
    """Each of two maps is short enough; together they are too long for a ResourceSlice."""
    attributes = {f"a{i}": {"int": i} for i in range(30)}
    capacity = {f"c{i}": {"value": "1"} for i in range(3)}
    crowded = edited(edited(CLASS, "spec.devices.0.attributes", attributes), "spec.devices.0.capacity", capacity)

    want = "33 attributes and capacities, and 32 is the most"
    assert said(crowded) == [(0, "spec.devices[0]", "value", want)]


def test_more_devices_than_a_claim_holds_are_a_warning() -> None:
    got = said(
        edited(
            edited(DEPLOYMENT, f"{DEVICES}.0.count", 33), "spec.engines.1.members.1.nodeSelector.devices.0.count", 32
        )
    )

    want = "ask for 33 devices, but a ResourceClaim holds at most 32"
    assert got == [(0, "spec.engines[0].members[0].nodeSelector.devices", "many-devices", want)]


def test_an_answer_that_crossplane_would_not_take_is_said_before_it_is_made() -> None:
    long = edited(edited(DEPLOYMENT, ARGS, ["x" * 30_000] * 2), "spec.replicas", 70)

    [(_, field, code, message)] = said(long)

    assert (field, code) == ("spec.engines", "response-size")
    assert message.endswith("MiB, but Crossplane accepts 3.5 MiB")
    assert said(edited(long, "spec.replicas", 20)) == []


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_sizes_are_those_of_protobuf(xr: Object) -> None:
    message = Value()
    message.struct_value.update({**xr["spec"], "more": [None, True, 1.5, "ä" * 200, [], {}]})

    assert encoded(json_format.MessageToDict(message)) == message.ByteSize()


def test_the_same_object_twice_is_an_error() -> None:
    got = said(SERVICE, edited(SERVICE, "metadata.namespace", "other"), SOUND_CLUSTER, SERVICE)

    assert got == [(3, "metadata.name", "duplicate", "appears twice: ModelService ml-team/sample")]


def test_a_gang_without_a_cache_is_a_warning() -> None:
    assert codes(edited(DEPLOYMENT, "spec.modelCacheRef")) == [(0, "spec.engines[1]", "cache")]


def test_a_cache_of_another_tenant_is_a_warning() -> None:
    cache = edited(edited(CACHE, "metadata.name", "weights"), "metadata.namespace", "other-team")

    want = "names a ModelCache of its own namespace, but weights is only in other-team"
    assert said(DEPLOYMENT, cache) == [(0, "spec.modelCacheRef.name", "tenancy", want)]
    assert said(DEPLOYMENT, cache, edited(cache, "metadata.namespace", "ml-team")) == []


def service(**labels: str) -> Object:
    selector = {key.replace("__", "/"): value for key, value in labels.items()}
    return of("ModelService", {"endpoints": [{"selector": {"matchLabels": selector}}]})


def test_a_service_that_matches_only_another_tenant_is_a_warning() -> None:
    other = edited(DEPLOYMENT, "metadata.namespace", "other-team")

    got = said(
        service(modelplane__deployment="x", modelplane__ai="y"),
        service(**{"modelplane.ai/deployment": "sample"}) | {"metadata": {"name": "b", "namespace": "ml-team"}},
        other,
    )

    want = "selects only endpoints of its own namespace, but those it matches are in other-team"
    assert [one for one in got if one[0] == 1] == [(1, "spec.endpoints[0].selector", "tenancy", want)]


def test_a_service_that_mixes_a_region_with_anywhere_is_a_warning() -> None:
    bound = edited(DEPLOYMENT, "metadata.labels", {"model": "qwen"})
    outside = edited(edited(ENDPOINT, "metadata.labels", {"model": "qwen"}), "metadata.name", "provider")

    want = "mix endpoints in us-central with endpoints that may be anywhere: provider"
    assert said(service(model="qwen"), bound, outside) == [(0, "spec.endpoints", "residency", want)]
    assert said(service(model="qwen"), bound) == []


def chat(name: str, *args: str, image: str = "vllm/vllm-openai:v0.33.0", **spec: Any) -> Object:
    """A deployment of one engine, of a model called `chat`."""
    engine = {"name": "engine", "image": image, "args": list(args)}
    chosen = DEPLOYMENT["spec"]["engines"][0]["members"][0]["nodeSelector"]
    members = [{"nodeSelector": chosen, "template": {"spec": {"containers": [engine]}}}]
    labelled = edited(edited(DEPLOYMENT, "metadata.name", name), "metadata.labels", {"model": "chat"})
    written = edited(labelled, "spec", {"engines": [{"name": "e", "members": members}], **spec})
    return edited(written, "metadata.namespace", SERVICE["metadata"]["namespace"])


WEIGHTS = edited(edited(CACHE, "metadata.name", "weights"), "spec.huggingFace.repo", "org/cached")
CACHED = {"modelCacheRef": {"name": "weights"}}
SERVED: list[tuple[tuple[Object, ...], str]] = [
    ((chat("v1", "org/a"), chat("v2", "org/b")), 'v1 to "org/a", v2 to "org/b"'),
    ((chat("v1", "org/a"), chat("v2", "org/b", "--served-model-name=org/a")), ""),
    ((chat("v1", "org/a"), chat("v2", "org/b", "--served-model-name", "b", "org/a")), ""),
    ((chat("v1", "org/a"), chat("v2", image="registry.example.org/serve:1")), ""),
    ((chat("v1", "org/a"), chat("v2", "--port=1", **CACHED), WEIGHTS), 'v1 to "org/a", v2 to "org/cached"'),
    ((chat("v1", "org/cached"), chat("v2", **CACHED), WEIGHTS), ""),
]


@pytest.mark.parametrize(("objects", "want"), SERVED)
def test_a_service_whose_endpoints_answer_to_different_names_is_told(objects: tuple[Object, ...], want: str) -> None:
    """Half of its requests would be refused."""
    sentence = f"select no model name that all of them answer, so a part of the requests fails: {want}"
    sentence = f"{sentence}; set model of the entries to the name that their endpoints know"
    assert said(service(model="chat"), *objects) == ([(0, "spec.endpoints", "model-names", sentence)] if want else [])


def test_an_endpoint_of_your_own_can_have_names_as_well() -> None:
    """It needs no key, so a route leads to it without a proxy."""
    plain = edited(edited(ENDPOINT, "spec.auth"), "spec.url", "http://192.0.2.1")
    outside = edited(edited(plain, "metadata.labels", {"model": "chat"}), "metadata.name", "provider")
    noted = edited(outside, "metadata.annotations", {"modelplane.ai/served-model-name": "gpt"})
    assert codes(service(model="chat"), chat("v1", "org/a"), noted) == [(0, "spec.endpoints", "model-names")]
    assert codes(service(model="chat"), chat("v1", "org/a"), outside) == []


UNREACHABLE = [
    (chat("a", "org/a"), ""),
    (chat("a", "org/a", "--host=127.0.0.1"), "--host 127.0.0.1 is loopback"),
    (chat("a", "sglang", "serve", "org/a", image="lmsysorg/sglang:v0.5.23"), "SGLang listens on 127.0.0.1:30000"),
    (chat("a", "--model-id=org/a", image="ghcr.io/huggingface/text-generation-inference:3"), ""),
    (chat("a", "text-generation-launcher", image="registry.example.org/tgi:3"), ""),
    (chat("a", "org/a", "--ssl-certfile=/tls.crt"), "--ssl-certfile makes it serve TLS"),
]


@pytest.mark.parametrize(("deployment", "want"), UNREACHABLE)
def test_an_engine_that_nothing_will_reach_is_told(deployment: Object, want: str) -> None:
    """A port that it will be given is none of its faults."""
    found = said(deployment)
    assert [one[1:3] for one in found] == (
        [(ARGS.removesuffix(".args").replace(".0", "[0]"), "unreachable")] if want else []
    )
    assert all(want in one[3] for one in found)


IDLE = [
    (chat("a", "--model=org/a", **CACHED), True),
    (chat("a", "org/a", **CACHED), True),
    (chat("a", "org/a"), False),
    (chat("a", "--max-model-len=8192", **CACHED), False),
    (chat("a", "--model=/mnt/models", "--tokenizer=org/a", **CACHED), False),
    (chat("a", "--model=org/a", "--load-format=x", "--download-dir=/mnt/models", **CACHED), False),
    (chat("a", "--model=$(MODEL)", **CACHED), False),
    (chat("a", "--foo=org/a", image="registry.example.org/engine:1", **CACHED), False),
]


@pytest.mark.parametrize(("deployment", "is_idle"), IDLE)
def test_an_engine_that_does_not_read_its_cache_is_told(deployment: Object, is_idle: bool) -> None:
    found = [one[1:3] for one in said(deployment, WEIGHTS)]
    assert found == ([(ARGS.removesuffix(".args").replace(".0", "[0]"), "idle-weights")] if is_idle else [])


PROXY = {"name": "proxy", "image": "nginx:1", "ports": [{"containerPort": 8000, "name": "http"}]}
SPEC = "spec.engines.0.members.0.template.spec"
BESIDE = "spec.engines[0].members[0].template.spec"


def beside(deployment: Object, container: Object) -> Object:
    containers = deployment["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"]
    return edited(deployment, f"{SPEC}.containers", [container, *containers])


@pytest.mark.parametrize(
    ("deployment", "field"),
    [
        (beside(chat("a", "org/a"), PROXY), f"{BESIDE}.containers[0].ports[0].containerPort"),
        (
            edited(chat("a", "org/a"), f"{SPEC}.initContainers", [{**PROXY, "restartPolicy": "Always"}]),
            f"{BESIDE}.initContainers[0].ports[0].containerPort",
        ),
        (edited(chat("a", "org/a"), f"{SPEC}.initContainers", [PROXY]), ""),
        (beside(chat("a", "org/a", "--port=9000"), PROXY), ""),
        (beside(chat("a", "org/a"), {**PROXY, "ports": [{"containerPort": 8000, "protocol": "UDP"}]}), ""),
    ],
)
def test_a_container_that_declares_the_engines_port_is_told(deployment: Object, field: str) -> None:
    """Containers of a pod share its ports. Init containers that end do not."""
    want = "is 8000, the engine's port: only one container of a pod can listen on a port"
    assert [one[1:] for one in said(deployment)] == ([(field, "port-taken", want)] if field else [])


def test_two_ports_that_disagree_are_an_error() -> None:
    given = chat("a", "org/a", "--port=9000")
    given = edited(given, "spec.engines.0.members.0.template.spec.containers.0.ports", [{"containerPort": 8000}])
    assert codes(given) == [(0, ARGS.replace(".0", "[0]"), "refused")]


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("http://api.example.org", ["clear-text"]),
        ("https://169.254.169.254/latest", ["refused"]),
        ("https://127.0.0.1", ["refused"]),
        ("https://localhost", ["refused"]),
        ("http://traefik.localhost", ["refused"]),
        ("https://mylocalhost.example.org", []),
        ("https://qwen.ml-team.svc.cluster.local", ["in-cluster"]),
        ("https://qwen.other-team.svc.cluster.local", ["refused"]),
        ("https://api.example.org", []),
        ("https://192.168.1.10", []),
    ],
)
def test_where_an_endpoint_points_is_looked_at(url: str, want: list[str]) -> None:
    assert [finding.code for finding in validate([edited(ENDPOINT, "spec.url", url)])] == want


@pytest.mark.parametrize(
    ("object_", "want"),
    [
        (
            edited(SOUND_CLUSTER, "spec.servingStack.gateway.internal", True),
            (
                "spec.servingStack.gateway.internal",
                (
                    "how a load balancer stays inside is not known for Existing; give annotations that keep it inside, "
                    "or allowedSources"
                ),
            ),
        ),
        (
            edited(SOUND_CLUSTER, "spec.nodePools.0.zones", ["a"]),
            ("spec.nodePools[0].zones", "Existing cannot choose the zones of a pool; leave them out"),
        ),
        (
            edited(DEPLOYMENT, "metadata.namespace", "kube-system"),
            ("metadata.namespace", tenancy.refusal("kube-system")),
        ),
        (
            edited(ENDPOINT, "metadata.namespace", "default"),
            ("metadata.namespace", tenancy.refusal("default")),
        ),
        (
            edited(SOUND_REPLICA, "metadata.ownerReferences"),
            (
                "metadata.ownerReferences",
                "must name a ModelDeployment as controller: a ModelReplica is composed by one; create that",
            ),
        ),
        (
            edited(STACK, "metadata.ownerReferences"),
            (
                "metadata.ownerReferences",
                "must name an InferenceCluster as controller: a ServingStack is composed by one; edit that",
            ),
        ),
        (
            edited(STACK, "spec.providerConfigRef.name", "another"),
            ("spec.providerConfigRef.name", "must be eks-l4-21a24da5, the one of eks-l4, not another"),
        ),
    ],
    ids=["gateway", "pool", "deployment", "endpoint", "replica", "stack", "config"],
)
def test_what_only_the_function_refuses_is_said_beforehand(object_: Object, want: tuple[str, str]) -> None:
    assert [(finding.field, finding.message) for finding in validate([object_]) if finding.code == "refused"] == [want]


def test_a_deployment_whose_replicas_would_be_refused_is_told_so() -> None:
    """A decode engine cannot listen where its sidecar does."""
    halves = [
        {"name": phase.lower(), "phase": phase, "members": DEPLOYMENT["spec"]["engines"][0]["members"]}
        for phase in ("Prefill", "Decode")
    ]
    split = edited(edited(DEPLOYMENT, "spec.engines", halves), "spec.serving.mode", "PrefillDecode")

    args = "spec.engines[1].members[0].template.spec.containers[0].args"
    problem = "--port 8000 is the routing sidecar's port; use another, such as $(MODELPLANE_PORT)"
    assert said(split) == [(0, args, "refused", problem)]


def test_a_broken_object_takes_no_part_in_what_objects_say_of_each_other() -> None:
    assert codes(edited(SERVICE, "spec.endpoints", [1]), DEPLOYMENT) == [(0, "spec.endpoints[0]", "value")]


def test_every_code_has_one_severity() -> None:
    told = [(severity, code) for severity, codes in SEVERITIES.items() for code in codes]

    assert len({code for _, code in told}) == len(told)
    assert [(Finding(0, (), "", code).severity, code) for _, code in told] == told
    assert [code for _, code in told if Finding(0, (), "", code).is_error] == [*ERRORS]
