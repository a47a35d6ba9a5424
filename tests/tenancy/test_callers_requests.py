"""What a client cannot do with a request, in the configuration that is composed for proxies.

`make e2e` has real Envoys answer such requests (tests/e2e/test_request_paths.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from function import registry
from function.core import Request
from function.manifests.envoy import clients, places
from function.sandbox.settle import settle
from tests.tenancy.fleet import VICTIM, caller, endpoint, of, service, with_metadata

CLIMBS = ("/v1/..%2fx", "/v1/%2e%2e%2Fx", "/v1/x%2F..", "/v1/x%5c..%5cy", "/v1/.%2fx", "/..", "/v1/x%2f%2E./y")
STAYS = ("/v1/models/Qwen%2FQwen3-8B", "/v1/models/..hidden", "/v1/x..%2fy", "/v1/...%2fx", "/", "/v1/a.%2fb", "/v1//x")


def managers() -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Every connection manager of a port that others ask, with its routes."""
    outside = endpoint("spare", VICTIM, url="https://api.example.org/base", auth={"secretRef": {"name": "k"}})
    made = registry.compose(Request(xr=outside, required={"gateway": ()})).resources
    bootstrap = json.loads(made["egress-config"].manifest["data"][places.BOOTSTRAP_FILE])
    for listener in bootstrap["static_resources"]["listeners"]:
        if listener["name"] != "probe":
            manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
            yield "egress", manager, manager["route_config"]["virtual_hosts"][0]["routes"]
    data = service_data()
    for listener in json.loads(data[places.LISTENERS_FILE])["resources"]:
        if listener["name"] == "front":
            manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
            [routes] = json.loads(data[places.ROUTES_FILE])["resources"]
            yield "front", manager, routes["virtual_hosts"][0]["routes"]


def service_data() -> dict[str, str]:
    """The configuration of the proxy of a service that knows a caller."""
    known = caller("app", VICTIM)
    known["status"] = {"keys": [{"secretName": "key", "key": "api-key"}]}
    served = endpoint("spare", VICTIM)
    there = with_metadata(served, generation=1)
    upstream = {"host": "203.0.113.7", "port": 80, "addressType": "IPv4", "rewritePath": "/"}
    there["status"] = {
        "serving": True,
        "routing": {"backendName": "spare", "upstream": upstream},
        "conditions": [{"type": "Ready", "status": "True", "reason": "Available"}],
    }
    gateway = {**of("InferenceGateway", "default", "", backend="Traefik"), "status": {"address": "198.18.0.1"}}
    xr = service("chat", VICTIM, labels={"app": "spare"}, callers={})
    found = settle(registry.compose, Request(xr=xr), [gateway, there, known])
    data: dict[str, str] = found.resources["proxy-config"].manifest["data"]
    return data


MANAGERS = list(managers())
each = pytest.mark.parametrize(("manager", "routes"), [one[1:] for one in MANAGERS], ids=[one[0] for one in MANAGERS])


def test_both_kinds_of_proxies_are_read() -> None:
    assert [one[0] for one in MANAGERS] == ["egress", "front"]


@each
def test_a_path_is_resolved_before_it_is_routed(manager: dict[str, Any], routes: list[Any]) -> None:
    assert manager["normalize_path"] is True
    assert routes[0] == clients.CLIMBING


@each
def test_headers_by_which_proxies_decide_are_dropped_first(manager: dict[str, Any], routes: list[Any]) -> None:
    """Those of Envoy can make it repeat a request, which costs the provider's quota, and wait no longer for it."""
    [early] = manager["early_header_mutation_extensions"]
    assert [one["remove_on_match"]["key_matcher"]["prefix"] for one in early["typed_config"]["mutations"]] == [
        "x-mp-",
        "x-envoy-",
    ]
    assert routes


@pytest.mark.parametrize("path", [*CLIMBS, *STAYS])
def test_a_part_behind_an_encoded_slash_may_not_be_dots(path: str) -> None:
    pattern = clients.CLIMBING["match"]["safe_regex"]["regex"]

    assert bool(re.fullmatch(pattern, path)) == (path in CLIMBS)


def test_a_service_with_callers_lets_no_request_without_one_pass() -> None:
    """The guard comes before every route to an endpoint, so that a fault of the script opens nothing."""
    [routes] = [one[2] for one in MANAGERS if one[0] == "front"]
    kinds = ["route" if "route" in one else one["direct_response"]["status"] for one in routes]

    assert kinds[:2] == [400, 401]
    assert "route" in kinds
