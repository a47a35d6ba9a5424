"""A service that asks for more than a route can do: its proxy comes, takes over, and goes, and no request is lost."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e import client, openai
from tests.e2e.client import Answer
from tests.e2e.egress import Mount
from tests.e2e.kube import Object, Refused
from tests.e2e.objects import changed
from tests.e2e.played_pods import SERVICE, playing
from tests.e2e.programs import Site
from tests.e2e.team import Team
from tests.e2e.test_routing import (
    ENDPOINT,
    ENGINE_PORT,
    GATEWAY,
    LONG,
    STAND_INS,
    address,
    endpoint,
    eventually,
    gateway,
    play_kubelet,
    serve,
    tenant,
)
from tests.e2e.test_withdrawal import asking
from tests.e2e.waiting import until

__all__ = ["gateway", "tenant"]  # fixtures

OWN = {"selector": {"matchLabels": {"modelplane.ai/deployment": "qwen"}}}
OUTSIDE = {"selector": {"matchLabels": {"model": "qwen"}}, "priority": 1}
KEY = "sk-of-the-tenant"


def test_a_service_gets_a_second_tier_and_gives_it_up_again(tenant: Team, site: Site, tmp_path: Path) -> None:
    """One client never stops asking: as the proxy takes over, as the first tier dies, and as the proxy goes."""
    tenant.serving(replicas=1)
    [pod] = tenant.pods()
    own = Answer(200, pod["metadata"]["name"])
    with ExitStack() as stack:
        provider = stack.enter_context(openai.serving("outside", STAND_INS))
        engine = stack.enter_context(ExitStack())
        engine.enter_context(openai.serving(own.model, pod["status"]["podIP"], ENGINE_PORT))
        service = serve(tenant)
        url = address(tenant, service)
        eventually(url, {own})
        assert (deployments(tenant, SERVICE), leads(tenant)) == ([], [backend(tenant)])

        outside = paid(tenant, site, provider.port, tmp_path)
        stack.enter_context(playing(tenant, site, provider={"token": KEY}))
        with asking(url) as answers:
            tenant.api.apply(tiered := changed(service, "spec.endpoints", [OWN, OUTSIDE]))
            until(
                lambda: egress(tenant, tiered),
                "the egress proxy to go",
                holds=lambda seen: seen == [],
                seconds=LONG,
            )
            tenant.await_ready(tiered)
            assert leads(tenant) == deployments(tenant, SERVICE)
            with pytest.raises(Refused, match="priorities start at 0"):
                tenant.api.apply(changed(tiered, "spec.endpoints.1.priority", 2))
            eventually(url, {own})

            engine.close()
            eventually(url, {Answer(200, "outside")})
            tenant.await_ready(outside)

            again = openai.serving(own.model, pod["status"]["podIP"], ENGINE_PORT)
            stack.enter_context(again)
            eventually(url, {own})
            tenant.api.apply(changed(service, "spec.endpoints", [OWN]))
            until(lambda: goes(tenant), "the service's proxy to go", holds=lambda seen: seen == [], seconds=LONG)
            assert client.ask(url) == own

    assert {one for one in answers if one.status != 200} == set()
    assert {one.model for one in answers} == {own.model, "outside"}
    assert {asked.headers["authorization"] for asked in provider.asked} == {f"Bearer {KEY}"}


def paid(team: Team, site: Site, port: int, folder: Path) -> Object:
    """An outside provider that runs behind a proxy of its own."""
    auth = {"secretRef": {"name": "provider", "key": "token"}}
    found = endpoint(team, "outside", f"http://{STAND_INS}:{port}/v1", auth=auth)
    team.await_condition(found, "RoutingReady", "WaitingForBackend")
    mount = Mount(folder / "credential")
    mount.write(token=KEY, key=KEY)
    play_kubelet(team, site, mount)
    return team.await_ready(found) and found


def egress(team: Team, service: Object) -> list[str]:
    """The egress proxies. One goes only once the service has said that it leads to the endpoint itself."""
    left = deployments(team, ENDPOINT)
    if not left:
        assert "outside" in ((team.api.current(service) or {})["status"].get("proxied") or {})
    return left


def goes(team: Team) -> list[str]:
    """The services' proxies. One goes only once the route leads to the endpoint."""
    left = deployments(team, SERVICE)
    if not left:
        assert leads(team) == [backend(team)]
    return left


def deployments(team: Team, label: str) -> list[str]:
    found = team.api.list("apps/v1", "Deployment", team.namespace)
    return [one["metadata"]["name"] for one in found if label in one["metadata"].get("labels", {})]


def leads(team: Team) -> list[str]:
    """The Services that the route leads to."""
    [route] = team.api.list(GATEWAY, "HTTPRoute", team.namespace)
    return [one["name"] for rule in route["spec"]["rules"] for one in rule["backendRefs"]]


def backend(team: Team) -> str:
    [found] = team.endpoints()
    return str(found["status"]["routing"]["backendName"])
