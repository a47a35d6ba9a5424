"""What goes into an egress proxy's files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.manifests.envoy import egress, places
from function.manifests.envoy.upstream import Key, Upstream


def bootstrap(**more: Any) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(files(**more)[places.BOOTSTRAP_FILE])
    return config


def files(**more: Any) -> dict[str, str]:
    key = Key(secret=egress.CREDENTIAL, header="Authorization", prefix="Bearer ")
    given = {"host": "api.example.com", "port": 443, "address_type": "FQDN", "tls": True, "key": key}
    return egress.files(node="ml-team/outside", to=Upstream(**{**given, **more}))


def route(config: dict[str, Any]) -> dict[str, Any]:
    [chain] = config["static_resources"]["listeners"][0]["filter_chains"]
    [manager] = chain["filters"]
    [host] = manager["typed_config"]["route_config"]["virtual_hosts"]
    found: dict[str, Any] = host["routes"][0]["route"]
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
