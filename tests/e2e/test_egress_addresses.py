"""What an egress proxy connects to: a real Envoy, and a DNS server that changes its answers."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from function import registry
from function.core import Request
from function.manifests.envoy import addresses
from function.vocabulary.egress import Policy
from tests.e2e import client, egress, names, objects, openai
from tests.e2e.egress import Composed, Mount, Proxy
from tests.e2e.names import Zone
from tests.e2e.openai import StandIn
from tests.e2e.programs import Site
from tests.e2e.waiting import until

HOST = "models.example.com"
OUTSIDE, NOBODY, INTERNAL, EXCEPTION = "127.0.0.1", "127.0.0.9", "127.5.0.1", "127.5.7.1"
LISTS = {"allow": ["127.5.7.0/24"], "deny": ["127.5.0.0/16"]}


@pytest.fixture
def zone() -> Iterator[Zone]:
    with names.serving() as found:
        yield found


@pytest.fixture
def provider() -> Iterator[StandIn]:
    with openai.serving("outside", OUTSIDE) as one:
        yield one


@pytest.fixture
def internal(provider: StandIn) -> Iterator[StandIn]:
    """A server on the provider's port of an address that is denied."""
    with openai.serving("internal", INTERNAL, provider.port) as one:
        yield one


@pytest.fixture
def start(site: Site, zone: Zone, tmp_path: Path) -> Iterator[Any]:
    started: list[Proxy] = []

    def one(port: int, *, resolves: list[str], **lists: Any) -> Proxy:
        zone.addresses[HOST] = resolves
        what = names.resolving(composed(f"http://{HOST}:{port}/v1", **lists), zone)
        proxy = egress.start(site, what, Mount(tmp_path), site.pki.authority)
        started.append(proxy)
        until(lambda: proxy.is_ready, "the proxy to be ready")
        return proxy

    yield one
    site.processes.stop(*(proxy.process for proxy in started))


def composed(url: str, *, is_loopback_outside: bool = True, **lists: Any) -> Composed:
    gateway = objects.gateway(egress=lists or LISTS)
    resources = registry.compose(Request(xr=objects.endpoint(url=url), required={"gateway": (gateway,)})).resources
    made = (resources["egress-config"].manifest, resources["egress-proxy"].manifest)
    return egress.composed(*made, is_loopback_outside=is_loopback_outside)


def test_a_name_with_an_allowed_address_is_asked(provider: StandIn, start: Any) -> None:
    proxy = start(provider.port, resolves=[OUTSIDE])

    assert client.ask(proxy.url) == client.Answer(200, "outside")


def test_a_name_with_a_denied_address_is_never_connected_to(provider: StandIn, start: Any) -> None:
    with knocks(INTERNAL, provider.port) as heard:
        proxy = start(provider.port, resolves=[INTERNAL])

        assert [client.ask(proxy.url).status for _ in range(5)] == [503] * 5
        assert heard() == 0


def test_no_list_is_needed_to_deny_loopback(provider: StandIn, start: Any) -> None:
    proxy = start(provider.port, resolves=[OUTSIDE], is_loopback_outside=False)

    assert client.ask(proxy.url).status == 503
    assert provider.asked == []


def test_an_exception_within_a_denied_network_is_asked(provider: StandIn, start: Any) -> None:
    with openai.serving("exception", EXCEPTION, provider.port):
        proxy = start(provider.port, resolves=[EXCEPTION])

        assert client.ask(proxy.url) == client.Answer(200, "exception")


def test_an_allowed_name_may_have_a_denied_address(internal: StandIn, start: Any) -> None:
    proxy = start(internal.port, resolves=[INTERNAL], allow=[HOST], deny=["127.5.0.0/16"])

    assert client.ask(proxy.url) == client.Answer(200, "internal")


def test_a_name_that_changes_to_a_denied_address_is_not_followed(
    provider: StandIn, internal: StandIn, zone: Zone, start: Any
) -> None:
    """DNS rebinding: the first answer is good, and the next leads inside."""
    proxy = start(provider.port, resolves=[OUTSIDE])
    assert client.ask(proxy.url).status == 200

    zone.addresses[HOST] = [INTERNAL]

    until(lambda: client.ask(proxy.url).status, "the new address to be denied", holds=lambda seen: seen == 503)
    assert internal.asked == []


def test_a_denied_address_beside_one_that_refuses_is_not_tried(internal: StandIn, start: Any) -> None:
    """Nor does it help to put an address first that nobody listens on."""
    proxy = start(internal.port, resolves=[NOBODY, INTERNAL])

    assert {client.ask(proxy.url).status for _ in range(10)} == {503}
    assert internal.asked == []


def test_addresses_that_cannot_be_reached_cost_no_request(provider: StandIn, start: Any) -> None:
    """As all of IPv6, where a cluster has none: Envoy leaves them alone."""
    unreachable = [f"2001:db8::{number}" for number in range(1, 5)]
    proxy = start(provider.port, resolves=[*unreachable, OUTSIDE, "127.0.0.2"])
    with openai.serving("outside", "127.0.0.2", provider.port):
        until(lambda: [client.ask(proxy.url).status for _ in range(5)], "five answers", holds=lambda s: set(s) == {200})

        assert {client.ask(proxy.url).status for _ in range(30)} == {200}


def test_a_changed_list_is_read_without_a_restart(provider: StandIn, start: Any, site: Site) -> None:
    proxy = start(provider.port, resolves=[OUTSIDE])
    assert client.ask(proxy.url).status == 200

    replace_rules(site, Policy(deny=("127.0.0.0/16",)))

    until(lambda: client.ask(proxy.url).status, "the new list to be read", holds=lambda seen: seen == 503)
    assert proxy.process.runs


def replace_rules(site: Site, policy: Policy) -> None:
    """Write other rules for the proxy that was started last, as a kubelet would: in one step."""
    folder = max(site.folder.glob("egress-*/envoy.json"), key=lambda path: path.stat().st_mtime).parent
    files = {path.name: path.read_text() for path in folder.iterdir() if not path.name.startswith("..")}
    rules = {name: egress.without_loopback(text) for name, text in addresses.rule_files(policy).items()}
    Mount(folder).write(**{**files, **rules})


@contextmanager
def knocks(address: str, port: int) -> Iterator[Callable[[], int]]:
    """Listen where nobody answers, and count the connections."""
    with socket.create_server((address, port)) as listening:
        listening.setblocking(False)
        yield lambda: sum(1 for _ in waiting(listening))


def waiting(listening: socket.socket) -> Iterator[None]:
    while True:
        try:
            connection, _ = listening.accept()
        except BlockingIOError:
            return
        connection.close()
        yield
