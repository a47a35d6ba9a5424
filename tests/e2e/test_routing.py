"""One URL for a model, told by real requests through real routes on a real control cluster."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import client, egress, fleet, inference, objects, openai, pins, pki, programs, relay
from tests.e2e.client import Answer
from tests.e2e.control import Control
from tests.e2e.egress import Mount
from tests.e2e.kube import Api, Object, Refused, condition, says
from tests.e2e.openai import StandIn
from tests.e2e.played_pods import playing
from tests.e2e.programs import Site
from tests.e2e.team import Team
from tests.e2e.waiting import PATIENCE, until

GATEWAY = "gateway.networking.k8s.io/v1"
ENDPOINT = "modelplane.ai/endpoint"
ADDRESS = programs.CONTROL_GATEWAY[0]
STAND_INS = "198.18.2.1"
PROXIES = "198.18.2.2"
ENGINE_PORT = 8000
LONG = 2 * PATIENCE  # for what is asked again every 30 s, after a provider that looks every 10 s
HOST = "provider.localhost"  # resolves to loopback everywhere (RFC 6761)


@pytest.fixture(scope="module")
def gateway(published: Control, site: Site) -> Iterator[Object]:
    """The InferenceGateway of a control cluster that has Gateway API already, where something plays Traefik."""
    inference.install(published.api, site, pins.GATEWAY_API)
    process = programs.gateway(site, published.name, ADDRESS, 80, listener=programs.CONTROL_GATEWAY[1])
    manifest = objects.gateway()
    published.api.apply(manifest)
    until(
        lambda: (published.api.current(manifest) or {}).get("status", {}).get("address"),
        "the gateway to have an address",
        holds=lambda seen: seen == ADDRESS,
    )
    yield manifest
    site.processes.stop(process)


@pytest.fixture
def tenant(team: Team, gateway: Object) -> Iterator[Team]:
    yield from routed(team)


@pytest.fixture
def neighbour(other: Team, gateway: Object) -> Iterator[Team]:
    yield from routed(other)


def routed(team: Team) -> Iterator[Team]:
    """A tenant whose services and own endpoints are taken away in the end."""
    yield team
    for kind in ("ModelService", "ModelEndpoint"):
        for one in team.api.list(objects.GROUP, kind, team.namespace):
            if not one["metadata"].get("ownerReferences"):
                team.api.delete(one)


def serve(team: Team, name: str = "chat", *entries: tuple[int, dict[str, str]]) -> Object:
    """Apply a ModelService; without entries, over the deployment `qwen`."""
    chosen = entries or ((1, {"modelplane.ai/deployment": "qwen"}),)
    endpoints = [{"weight": weight, "selector": {"matchLabels": labels}} for weight, labels in chosen]
    manifest = objects.of("ModelService", name, team.namespace, endpoints=endpoints)
    team.api.apply(manifest)
    return manifest


def address(team: Team, service: Object) -> str:
    found: str = team.await_ready(service)["status"]["address"]
    return found


def endpoint(team: Team, name: str, url: str, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """Apply a ModelEndpoint; one that needs nothing but its URL is ready then."""
    manifest = objects.endpoint(name, team.namespace, url=url, **spec)
    manifest["metadata"]["labels"] = labels or {"model": "qwen"}
    team.api.apply(manifest)
    if not spec:
        team.await_ready(manifest)
    return manifest


@contextmanager
def stand_ins(*names: str) -> Iterator[dict[str, StandIn]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(openai.serving(name, STAND_INS)) for name in names}


@contextmanager
def engines(team: Team) -> Iterator[dict[str, StandIn]]:
    """A stand-in for the engine in every pod, at the pod's own address."""
    with ExitStack() as stack:
        yield {
            pod["metadata"]["name"]: stack.enter_context(
                openai.serving(pod["metadata"]["name"], pod["status"]["podIP"], ENGINE_PORT)
            )
            for pod in team.pods()
        }


# The gateway


def test_a_control_cluster_with_gateway_api_gets_a_gateway_at_once(published: Control, gateway: Object) -> None:
    """Its own CRDs stay as they are, and what a chart would install is asked for."""
    found = published.api.current(gateway)

    assert condition(found, "GatewayReady")["reason"] == "Installing"  # there is no provider-helm here
    release = traefik(published.api)
    assert release["spec"]["forProvider"]["chart"]["name"] == "traefik"
    kinds = published.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    theirs = [one for one in kinds if one["spec"]["group"] == "gateway.networking.k8s.io"]
    assert not [one for one in theirs if "app.kubernetes.io/managed-by" in one["metadata"].get("labels", {})]


def test_a_gateway_is_ready_once_its_release_is(published: Control, gateway: Object) -> None:
    release = traefik(published.api)
    said = [
        {"type": kind, "status": "True", "reason": "Played", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in ("Ready", "Synced")
    ]
    published.api.patch(release, {"status": {"conditions": said}}, "status")

    until(lambda: published.api.current(gateway), "the gateway to be ready", holds=lambda seen: says(seen, "Ready"))


def traefik(api: Api) -> Object:
    found = api.list("helm.m.crossplane.io/v1beta1", "Release", objects.SYSTEM)
    [release] = [one for one in found if one["spec"]["forProvider"]["chart"]["name"] == "traefik"]
    return release


# Services


def test_one_url_reaches_the_replicas_of_every_cluster(tenant: Team) -> None:
    """Through the control cluster's gateway, and each cluster's own, to the path that engines serve."""
    tenant.serving(replicas=2)
    with engines(tenant) as pods:
        url = address(tenant, serve(tenant))

        assert url == f"http://{ADDRESS}/{tenant.namespace}/chat"
        eventually(url, {Answer(200, name) for name in pods})
        assert {path for one in pods.values() for path in one.paths} == {"/v1/chat/completions"}


def test_weights_are_kept_and_each_endpoint_has_its_own_path(tenant: Team) -> None:
    with stand_ins("plain", "deep") as models:
        endpoint(tenant, "plain", f"http://{STAND_INS}:{models['plain'].port}/v1", {"weight": "three"})
        endpoint(tenant, "deep", f"http://{STAND_INS}:{models['deep'].port}/models/qwen/v1", {"weight": "one"})
        url = address(tenant, serve(tenant, "chat", (3, {"weight": "three"}), (1, {"weight": "one"})))

        got = Counter(client.ask(url).model for _ in range(80))

        assert got["plain"] + got["deep"] == 80
        assert 18 <= got["deep"] <= 22
        assert set(models["plain"].paths) == {"/v1/chat/completions"}
        assert set(models["deep"].paths) == {"/models/qwen/v1/chat/completions"}


def test_endpoints_come_and_go_and_the_url_stays(tenant: Team) -> None:
    """Without any endpoint it answers 503, and says so; with one again it answers."""
    with stand_ins("first", "second") as models:
        first, second = (endpoint(tenant, name, f"http://{STAND_INS}:{one.port}/v1") for name, one in models.items())
        service = serve(tenant, "chat", (1, {"model": "qwen"}))
        url = address(tenant, service)
        eventually(url, {Answer(200, "first"), Answer(200, "second")})

        tenant.api.delete(second)
        eventually(url, {Answer(200, "first")})

        tenant.api.delete(first)
        tenant.await_condition(service, "RoutingReady", "WaitingForBackend")
        eventually(url, {Answer(503, "")})
        found = tenant.api.current(service)
        assert found is not None
        assert (found["status"]["address"], says(found, "Ready")) == (url, False)

        tenant.api.apply(first)
        tenant.await_ready(first)
        eventually(url, {Answer(200, "first")})


def test_an_answer_is_passed_on_as_it_comes(tenant: Team) -> None:
    """Each event arrives before the next is sent, through both gateways."""
    tenant.serving(replicas=1)
    with engines(tenant) as pods:
        [model] = pods.values()
        url = address(tenant, serve(tenant))

        with client.streaming(url) as events:
            for token in ("one", "two", "three"):
                model.say(token)
                assert next(events) == token
            model.say(None)
            assert list(events) == []


def test_tenants_with_the_same_names_never_meet(tenant: Team, neighbour: Team) -> None:
    with stand_ins("mine", "theirs") as models:
        urls = {}
        for team, model in ((tenant, "mine"), (neighbour, "theirs")):
            endpoint(team, "qwen", f"http://{STAND_INS}:{models[model].port}/v1")
            urls[model] = address(team, serve(team, "chat", (1, {"model": "qwen"})))

        got = {name: {client.ask(url).model for _ in range(6)} for name, url in urls.items()}

        assert got == {"mine": {"mine"}, "theirs": {"theirs"}}


def test_a_name_that_is_the_beginning_of_another_is_no_prefix_of_it(tenant: Team) -> None:
    with stand_ins("short", "long") as models:
        for name, model in (("chat", "short"), ("chat-long", "long")):
            endpoint(tenant, model, f"http://{STAND_INS}:{models[model].port}/v1", {"is": model})
            address(tenant, serve(tenant, name, (1, {"is": model})))

        base = f"http://{ADDRESS}/{tenant.namespace}"
        got = [client.ask(f"{base}/{name}") for name in ("chat", "chat-long", "chat-other")]

        assert got == [Answer(200, "short"), Answer(200, "long"), Answer(404, "")]


# Outside providers


def test_an_outside_provider_is_asked_with_a_key_that_no_route_holds(tenant: Team, site: Site, tmp_path: Path) -> None:
    """The pods of its proxy are played here: by an Envoy with what was composed, and what a kubelet would report."""
    pki.certify(site.pki.folder, "outside", "-CA", "ca.crt", "-CAkey", "ca.key", f"-addext=subjectAltName=DNS:{HOST}")
    with openai.serving("outside", certificate=site.pki.folder / "outside.crt") as provider:
        auth = {"secretRef": {"name": "provider", "key": "token"}}
        outside = endpoint(tenant, "outside", f"https://{HOST}:{provider.port}/v1", auth=auth)
        said = tenant.await_condition(outside, "RoutingReady", "WaitingForBackend")
        until(
            lambda: condition(tenant.api.current(outside), "RoutingReady")["message"],
            "it to say what it needs",
            holds=lambda seen: f"key token of Secret {tenant.namespace}/provider" in seen,
        )
        service = serve(tenant, "chat", (1, {"model": "qwen"}))
        tenant.await_condition(service, "RoutingReady", "WaitingForBackend")

        mount = Mount(tmp_path / "credential")
        mount.write(key="sk-of-the-tenant")
        play_kubelet(tenant, site, mount)
        tenant.await_ready(outside)
        with playing(tenant, site, provider={"token": "sk-of-the-tenant"}):  # the proxy of the service takes over
            url = address(tenant, service)
            got = client.ask(url, Authorization="Bearer of-the-client")

        assert got == Answer(200, "outside")
        [asked] = provider.asked
        assert (asked.path, asked.server_name) == ("/v1/chat/completions", HOST)
        assert asked.headers["host"] == f"{HOST}:{provider.port}"
        assert asked.headers["authorization"] == "Bearer sk-of-the-tenant"
        assert "sk-of-the-tenant" not in str([said, *everything(tenant)])


def play_kubelet(team: Team, site: Site, mount: Mount) -> None:
    """Run a proxy as its Deployment says, report that its pods are available, and write the slice of its Service."""
    mine = {ENDPOINT: "outside"}
    [config_map] = team.api.list("v1", "ConfigMap", team.namespace, mine)
    [deployment] = team.api.list("apps/v1", "Deployment", team.namespace, mine)
    [service] = team.api.list("v1", "Service", team.namespace, mine)
    proxy = egress.start(site, egress.composed(config_map, deployment), mount, site.pki.authority, PROXIES)
    until(lambda: proxy.is_ready, "the proxy to be ready")
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 2)
    team.api.patch(
        deployment, {"status": {**counts, "observedGeneration": deployment["metadata"]["generation"]}}, "status"
    )
    team.api.apply(
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": service["metadata"]["name"],
                "namespace": team.namespace,
                "labels": {"kubernetes.io/service-name": service["metadata"]["name"]},
            },
            "addressType": "IPv4",
            "endpoints": [{"addresses": [PROXIES], "conditions": {"ready": True}}],
            "ports": [{"name": service["spec"]["ports"][0]["name"], "port": proxy.port, "protocol": "TCP"}],
        }
    )


def everything(team: Team) -> list[Object]:
    """All that our function wrote for a tenant on the control cluster."""
    kinds = (
        (objects.GROUP, "ModelEndpoint"),
        (objects.GROUP, "ModelService"),
        (GATEWAY, "HTTPRoute"),
        ("v1", "ConfigMap"),
        ("v1", "Service"),
        ("apps/v1", "Deployment"),
    )
    return [one for kind in kinds for one in team.api.list(*kind, team.namespace)]


# A lost cluster


def test_one_url_three_clusters_one_lost(tenant: Team, cluster: Api) -> None:
    """The API server of one cluster is cut off: its replica leaves the route, and comes back when it is mended."""
    with relay.to(cluster.port) as way, third_cluster(tenant, cluster, way):
        tenant.serving(replicas=3)
        assert tenant.clusters() == ["east", "north", "west"]
        service = serve(tenant)
        with engines(tenant) as pods:
            url = address(tenant, service)
            eventually(url, {Answer(200, pod) for pod in pods})

            way.cut()
            lost = await_remark(tenant, service, "do not answer", is_there=True)
            assert "connection refused" in lost
            seen = until(lambda: answering(url), "two to answer", holds=lambda seen: len(seen) == 2)
            assert seen < {Answer(200, pod) for pod in pods}
            assert says(tenant.api.current(service), "Ready")

            way.mend()
            await_remark(tenant, service, "do not answer", is_there=False)
            eventually(url, {Answer(200, pod) for pod in pods})
        tenant.api.delete(service)


@contextmanager
def third_cluster(team: Team, cluster: Api, way: relay.Relay) -> Iterator[None]:
    """A cluster that is reached through a relay, for as long as the block lasts."""
    north = objects.cluster(fleet.NORTH)
    kubeconfig = cluster.from_outside().replace(f":{cluster.port}", f":{way.port}")
    team.api.apply(objects.secret(north["metadata"]["name"], kubeconfig=kubeconfig), north)
    try:
        team.await_ready(north)
        _await_sight(team)
        yield
    finally:
        if way.listener is None:
            way.mend()
        for deployment in team.api.list(objects.GROUP, "ModelDeployment", team.namespace):
            team.api.delete(deployment)
        until(team.leftovers, "nothing to be left", holds=lambda seen: not seen, seconds=LONG)
        until(lambda: gone(team, north), "the cluster to go", seconds=LONG)


def _await_sight(team: Team) -> None:
    """Wait until the function is handed the third cluster. Ready is what the API server says; a function is given what
    Crossplane's own cache has seen, and a replica that is placed before that is right where it is.
    """
    selector = {"matchLabels": dict(fleet.NORTH.labels)}
    only_there = objects.deployment("only-north", team.namespace, replicas=1, clusterSelector=selector)
    team.api.apply(only_there)
    until(
        lambda: team.clusters("only-north"),
        "a replica on it",
        holds=lambda seen: seen == [fleet.NORTH.name],
        seconds=LONG,
    )
    team.api.delete(only_there)
    until(team.leftovers, "nothing to be left", holds=lambda seen: not seen, seconds=LONG)


def gone(team: Team, cluster: Object) -> bool:
    """A delete is refused for as long as the cluster is guarded."""
    if "deletionTimestamp" not in ((team.api.current(cluster) or {}).get("metadata") or {}):
        with suppress(Refused):
            team.api.delete(cluster)
    return team.api.current(cluster) is None


def answering(url: str) -> set[Answer]:
    return {client.ask(url) for _ in range(9)}


def eventually(url: str, want: set[Answer]) -> None:
    """Without a watch on what it reads, a service asks again every 30 s."""
    until(lambda: answering(url), f"{len(want)} to answer", holds=lambda seen: seen == want, seconds=LONG)


def await_remark(team: Team, service: Object, words: str, *, is_there: bool) -> str:
    return until(
        lambda: str(condition(team.api.current(service), "RoutingReady").get("message")),
        f"{words!r} to be {'said' if is_there else 'over'}",
        holds=lambda seen: (words in seen) is is_there,
        seconds=LONG,
    )
