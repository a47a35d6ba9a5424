"""Which addresses a service's proxy connects to: the rules of each endpoint's name, and their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.core import Manifest, Request
from function.kinds.modelservice import inputs, proxy
from tests.support import services as s
from tests.support.samples import controller

SERVICE = {**s.service({"x": "y"}), "spec": {"endpoints": [{"selector": {"matchLabels": {"x": "y"}}}], "retry": {}}}
LISTS = {"allow": ["10.1.0.0/16", "vouched.example.com"], "deny": ["10.0.0.0/8"]}
LONGEST = {
    "allow": [f"fd00:{number:x}::/32" for number in range(64)],
    "deny": [f"10.{number}.0.0/16" for number in range(64)],
}


def gateway(**lists: Any) -> Manifest:
    return {**s.GATEWAY, "spec": {"backend": "Traefik", "egress": lists}}


def endpoint(name: str, host: str, *, is_replicas: bool = False, address_type: str = "FQDN") -> dict[str, Any]:
    found = s.endpoint(name, x="y")
    upstream = {"host": host, "port": 80, "addressType": address_type, "rewritePath": "/"}
    metadata = found["metadata"]
    if is_replicas:
        metadata = {**metadata, "ownerReferences": [controller("ModelDeployment", "qwen")]}
    routing = {**found["status"]["routing"], "upstream": upstream}
    return {**found, "metadata": metadata, "status": {**found["status"], "routing": routing}}


def files(*world: Manifest, lists: dict[str, Any] | None = None) -> dict[str, str]:
    """The configuration of the service's proxy."""
    result = s.reconciled(Request(xr=SERVICE), [gateway(**(lists or LISTS)), *world])
    found: dict[str, str] = result.resources[proxy.CONFIG].manifest["data"]
    return found


def rules(found: dict[str, str], endpoint: str) -> str | None:
    """The name of the rules that an endpoint's cluster refers to."""
    clusters = {one["name"]: one for one in json.loads(found["clusters.json"])["resources"]}
    [options] = clusters[f"endpoint/{endpoint}"]["typed_extension_protocol_options"].values()
    return next((one["name"] for one in options.get("http_filters", ()) if "config_discovery" in one), None)


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (endpoint("a", "api.example.com"), "addresses"),
        (endpoint("a", "vouched.example.com"), "addresses-of-allowed-names"),
        (endpoint("a", "vllm"), "addresses"),
        (endpoint("a", "10.2.3.4", address_type="IPv4"), None),
        (endpoint("a", "a1.elb.example.com", is_replicas=True), None),
    ],
    ids=["a-name", "an-allowed-name", "a-short-name", "an-address", "a-replica"],
)
def test_a_name_that_a_user_wrote_is_checked_by_its_addresses(given: dict[str, Any], want: str | None) -> None:
    """An address was checked in its URL: if it is denied since, it serves on."""
    assert rules(files(given), "a") == want


def test_all_endpoints_share_the_rules() -> None:
    """Rules in every cluster would not fit into a ConfigMap."""
    found = files(endpoint("a", "a.example.com"), endpoint("b", "b.example.com"))
    assert {name for name in found if name.startswith("addresses")} == {
        "addresses.json",
        "addresses-of-allowed-names.json",
    }
    assert ("10.1.0.0" in found["addresses.json"], "10.1.0.0" in found["clusters.json"]) == (True, False)


def test_a_changed_list_changes_no_pods() -> None:
    world = [endpoint("a", "a.example.com")]
    first, second = (
        s.reconciled(Request(xr=SERVICE), [gateway(**lists), *world]).resources for lists in (LISTS, LONGEST)
    )
    assert first[proxy.CONFIG].manifest["data"] != second[proxy.CONFIG].manifest["data"]
    assert first[proxy.PODS].manifest == second[proxy.PODS].manifest


def test_as_many_replicas_as_before_fit_beside_the_longest_lists() -> None:
    world = [endpoint(f"a{number}", f"a{number}.elb.example.com", is_replicas=True) for number in range(proxy.MOST)]
    found = files(*world, lists=LONGEST)
    assert len(json.loads(found["endpoints.json"])) == proxy.MOST


def test_without_lists_the_built_in_rules_apply() -> None:
    result = s.reconciled(Request(xr=SERVICE), [s.GATEWAY, endpoint("a", "a.example.com")])
    found = result.resources[proxy.CONFIG].manifest["data"]
    assert rules(found, "a") == "addresses"
    assert "169.254.0.0" in found["addresses.json"]
    assert inputs.policy(Request(xr=SERVICE, required={"gateway": ()})).deny == ()
