"""A service's own proxy: when requests pass it, what it may be asked for, and when an endpoint has left it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from function.core import Manifest, Request, Result, dig, plain
from function.kinds.modelservice import compose, members, proxy
from function.manifests.envoy import places
from function.vocabulary import labels, names
from tests.support import services as s

XR = {**s.service(s.of_deployment("qwen")), "spec": {"endpoints": [{"selector": {"matchLabels": {"x": "y"}}}]}}
NOW = 1_800_000_000.0


def service(**spec: Any) -> dict[str, Any]:
    return {**XR, "spec": {**XR["spec"], "retry": {}, **spec}}


def endpoint(name: str, *, secret: str = "", **more: Any) -> dict[str, Any]:
    """An endpoint that published how a proxy reaches it; one with a Secret is an outside provider's."""
    found = s.endpoint(name, x="y")
    auth = {"secretRef": {"name": secret, "key": "api-key"}, "header": "Authorization", "scheme": "Bearer"}
    upstream = {
        "host": f"{name}.example.com",
        "port": 443,
        "addressType": "FQDN",
        "tls": True,
        **({"auth": auth} if secret else {}),
        **more,
    }
    return {**found, "status": {**found["status"], "routing": {**found["status"]["routing"], "upstream": upstream}}}


def running(observed: Mapping[str, Manifest], *, rolled: bool = True, available: int = 2) -> dict[str, Manifest]:
    """What is observed, with a status of the proxy's Deployment, and of the route."""
    found = {key: plain(one) for key, one in observed.items()}
    pods = {
        "observedGeneration": 1,
        "replicas": 2,
        "updatedReplicas": 2 if rolled else 1,
        "availableReplicas": available,
    }
    if proxy.PODS in found:
        found[proxy.PODS] = {**found[proxy.PODS], "status": pods}
    said = [{"type": kind, "status": "True", "observedGeneration": 1} for kind in ("Accepted", "ResolvedRefs")]
    parent = {"parentRef": {"namespace": names.SYSTEM_NAMESPACE, "name": names.CONTROL_GATEWAY}, "conditions": said}
    found[compose.ROUTE] = {**found[compose.ROUTE], "status": {"parents": [parent]}}
    return found


def step(request: Request, *world: Manifest, **status: Any) -> tuple[Request, Result]:
    """One reconcile, and the request of the next."""
    result = s.reconciled(request, [s.GATEWAY, *world])
    following = s.after(request, result)
    xr = {**request.xr, "status": plain(result.status)}
    return replace(following, xr=xr, observed=running(following.observed, **status)), result


def proxied(*world: Manifest, xr: Manifest, at: float = 0.0) -> Request:
    """The request of a service whose route leads to its proxy."""
    request = Request(xr=xr, at=at)
    for _ in range(3):
        request, _result = step(request, *world)
    assert compose.routed(request.observed[compose.ROUTE]) == {names.proxy(request.identity)}
    return request


def led(result: Result) -> set[str]:
    """The endpoints that the proxy's configuration leads to."""
    return set(members.record(result.resources[proxy.CONFIG].manifest))


def mounted(result: Result) -> set[str]:
    pods = result.resources[proxy.PODS].manifest
    return {
        volume["secret"]["secretName"] for volume in pods["spec"]["template"]["spec"]["volumes"] if "secret" in volume
    }


@pytest.mark.parametrize(
    "asked",
    [{"retry": {}}, {"ejection": {}}, {"usage": {}}, {"endpoints": [{"model": "m", **XR["spec"]["endpoints"][0]}]}],
)
def test_what_a_route_cannot_do_gets_a_proxy(asked: dict[str, Any]) -> None:
    _, result = step(Request(xr={**XR, "spec": {**XR["spec"], **asked}}), endpoint("a"))
    assert set(proxy.KEYS) <= result.resources.keys()


def test_what_a_route_can_do_gets_none() -> None:
    _, result = step(Request(xr=XR), endpoint("a"))
    assert not set(proxy.KEYS) & result.resources.keys()


def test_a_service_that_is_served_keeps_its_route_until_the_proxy_runs() -> None:
    request, _ = step(Request(xr=XR), endpoint("a"))
    request, _ = step(replace(request, xr=service()), endpoint("a"), available=0)
    _, result = step(request, endpoint("a"))
    assert s.routed(result) == {"a"}
    request, _ = step(request, endpoint("a"), available=1)
    _, result = step(request, endpoint("a"))
    assert compose.routed(result.resources[compose.ROUTE].manifest) == {names.proxy(request.identity)}


def test_a_new_service_is_not_served_without_its_proxy() -> None:
    """Callers, names and retries are not known at the gateway."""
    request, _ = step(Request(xr=service()), endpoint("a"), available=0)
    _, result = step(request, endpoint("a"))
    assert compose.routed(result.resources[compose.ROUTE].manifest) == {compose.placeholder(request.identity)}


def test_a_proxy_starts_with_its_first_endpoint() -> None:
    """Pods that run already would take requests before they read that there is an endpoint."""
    request, waiting = step(Request(xr=service()))
    assert not set(proxy.KEYS) & waiting.resources.keys()
    _, started = step(request, endpoint("a"))
    assert set(proxy.KEYS) <= started.resources.keys()
    assert led(started) == {"a"}


def test_a_proxy_that_ran_out_of_endpoints_keeps_running() -> None:
    """The service is ready again only once the configuration has the endpoint that came back."""
    starting = endpoint("a")
    starting["status"]["serving"] = False
    request, gone = step(proxied(endpoint("a"), xr=service()), starting)
    assert (led(gone), proxy.PODS in gone.resources) == (set(), True)
    request, back = step(request, endpoint("a"))
    assert (led(back), back.ready) == ({"a"}, False)
    _, later = step(request, endpoint("a"))
    assert later.ready


def test_a_proxy_whose_pods_all_fail_keeps_the_route() -> None:
    """The gateway would pass requests on to endpoints without asking who calls."""
    request = proxied(endpoint("a"), xr=service())
    request = replace(request, observed=running(request.observed, available=0))
    _, result = step(request, endpoint("a"))
    assert compose.routed(result.resources[compose.ROUTE].manifest) == {names.proxy(request.identity)}


def test_an_endpoint_that_did_not_publish_how_it_is_reached_keeps_a_direct_route() -> None:
    """An earlier version composed it: the proxy takes over once it can reach all that the route reaches."""
    older = s.endpoint("b", x="y")
    request, _ = step(Request(xr=XR), endpoint("a"), older)
    request, _ = step(replace(request, xr=service()), endpoint("a"), older)
    _, result = step(request, endpoint("a"), older)
    assert (s.routed(result), led(result)) == ({"a", "b"}, {"a"})


def test_a_new_secret_is_mounted_everywhere_before_it_is_needed() -> None:
    request = proxied(endpoint("a", secret="one"), xr=service())
    new = (endpoint("a", secret="one"), endpoint("b", secret="two"))
    request, result = step(request, *new, rolled=False)
    assert (led(result), mounted(result)) == ({"a"}, {"one", "two"})
    request, result = step(request, *new)
    assert led(result) == {"a"}, "one pod has not mounted it yet"
    request, result = step(request, *new)
    assert led(result) == {"a", "b"}


def test_an_endpoint_is_reached_as_before_until_its_new_secret_is_mounted() -> None:
    request = proxied(endpoint("a", secret="one"), xr=service())
    edited = endpoint("a", secret="two", host="new.example.com")
    request, result = step(request, edited)
    before = members.record(result.resources[proxy.CONFIG].manifest)["a"]
    assert (before["host"], mounted(result)) == ("a.example.com", {"one", "two"})
    request, result = step(request, edited)
    assert members.record(result.resources[proxy.CONFIG].manifest)["a"]["host"] == "new.example.com"
    _, result = step(request, edited)
    assert mounted(result) == {"two"}


def test_a_new_value_or_endpoint_rolls_no_pod() -> None:
    request = proxied(endpoint("a"), xr=service())
    before = request.observed[proxy.PODS]["spec"]
    _, result = step(request, endpoint("a"), endpoint("b"))
    assert (led(result), result.resources[proxy.PODS].manifest["spec"]) == ({"a", "b"}, before)


def test_a_withdrawn_endpoint_may_get_requests_until_pods_have_read_that() -> None:
    """Nothing tells when: a kubelet takes up to a minute and a half."""
    request = proxied(endpoint("a"), endpoint("b"), xr=service(), at=NOW)
    leaving = {**endpoint("b"), "metadata": {**endpoint("b")["metadata"], "annotations": {labels.LEAVING: "-"}}}
    for later, want in ((0, ["a", "b"]), (60, ["a", "b"]), (119, ["a", "b"]), (121, ["a"])):
        request, result = step(replace(request, at=NOW + later), endpoint("a"), leaving)
        assert (led(result), result.status["routed"]) == ({"a"}, want), later
    _, result = step(replace(request, at=NOW + 122), endpoint("a"), leaving)
    assert "annotations" not in result.resources[proxy.CONFIG].manifest["metadata"]


def test_offline_a_withdrawn_endpoint_is_gone_at_once() -> None:
    request = proxied(endpoint("a"), endpoint("b"), xr=service())
    leaving = {**endpoint("b"), "metadata": {**endpoint("b")["metadata"], "annotations": {labels.LEAVING: "-"}}}
    request, _ = step(request, endpoint("a"), leaving)
    _, result = step(request, endpoint("a"), leaving)
    assert result.status["routed"] == ["a"]


def test_an_endpoint_that_comes_back_is_not_withdrawn_any_more() -> None:
    request = proxied(endpoint("a"), endpoint("b"), xr=service(), at=NOW)
    leaving = {**endpoint("b"), "metadata": {**endpoint("b")["metadata"], "annotations": {labels.LEAVING: "-"}}}
    request, _ = step(request, endpoint("a"), leaving)
    _, result = step(request, endpoint("a"), endpoint("b"))
    assert "annotations" not in result.resources[proxy.CONFIG].manifest["metadata"]


def test_more_endpoints_than_a_route_has_room_for_get_a_proxy_and_keep_it() -> None:
    many = [endpoint(f"e{i:02}") for i in range(17)]
    request = proxied(*many, xr=XR)
    request, result = step(request, *many[:16])
    assert set(proxy.KEYS) <= result.resources.keys(), "one endpoint less does not change everything back"
    _, result = step(request, *many[:8])
    assert s.routed(result) == {f"e{i:02}" for i in range(8)}


def test_the_proxy_stays_until_the_gateway_leads_elsewhere() -> None:
    request = proxied(endpoint("a"), xr=service())
    back = replace(request, xr={**XR, "status": request.xr["status"]})
    request, result = step(back, endpoint("a"))
    assert (s.routed(result), set(proxy.KEYS) <= result.resources.keys()) == ({"a"}, True)
    route = request.observed[compose.ROUTE]
    late = {**route, "metadata": {**route["metadata"], "generation": 2}}
    _, result = step(replace(request, observed={**request.observed, compose.ROUTE: late}), endpoint("a"))
    assert set(proxy.KEYS) <= result.resources.keys(), "the gateway has not accepted the route yet"
    _, result = step(request, endpoint("a"))
    assert not set(proxy.KEYS) & result.resources.keys()


@pytest.mark.slow
def test_as_many_endpoints_as_there_is_room_for_fit_into_a_config_map() -> None:
    """With the longest names and paths that an endpoint may have, fewer fit, and the rest is left out."""
    long = {"basePath": f"/{'p' * 1000}", "query": {f"q{i}": "v" * 256 for i in range(16)}, "model": "m" * 253}
    many = [endpoint(f"e{i:03}", secret=f"s{i % 40}", **long) for i in range(proxy.MOST)]
    _, result = step(Request(xr=service()), *many)
    config = result.resources[proxy.CONFIG].manifest["data"]
    assert 10 < len(led(result)) < proxy.MOST
    assert sum(map(len, config.values())) < 1_048_576
    replica = {"host": "203.0.113.7", "port": 80, "addressType": "IPv4", "tls": False}
    usual = [endpoint(f"qwen3-235b-{i:03}", **replica, rewritePath=f"/ml-team/{i:03}/") for i in range(proxy.MOST)]
    _, result = step(Request(xr=service()), *usual)
    assert len(led(result)) == proxy.MOST


def test_no_key_stands_in_what_is_composed() -> None:
    """Only the names of Secrets do: their values are not read."""
    _, result = step(Request(xr=service()), endpoint("a", secret="provider"))
    asked = {required.kind for required in result.requirements}
    assert "Secret" not in asked
    [volume] = [v for v in dig(result.resources[proxy.PODS].manifest, *TEMPLATE, "volumes") if "secret" in v]
    assert volume["secret"]["optional"] is True
    assert places.SECRETS_DIRECTORY + "/provider/api-key" in json.dumps(result.resources[proxy.CONFIG].manifest)


TEMPLATE = ("spec", "template", "spec")


def test_what_the_pods_cannot_be_created_for_is_told() -> None:
    request, _ = step(Request(xr=service()), endpoint("a"), available=0)
    pods = request.observed[proxy.PODS]
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: pods"}
    broken = {**pods, "status": {**pods["status"], "conditions": [failure]}}
    _, result = step(replace(request, observed={**request.observed, proxy.PODS: broken}), endpoint("a"))
    [said] = [one.message for one in result.conditions if one.type == "RoutingReady"]
    assert "exceeded quota: pods" in said
    assert "needs one for retry" in said


def test_no_proxy_runs_in_a_namespace_of_the_infrastructure() -> None:
    """Its pods could mount Secrets there. One that runs stays, as the namespace may have been reserved since."""
    there = {**service(), "metadata": {**XR["metadata"], "namespace": "kube-system"}}
    own = {**endpoint("a"), "metadata": {**endpoint("a")["metadata"], "namespace": "kube-system"}}
    request, result = step(Request(xr=service()), endpoint("a"))
    result = s.reconciled(Request(xr=there), [s.GATEWAY, own])
    [said] = [one for one in result.conditions if one.type == "EndpointsResolved"]
    assert (said.reason, set(proxy.KEYS) & result.resources.keys()) == ("InvalidSpec", set())
    kept = s.reconciled(replace(request, xr=there), [s.GATEWAY, own])
    assert set(proxy.KEYS) <= kept.resources.keys()


def test_no_more_files_are_watched_than_a_node_lets_a_user_watch() -> None:
    """Envoy aborts when inotify instances run out, and would take all endpoints along."""
    many = [
        endpoint(f"e{i:02}", caSecretRef={"name": f"s{i:02}", "key": "ca.crt"})
        for i in range(proxy.MOST_AUTHORITIES + 5)
    ]
    _, result = step(Request(xr=service()), *many)
    assert 10 <= len(mounted(result)) <= proxy.MOST_AUTHORITIES
    request = proxied(*many, xr=service())
    _, result = step(request, *many)
    [said] = [one for one in result.conditions if one.type == "RoutingReady"]
    assert said.reason == "TooManyEndpoints"
    assert said.message == (
        "http://192.0.2.80/ml-team/qwen is routed to 14 of 21 endpoints, the most that a proxy can have; "
        "no traffic goes to e14, e15, e16, e17, e18 and 2 more"
    )
    same = [endpoint(f"e{i:02}", secret=f"s{i:02}", caSecretRef={"name": "ca", "key": "ca.crt"}) for i in range(40)]
    _, result = step(Request(xr=service()), *same)
    assert len(led(result)) == len(same)
