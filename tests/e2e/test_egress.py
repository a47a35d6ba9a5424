"""An outside provider, asked by a real Envoy that runs what a ModelEndpoint composes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from function import registry
from function.core import Request
from tests.e2e import client, egress, objects, openai, pki
from tests.e2e.egress import Composed, Mount, Proxy
from tests.e2e.openai import StandIn
from tests.e2e.programs import Site
from tests.e2e.waiting import always, until

HOST = "provider.localhost"  # resolves to loopback everywhere (RFC 6761)
OWN = {"Authorization": "Bearer of-the-client"}


@pytest.fixture
def mount(tmp_path: Path) -> Mount:
    made = Mount(tmp_path / "credential")
    made.write(key="sk-first")
    return made


@pytest.fixture
def provider(site: Site) -> Iterator[StandIn]:
    with openai.serving("outside", certificate=certificate(site, f"DNS:{HOST}")) as one:
        yield one


def certificate(site: Site, names: str, signer: str = "ca") -> Path:
    """A certificate for the names, as openssl spells them."""
    name = f"provider-{next(egress.numbers)}"
    signed = ("-CA", f"{signer}.crt", "-CAkey", f"{signer}.key", f"-addext=subjectAltName={names}")
    pki.certify(site.pki.folder, name, *signed)
    return site.pki.folder / f"{name}.crt"


def composed(url: str, *, key: bool = True) -> Composed:
    """What our function composes for an endpoint."""
    auth = {"auth": {"secretRef": {"name": "provider"}}} if key else {}
    xr = objects.endpoint(url=url, **auth)
    resources = registry.compose(Request(xr=xr, required={"gateway": ()})).resources
    return egress.composed(resources["egress-config"].manifest, resources["egress-proxy"].manifest)


@pytest.fixture
def start(site: Site, mount: Mount) -> Iterator[Any]:
    """Starts a proxy for a URL, and stops it in the end."""
    started: list[Proxy] = []

    def one(url: str, *, key: bool = True, ready: bool = True) -> Proxy:
        proxy = egress.start(site, composed(url, key=key), mount, site.pki.authority)
        started.append(proxy)
        if ready:
            until(lambda: proxy.is_ready, "the proxy to be ready")
        return proxy

    yield one
    site.processes.stop(*(proxy.process for proxy in started))


@pytest.mark.parametrize(
    "url",
    [
        f"https://{HOST}/v1",
        f"https://{HOST}:8443/v1",
        "https://192.0.2.1/v1",
        "https://[2001:db8::1]/v1",
        "http://vllm:8000/v1",
    ],
)
@pytest.mark.parametrize("key", [True, False], ids=["key", "no-key"])
def test_envoy_takes_every_configuration(site: Site, mount: Mount, url: str, key: bool) -> None:
    """Without a word against it: a field that it deprecates is one that it will refuse."""
    if url.startswith("https") or key:
        said = egress.validate(site, composed(url, key=key), mount, site.pki.authority)
        assert (said.strip().endswith("OK"), said.count("\n")) == (True, 1), said


def test_a_provider_is_asked_under_its_own_name_with_the_key_of_the_tenant(provider: StandIn, start: Any) -> None:
    """SNI and Host are the provider's, and the key stands over whatever the client sent."""
    proxy = start(f"https://{HOST}:{provider.port}/v1")

    got = client.ask(proxy.url, **OWN, X_Forwarded_For="203.0.113.9", X_Real_Ip="203.0.113.9")

    assert got == client.Answer(200, "outside")
    [asked] = provider.asked
    assert (asked.path, asked.server_name) == ("/v1/chat/completions", HOST)
    assert asked.headers["host"] == f"{HOST}:{provider.port}"
    assert asked.headers["authorization"] == "Bearer sk-first"
    assert not {name for name in asked.headers if name.startswith(("x-forwarded", "x-real", "x-envoy", "x-request"))}


def test_a_rotated_key_is_used_without_a_restart(provider: StandIn, mount: Mount, start: Any) -> None:
    proxy = start(f"https://{HOST}:{provider.port}/v1")
    client.ask(proxy.url)

    mount.write(key="sk-second")

    def used() -> str:
        client.ask(proxy.url)
        return provider.asked[-1].headers["authorization"]

    until(used, "the second key to be used", holds=lambda seen: seen == "Bearer sk-second")
    assert proxy.process.runs


def test_a_key_with_a_line_end_is_a_key(provider: StandIn, mount: Mount, start: Any) -> None:
    """Editors and `echo` put one at the end of a file."""
    mount.write(key="sk-edited\n")
    proxy = start(f"https://{HOST}:{provider.port}/v1")

    assert client.ask(proxy.url).status == 200
    assert provider.asked[0].headers["authorization"] == "Bearer sk-edited"


def test_without_a_key_the_client_shows_its_own(provider: StandIn, start: Any) -> None:
    proxy = start(f"https://{HOST}:{provider.port}/v1", key=False)

    client.ask(proxy.url, **OWN)

    assert provider.asked[0].headers["authorization"] == OWN["Authorization"]


def test_a_key_that_is_not_there_lets_nothing_through(provider: StandIn, mount: Mount, start: Any) -> None:
    """No request leaves without the key that it was to carry."""
    for path in mount.folder.iterdir():
        if path.name == "key":
            path.unlink()
    proxy = start(f"https://{HOST}:{provider.port}/v1", ready=False)

    always(lambda: refused(proxy), "a request went through", holds=bool, seconds=2)
    assert provider.asked == []


def refused(proxy: Proxy) -> bool:
    try:
        return client.ask(proxy.url, **OWN).status in (401, 503)
    except OSError:
        return True


@pytest.mark.parametrize("names", ["DNS:other.localhost", "IP:127.0.0.1"])
def test_a_certificate_of_another_name_is_refused(site: Site, start: Any, names: str) -> None:
    with openai.serving("impostor", certificate=certificate(site, names)) as impostor:
        proxy = start(f"https://{HOST}:{impostor.port}/v1")

        assert client.ask(proxy.url).status == 503
        assert impostor.asked == []


def test_a_certificate_that_nobody_vouches_for_is_refused(site: Site, start: Any) -> None:
    pki.certify(site.pki.folder, "stranger", *pki.AUTHORITY)
    with openai.serving("impostor", certificate=certificate(site, f"DNS:{HOST}", "stranger")) as impostor:
        proxy = start(f"https://{HOST}:{impostor.port}/v1")

        assert client.ask(proxy.url).status == 503
        assert impostor.asked == []


def test_a_certificate_for_many_names_is_for_each_of_them(site: Site, start: Any) -> None:
    with openai.serving("many", certificate=certificate(site, "DNS:*.provider.localhost")) as provider:
        proxy = start(f"https://eu.provider.localhost:{provider.port}/v1")

        assert client.ask(proxy.url) == client.Answer(200, "many")


def test_an_answer_is_passed_on_as_it_comes(provider: StandIn, start: Any) -> None:
    """Each event arrives before the next is sent."""
    proxy = start(f"https://{HOST}:{provider.port}/v1")

    with client.streaming(proxy.url) as events:
        for token in ("one", "two", "three"):
            provider.say(token)
            assert next(events) == token
        provider.say(None)
        assert list(events) == []


def test_a_name_that_does_not_resolve_makes_no_proxy_ready(start: Any) -> None:
    """So the endpoint takes no traffic, and says what it needs."""
    proxy = start("https://provider.invalid/v1", ready=False)

    always(lambda: proxy.is_ready, "it was ready", holds=lambda seen: not seen, seconds=2)
    assert client.ask(proxy.url).status == 503
