"""What is said of a ModelService that is valid and probably not meant so: its entries, priorities and model names."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation import validate
from tests.support.samples import DEPLOYMENT, GROUP, Object, edited, of

AT = "spec.endpoints"
GPU = {"devices": [{"name": "gpu", "count": 1, "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}]}


def said(*objects: Object) -> list[tuple[str, str, str]]:
    return [(f.field, f.code, f.message) for f in validate(objects)]


def codes(*objects: Object) -> list[tuple[str, str]]:
    return [found[:2] for found in said(*objects)]


def deployment(name: str, *args: str, **spec: Any) -> Object:
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "args": list(args or (f"--model=org/{name}",))}
    members = [{"nodeSelector": GPU, "template": {"spec": {"containers": [engine]}}}]
    return of("ModelDeployment", {"engines": [{"name": "vllm", "members": members}], **spec}, name)


def provider(name: str = "outside", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    auth = {"secretRef": {"name": name}}
    made = of("ModelEndpoint", {"url": "https://api.example.com/v1", "auth": auth, **spec}, name)
    return edited(made, "metadata.labels", labels or {"provider": name})


def entry(deployment: str = "", /, **more: Any) -> Object:
    selector = {"modelplane.ai/deployment": deployment} if deployment else more.pop("selector")
    return {"selector": {"matchLabels": selector}, **more}


def service(*entries: Object, **spec: Any) -> Object:
    return of("ModelService", {"endpoints": list(entries), **spec}, "chat")


def cluster(name: str, **labels: str) -> Object:
    made = of(
        "InferenceCluster",
        {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}},
            "nodePools": [{"name": "gpu", "className": "h100", "nodeCount": 8}],
        },
        name,
        None,
    )
    return edited(made, "metadata.labels", labels)


OUTSIDE = {"provider": "outside"}
V1, V2 = deployment("v1"), deployment("v2", "--model=org/v2", "--served-model-name=next")


# Model names


def test_a_canary_over_two_names_is_told_and_an_override_resolves_it() -> None:
    told = 'v1 to "org/v1", v2 to "next"'
    want = f"select no model name that all of them answer, so a part of the requests fails: {told}"
    want = f"{want}; set model of the entries to the name that their endpoints know"
    assert said(service(entry("v1", weight=95), entry("v2", weight=5)), V1, V2) == [(AT, "model-names", want)]
    assert said(service(entry("v1", weight=95), entry("v2", weight=5, model="next")), V1, V2) == []


@pytest.mark.parametrize("asked", [{"retry": {"on": ["5xx"]}}, {"usage": {"log": True}}, {"ejection": {}}])
def test_with_a_proxy_no_name_is_divided_by_weights(asked: Object) -> None:
    """Nothing fails then: a request goes where its name is known. But 5 of 100 go nowhere else."""
    want = 'shares no model name with spec.endpoints[0]: v1 to "org/v1", v2 to "next". Each gets the requests for its'
    want = f"{want} own names, whatever the weights; to divide those for one name, set model of the entries to the name"
    got = said(service(entry("v1", weight=95), entry("v2", weight=5), **asked), V1, V2)
    assert got == [(f"{AT}[1]", "model-names", f"{want} that their endpoints know")]


def test_several_models_behind_one_url_are_no_canary() -> None:
    """Without weights they are meant to be asked for by their names, which only a proxy can do."""
    assert said(service(entry("v1"), entry("v2"), usage={"log": True}), V1, V2) == []
    assert codes(service(entry("v1"), entry("v2")), V1, V2) == [(AT, "model-names")]


def test_an_outside_provider_brings_the_proxy() -> None:
    entries = (entry("v1", weight=2), entry("v2", weight=1), entry(selector=OUTSIDE, weight=1))
    assert codes(service(*entries), V1, V2, provider()) == [(f"{AT}[1]", "model-names")]
    nobody = (f"{AT}[2].selector.matchLabels.provider", "selects-nothing")
    assert codes(service(*entries), V1, V2) == [(AT, "model-names"), nobody]


def test_so_do_more_endpoints_than_a_route_has_room_for() -> None:
    many = edited(V1, "spec.replicas", 16)
    assert codes(service(entry("v1", weight=1), entry("v2", weight=1)), many, V2) == [(f"{AT}[1]", "model-names")]


@pytest.mark.parametrize(
    ("v1", "v2", "want"),
    [
        ({"weight": 1}, {"weight": 1, "model": "next"}, []),
        ({"weight": 1, "model": "org/v1"}, {"weight": 1}, []),
        ({"weight": 1}, {"priority": 1}, [f"{AT}[1]"]),
        ({"weight": 1}, {"priority": 1, "model": "next"}, []),
    ],
    ids=["the second is renamed", "the first is renamed", "the second takes over", "the second takes over renamed"],
)
def test_what_is_renamed_can_be_asked_for_by_any_name(v1: Object, v2: Object, want: list[str]) -> None:
    found = said(service(entry("v1", **v1), entry("v2", **v2), retry={}), V1, V2)
    assert [(field, code) for field, code, _ in found] == [(field, "model-names") for field in want]


def test_a_priority_that_knows_no_name_of_those_before_it_takes_over_nothing() -> None:
    (got,) = said(service(entry("v1"), entry("v2", priority=1)), V1, V2)

    want = 'has priority 1, which takes over nothing: it answers to "next", and what comes before it to "org/v1"'
    assert got == (
        f"{AT}[1]",
        "model-names",
        f"{want}; set model of the entries to the name that their endpoints know",
    )
    assert said(service(entry("v1"), entry(selector=OUTSIDE, priority=1)), V1, provider()) == []


def test_a_name_that_its_endpoints_refuse_is_told() -> None:
    """They would answer 404 to everything."""
    (got,) = said(service(entry("v2", model="org/v2")), V2)

    assert got == (f"{AT}[0].model", "override", 'is a name that v2 refuses with 404: it answers to "next" only')
    assert said(service(entry("v2", model="next")), V2) == []
    assert said(service(entry(selector=OUTSIDE, model="anything")), provider()) == []


# Entries


def test_an_entry_whose_endpoints_all_belong_to_one_before_it_is_told() -> None:
    wide, narrow = entry(selector={"team": "a"}), entry(selector={"team": "a", "at": "b"}, priority=1)

    want = "gets no endpoint: spec.endpoints[0] selects all that it selects, and comes before it"
    assert said(service(wide, narrow)) == [(f"{AT}[1].selector", "overlap", want)]
    assert said(service(narrow, wide)) == []


def test_endpoints_that_two_priorities_select_belong_to_the_first_entry() -> None:
    both = provider(labels={"provider": "outside", "region": "east"})
    one, two = entry(selector=OUTSIDE, priority=1), entry(selector={"region": "east"})

    owner = "spec.endpoints[0], which comes before it and has priority 1"
    want = f"selects outside too, but endpoints of both belong to {owner}"
    assert said(service(one, two), both) == [(f"{AT}[1].selector", "overlap", want)]
    assert codes(service(one, {**two, "priority": 0}), provider()) == [
        (f"{AT}[1].selector.matchLabels.region", "selects-nothing")
    ]
    weighted = service({**one, "priority": 0, "weight": 1}, {**two, "weight": 1})
    assert said(weighted, both) == []


def test_priorities_on_one_cluster_are_lost_together() -> None:
    tiers = service(entry("v1"), entry("v3", priority=1))
    other = deployment("v3", "--model=org/v1")
    east, west = cluster("east", site="a"), cluster("west", site="b")

    want = "has priority 1, whose endpoints are on cluster east only, as those of priority 0: if the cluster is lost,"
    assert said(tiers, V1, other, east) == [(f"{AT}[1]", "no-protection", f"{want} both are")]
    assert said(tiers, V1, other, east, west) == []
    pinned = [edited(one, "spec.clusterSelector", {"matchLabels": {"site": "a"}}) for one in (V1, other)]
    assert codes(tiers, *pinned, east, west) == [(f"{AT}[1]", "no-protection")]
    assert said(tiers, V1, pinned[1], east, west) == []
    assert said(tiers, V1, other) == []


def test_a_provider_protects_from_the_loss_of_a_cluster() -> None:
    tiers = service(entry("v1"), entry(selector=OUTSIDE, priority=1))
    assert said(tiers, V1, provider(), cluster("east")) == []


def test_a_proxy_has_room_for_two_hundred_endpoints() -> None:
    """A deployment has a hundred replicas at most."""

    def told(*replicas: int) -> list[tuple[str, str, str]]:
        same = [edited(deployment(f"d{i}", "--model=org/m"), "spec.replicas", n) for i, n in enumerate(replicas)]
        return said(
            service(entry(selector={"of": "m"})), *(edited(one, "metadata.labels", {"of": "m"}) for one in same)
        )

    want = "match 201 endpoints, but a service's proxy has room for 200; the others get no traffic"
    assert (told(100, 100), told(100, 100, 1)) == ([], [(AT, "endpoints", want)])


def test_the_samples_are_of_our_group() -> None:
    assert {one["apiVersion"] for one in (V1, provider(), service(entry("v1")), DEPLOYMENT)} == {GROUP}
