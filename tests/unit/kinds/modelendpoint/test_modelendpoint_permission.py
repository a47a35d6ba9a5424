"""Whose lists an endpoint goes by, and what it waits for."""

from __future__ import annotations

from typing import Any

import pytest

from function import registry
from function.core import Request, Result
from tests.support.samples import controller, of

ADDRESS = "http://10.1.2.3/v1"
OWNER = controller("ModelDeployment", "qwen")
DENYING = of("InferenceGateway", {"egress": {"deny": ["10.0.0.0/8"]}}, "default", namespace=None)


def composed(url: str, *gateways: dict[str, Any], owner: dict[str, Any] | None = None, asked: bool = True) -> Result:
    """What is composed once the gateway was looked up, if it was."""
    xr = of("ModelEndpoint", {"url": url}, owner=owner)
    return registry.compose(Request(xr=xr, required={"gateway": gateways} if asked else {}))


def said(result: Result) -> str:
    [condition] = result.conditions
    return f"{condition.reason}: {condition.message}"


def test_until_the_gateway_is_looked_up_nothing_is_decided() -> None:
    got = composed(ADDRESS, asked=False)
    assert [str(required) for required in got.requirements] == ["InferenceGateway default"]
    assert said(got) == "WaitingForBackend: Crossplane has not looked up InferenceGateway default yet"
    assert got.resources == {}


def test_until_the_gateway_is_looked_up_what_serves_stays() -> None:
    first = composed(ADDRESS)
    observed = {key: one.manifest for key, one in first.resources.items()}
    serving = composed(ADDRESS)
    xr = of("ModelEndpoint", {"url": ADDRESS}) | {"status": dict(serving.status) | {"serving": True}}
    got = registry.compose(Request(xr=xr, observed=observed))
    assert got.resources.keys() == observed.keys()


@pytest.mark.parametrize("gateways", [(), (of("InferenceGateway", {}, "default", namespace=None),)])
def test_without_lists_the_built_in_ones_apply(gateways: tuple[dict[str, Any], ...]) -> None:
    assert said(composed(ADDRESS, *gateways)).startswith("WaitingForBackend: Waiting for service")
    assert said(composed("http://vllm.other.svc/v1", *gateways)).startswith("InvalidURL: ")
    assert said(composed("http://127.0.0.1/v1", *gateways)).startswith("InvalidURL: ")


def test_the_endpoints_of_replicas_ask_for_no_gateway() -> None:
    """They lead to what InferenceClusters publish, and there are thousands."""
    got = composed(ADDRESS, DENYING, owner=OWNER, asked=False)
    assert got.requirements == ()
    assert said(got).startswith("WaitingForBackend: Waiting for service")
    assert said(composed(ADDRESS, DENYING)).startswith("InvalidURL: ")


def test_the_endpoint_of_a_replica_still_leads_to_no_metadata_service() -> None:
    assert said(composed("http://169.254.169.254/v1", owner=OWNER)).startswith("InvalidURL: ")


def test_that_there_is_no_gateway_is_looked_up_twice_before_an_edit_is_taken() -> None:
    """A look-up that missed it would let the edit past its lists."""
    before = composed("http://192.0.2.1/v1")
    status = {"serving": True, "routing": {"backendName": "x", "upstream": {"host": "192.0.2.1", "port": 80}}}
    xr = of("ModelEndpoint", {"url": ADDRESS}) | {"status": status}
    observed = {key: one.manifest for key, one in before.resources.items()}
    first = registry.compose(Request(xr=xr, observed=observed, required={"gateway": (), "services": ()}))
    assert "the edit waits until a second look-up confirms that" in said(first)

    noted = {key: one.manifest for key, one in first.resources.items()}
    second = registry.compose(Request(xr=xr, observed=noted, required={"gateway": (), "services": ()}))
    assert said(second) == "BackendConfigured: Traffic is routed to 10.1.2.3:80"
    assert second.resources.keys() == observed.keys()
