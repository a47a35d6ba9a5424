"""What a service's front gets for callers, limits and usage, and what it does not get."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from function.manifests import proxies
from function.manifests.envoy import callers, places, service
from function.manifests.envoy.access import OPEN, Access
from function.manifests.envoy.callers import Caller, Callers, Limit
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.front import Front, Retry
from function.manifests.envoy.upstream import Upstream
from function.vocabulary.settings import Server

ALICE = Caller(name="alice", files=("/keys/alice/api-key",))
LIMITED = replace(ALICE, limits=(Limit(2_000_000, "Hour"), Limit(9, "Minute")))
SERVER = Server("ratelimit.infra.svc", 8081)
ENDPOINT = Endpoint(
    name="main",
    upstream=Upstream(host="192.0.2.1", port=80, address_type="IPv4", tls=False),
    weight=1,
    priority=0,
)


def known(*found: Caller, required: bool = True) -> Callers:
    return Callers(namespace="ml-team", required=required, callers=found)


def files(access: Access) -> dict[str, Any]:
    """The resources of each file, by name of the file."""
    front = Front(service="chat", endpoints=(ENDPOINT,), retry=Retry(), access=access)
    return {name: json.loads(text)["resources"] for name, text in service.dynamic(front).items()}


def manager(access: Access) -> Any:
    return files(access)[places.LISTENERS_FILE][0]["filter_chains"][0]["filters"][0]["typed_config"]


def filters(access: Access) -> list[str]:
    return [one["name"] for one in manager(access)["http_filters"]]


def script(access: Access) -> str:
    [routes] = files(access)[places.ROUTES_FILE]
    found: str = routes["typed_per_filter_config"]["modelplane.callers"]["source_code"]["inline_string"]
    return found


COUNTING = ["modelplane.usage", "envoy.filters.http.json_to_metadata", "envoy.filters.http.sse_to_metadata"]
ROUTER = "envoy.filters.http.router"


@pytest.mark.parametrize(
    ("access", "want"),
    [
        pytest.param(OPEN, [ROUTER], id="open"),
        pytest.param(Access(callers=known(ALICE)), ["modelplane.callers", ROUTER], id="callers"),
        pytest.param(Access(logged="ml-team/chat"), ["modelplane.model", *COUNTING, ROUTER], id="usage"),
        pytest.param(
            Access(callers=known(LIMITED), server=SERVER),
            ["modelplane.callers", "modelplane.model", "envoy.filters.http.ratelimit", *COUNTING, ROUTER],
            id="limits",
        ),
        pytest.param(Access(callers=known(ALICE), server=SERVER), ["modelplane.callers", ROUTER], id="no-limits"),
        pytest.param(Access(callers=known(LIMITED)), ["modelplane.callers", ROUTER], id="no-server"),
    ],
)
def test_a_front_has_only_the_filters_that_it_needs(access: Access, want: list[str]) -> None:
    assert filters(access) == want


def test_only_limits_need_the_server() -> None:
    def asked(access: Access) -> list[str]:
        return [one["name"] for one in files(access)[places.CLUSTERS_FILE] if one["name"] == "rate-limit"]

    assert (asked(Access(callers=known(LIMITED), server=SERVER)), asked(Access(server=SERVER))) == (["rate-limit"], [])


def test_callers_come_and_go_without_a_new_listener() -> None:
    one, two = (files(Access(callers=known(*found))) for found in ((ALICE,), (ALICE, Caller(name="bob", files=()))))
    assert one[places.LISTENERS_FILE] == two[places.LISTENERS_FILE]
    assert one[places.ROUTES_FILE] != two[places.ROUTES_FILE]


def test_without_routes_the_listener_admits_nobody() -> None:
    own = manager(Access(callers=known(ALICE, required=False)))["http_filters"][0]
    text = own["typed_config"]["default_source_code"]["inline_string"]
    assert text.endswith("function envoy_on_request(handle)\n  refuse(handle)\nend\n")


def test_the_script_knows_callers_by_their_files() -> None:
    text = script(Access(callers=known(LIMITED, Caller(name="bob", files=()), required=False)))
    assert text.startswith(
        "local required = false\nlocal callers = {\n"
        '  {name = "alice", files = {"/keys/alice/api-key"}, limits = {'
        'Hour = {caller = "ml-team/alice", requests_per_unit = 2000000, unit = "HOUR"}, '
        'Minute = {caller = "ml-team/alice", requests_per_unit = 9, unit = "MINUTE"}}},\n'
        '  {name = "bob", files = {}, limits = {}},\n}\n'
    )


@pytest.mark.parametrize("name", ['a"}, x = {"', "a\nb", "a\\", "é", "]]"])
def test_no_name_leaves_its_string(name: str) -> None:
    """Bytes that could end a string of Lua are written as numbers."""
    line = script(Access(callers=known(Caller(name=name, files=())))).splitlines()[2]
    inside = line.removeprefix('  {name = "').split('"')[0]
    plain = set("abcdefghijklmnopqrstuvwxyz0123456789\\")
    assert set(inside) <= plain
    assert line.endswith(", files = {}, limits = {}},")
    numbers = [int(inside[at + 1 : at + 4]) for at, char in enumerate(inside) if char == "\\"]
    assert bytes(numbers).decode() == "".join(char for char in name if char not in "abx")


def test_limits_are_asked_for_the_units_that_callers_have() -> None:
    [limiter] = [one for one in manager(_limited())["http_filters"] if one["name"].endswith("ratelimit")]
    entries = limiter["typed_config"]["rate_limits"]
    asked = [
        (e["actions"][0]["generic_key"]["descriptor_value"], e.get("apply_on_stream_done", False)) for e in entries
    ]
    want = [(unit, is_added) for unit in ("Minute", "Hour") for is_added in (False, True, True)]
    assert asked == want


def _limited() -> Access:
    return Access(callers=known(LIMITED), server=SERVER)


def test_clients_cannot_ask_for_what_cannot_be_counted() -> None:
    [routes] = files(Access(logged="ml-team/chat"))[places.ROUTES_FILE]
    assert routes["request_headers_to_remove"] == ["accept-encoding"]
    assert "request_headers_to_remove" not in files(OPEN)[places.ROUTES_FILE][0]


def test_lines_have_no_header_of_the_client() -> None:
    """But the path, the method and the name of the model, which the proxy reads from the body itself."""
    [log] = manager(Access(logged="ml-team/chat"))["access_log"]
    fields = log["typed_config"]["log_format"]["json_format"]
    assert [text for text in fields.values() if text.startswith("%REQ(")] == ["%REQ(x-mp-model)%", "%REQ(:METHOD)%"]
    assert callers.CALLER.startswith("x-mp-")


def test_each_proxy_has_a_user_of_its_own() -> None:
    """Within what a node with mapped users has, and the same at each pass."""

    def user(name: str) -> int:
        made = proxies.deployment(
            name=name, namespace="ml-team", labels={"a": "b"}, image="envoy", config_map=name, config_hash="-"
        )
        context = made["spec"]["template"]["spec"]["securityContext"]
        assert context["runAsUser"] == context["runAsGroup"] == context["fsGroup"]
        found: int = context["runAsUser"]
        return found

    users = [user(f"proxy-{number}") for number in range(50)]
    assert users == [user(f"proxy-{number}") for number in range(50)]
    assert len(set(users)) > 45
    assert all(10_000 < one < 65_536 for one in users)
