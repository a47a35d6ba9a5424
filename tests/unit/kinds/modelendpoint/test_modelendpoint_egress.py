"""What goes into an egress proxy's files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.manifests.envoy import addresses, egress, places
from function.manifests.envoy.upstream import Key, Upstream
from function.vocabulary.egress import Policy

POLICY = Policy(allow=("10.1.0.0/16",), deny=("10.0.0.0/8",))


def bootstrap(**more: Any) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(files(**more)[places.BOOTSTRAP_FILE])
    return config


def files(policy: Policy = POLICY, **more: Any) -> dict[str, str]:
    key = Key(secret=egress.CREDENTIAL, header="Authorization", prefix="Bearer ")
    given = {"host": "api.example.com", "port": 443, "address_type": "FQDN", "tls": True, "key": key}
    return egress.files(node="ml-team/outside", to=Upstream(**{**given, **more}), policy=policy)


def route(config: dict[str, Any]) -> dict[str, Any]:
    [chain] = config["static_resources"]["listeners"][0]["filter_chains"]
    [manager] = chain["filters"]
    [host] = manager["typed_config"]["route_config"]["virtual_hosts"]
    found: dict[str, Any] = next(one["route"] for one in host["routes"] if "route" in one)
    return found


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({}, "api.example.com"),
        ({"port": 8443}, "api.example.com:8443"),
        ({"tls": False, "port": 80}, "api.example.com"),
        ({"tls": False, "port": 443}, "api.example.com:443"),
        ({"host": "2001:db8::1", "address_type": "IPv6"}, "[2001:db8::1]"),
        ({"host": "192.0.2.1", "address_type": "IPv4", "port": 8443}, "192.0.2.1:8443"),
    ],
)
def test_the_provider_is_asked_under_its_own_name(given: dict[str, Any], want: str) -> None:
    assert route(bootstrap(**given))["host_rewrite_literal"] == want


def test_an_address_is_no_server_name() -> None:
    """A server name must be a DNS name (RFC 6066): the certificate is for the address itself."""
    [cluster] = bootstrap(host="192.0.2.1", address_type="IPv4")["static_resources"]["clusters"]
    tls = cluster["transport_socket"]["typed_config"]
    [name] = tls["common_tls_context"]["validation_context"]["match_typed_subject_alt_names"]
    assert ("sni" in tls, name) == (False, {"san_type": "IP_ADDRESS", "matcher": {"exact": "192.0.2.1"}})


def test_without_a_key_there_is_no_file_for_one() -> None:
    composed = files(key=None)
    assert list(composed) == [places.BOOTSTRAP_FILE]
    assert "credential_injector" not in composed[places.BOOTSTRAP_FILE]


def test_an_answer_may_take_as_long_as_it_takes() -> None:
    assert route(bootstrap())["timeout"] == "0s"


def cluster(**more: Any) -> dict[str, Any]:
    found: dict[str, Any] = bootstrap(**more)["static_resources"]["clusters"][0]
    return found


def upstream_filters(found: dict[str, Any]) -> list[str]:
    [options] = found["typed_extension_protocol_options"].values()
    return [one["name"] for one in options.get("http_filters", [])]


def test_a_name_with_rules_has_a_host_for_each_address() -> None:
    """As one host, only the first of its addresses would be checked."""
    checked, free = cluster(rules=addresses.LISTED), cluster()
    assert upstream_filters(checked) == ["addresses", "envoy.filters.http.upstream_codec"]
    assert "all_addresses_in_single_endpoint" not in checked["cluster_type"]["typed_config"]
    assert upstream_filters(free) == []
    assert free["cluster_type"]["typed_config"]["all_addresses_in_single_endpoint"] is True


def test_another_address_is_tried_when_one_cannot_be_reached() -> None:
    policy = route(bootstrap(rules=addresses.LISTED))["retry_policy"]
    assert [one["name"] for one in policy["retry_host_predicate"]] == ["envoy.retry_host_predicates.previous_hosts"]


def test_a_changed_list_restarts_no_proxy() -> None:
    """Envoy reads the rules again by itself: a list of the platform team concerns every proxy of the fleet."""
    first, second = files(rules=addresses.LISTED), files(Policy(deny=("192.0.2.0/24",)), rules=addresses.LISTED)
    assert first != second
    assert egress.read_at_startup(first) == egress.read_at_startup(second)
    assert {*first} - {*egress.read_at_startup(first)} == {"addresses.json", "addresses-of-allowed-names.json"}


def test_without_rules_there_are_no_files_of_them() -> None:
    assert not any(map(addresses.is_rule_file, files()))
