"""What clients of a ModelService see, from a real Envoy that runs what the service composes."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import client, egress, load, pki, providers
from tests.e2e.client import Reply, call
from tests.e2e.kube import Object
from tests.e2e.load import many
from tests.e2e.programs import Site
from tests.e2e.providers import LIMIT, Behaviour, Provider, answers, hangs, resets, serving, streams, upgrades, waits
from tests.e2e.service_proxy import Running, endpoint, entry, running, service
from tests.e2e.waiting import always, until

CHAT = "/v1/chat/completions"
LOOPBACK = "127.0.0.1"
HOST = "provider.localhost"  # resolves to loopback everywhere (RFC 6761)
EJECTED = "envoy_cluster_outlier_detection_ejections_active"


def chat(proxy: Running, model: str = "qwen", **more: Any) -> Reply:
    return call(proxy.url, CHAT, {"model": model, "messages": [], **more})


def own(*found: Provider, **more: Any) -> list[Object]:
    """Endpoints as replicas have them: by address, without a key."""
    return [endpoint(one.name, f"{one.url}/v1", **more) for one in found]


@contextlib.contextmanager
def tiers(site: Site, *names: str, **spec: Any) -> Iterator[tuple[Running, tuple[Provider, ...]]]:
    """A service of one endpoint at each priority."""
    with serving(*names) as found:
        entries = [entry(name, priority=tier) for tier, name in enumerate(names)]
        with running(site, service(*entries, **spec), *own(*found)) as proxy:
            yield proxy, found


# Where a request goes


def test_weights_are_kept(site: Site) -> None:
    with serving("stable", "next") as found:
        asked = service(entry("stable", weight=95), entry("next", weight=5), retry={})
        with running(site, asked, *own(*found)) as proxy:
            got = many(proxy.url, 400)

    assert sum(got.values()) == got[200, "stable"] + got[200, "next"] == 400
    assert 16 <= got[200, "next"] <= 24


def test_requests_get_the_name_of_the_model_that_an_entry_says(site: Site) -> None:
    with serving("plain", "renamed") as (plain, renamed):
        asked = service(entry("plain"), entry("renamed", priority=1, model="qwen-next"))
        with running(site, asked, *own(plain, renamed)) as proxy:
            assert chat(proxy, temperature=0.5).json == {"model": "plain"}
            plain.refuse()
            assert chat(proxy, temperature=0.5).json == {"model": "renamed"}
            refused = call(proxy.url, CHAT, b"model=qwen", Content_Type="application/x-www-form-urlencoded")

        assert (plain.asked[0].model, renamed.asked[0].model) == ("qwen", "qwen-next")
        assert json.loads(renamed.asked[0].body) == {"model": "qwen-next", "messages": [], "temperature": 0.5}
        assert (refused.status, refused.json["error"]["code"]) == (415, "unsupported_content_type")
        assert len(renamed.asked) == 1


@pytest.mark.parametrize(
    ("base", "path", "want"),
    [
        ("", CHAT, CHAT),
        ("/v1", CHAT, CHAT),
        ("/v1beta/openai", CHAT, "/v1beta/openai/chat/completions"),
        ("/models/qwen/v1", "/v1/models/a?b=c", "/models/qwen/v1/models/a?b=c"),
        ("/api", "/v1/responses/r1?include=x", "/api/responses/r1?include=x"),
    ],
)
def test_bases_of_every_kind(site: Site, base: str, path: str, want: str) -> None:
    with (
        serving("only") as (only,),
        running(site, service(entry("only"), retry={}), endpoint("only", only.url + base)) as proxy,
    ):
        assert call(proxy.url, path, {"model": "m"}).status == 200

        assert only.asked[0].path == want
        assert call(proxy.url, "/metrics", {}).status == (404 if base in ("/api", "/v1beta/openai") else 200)


def test_a_provider_with_a_query_a_key_header_and_an_authority_of_its_own(site: Site) -> None:
    """As Azure OpenAI behind a company's gateway: SNI, Host, path, query, header; and it learns nothing of clients."""
    name = f"private-{next(egress.numbers)}"
    pki.certify(site.pki.folder, name, *pki.AUTHORITY)
    signed = certificate(site, f"DNS:{HOST}", name)
    authority = (site.pki.folder / f"{name}.crt").read_text()
    with serving("azure", certificate=signed, address=LOOPBACK) as (azure,):
        found = endpoint(
            "azure",
            f"https://{HOST}:{azure.port}/openai/deployments/chat",
            query={"api-version": "2024-10-21", "a.b": "50% & more"},
            auth={"secretRef": {"name": "azure"}, "header": "api-key"},
            tls={"caSecretRef": {"name": "private"}},
        )
        secrets = {"azure": {"api_key": "sk-azure\n"}, "private": {"ca.crt": authority}}
        with running(site, service(entry("azure")), found, secrets=secrets) as proxy:
            sent = {
                "Authorization": "Bearer of-the-client",
                "api-key": "of-the-client",
                "X-Forwarded-For": "203.0.113.9",
            }
            got = call(proxy.url, f"{CHAT}?api-version=1", {"model": "m"}, X_Real_Ip="203.0.113.9", **sent)

        assert (got.status, azure.server_names[-1]) == (200, HOST), got.body
        [asked] = azure.asked
        assert asked.path.startswith("/openai/deployments/chat/chat/completions?")
        assert set(asked.path.partition("?")[2].split("&")) == {"api-version=2024-10-21", "a.b=50%25%20%26%20more"}
        assert (asked.headers["host"], asked.headers["api-key"]) == (f"{HOST}:{azure.port}", "sk-azure")
        assert not [name for name in asked.headers if name.startswith(("x-forwarded", "x-real", "x-envoy", "x-mp"))]


def test_a_certificate_of_public_roots_is_none_of_a_private_authority(site: Site) -> None:
    name = f"private-{next(egress.numbers)}"
    pki.certify(site.pki.folder, name, *pki.AUTHORITY)
    authority = (site.pki.folder / f"{name}.crt").read_text()
    with serving("impostor", certificate=certificate(site, f"DNS:{HOST}"), address=LOOPBACK) as (impostor,):
        tls = {"caSecretRef": {"name": "private"}}
        found = endpoint("impostor", f"https://{HOST}:{impostor.port}/v1", tls=tls)
        with running(site, service(entry("impostor")), found, secrets={"private": {"ca.crt": authority}}) as proxy:
            got = chat(proxy)

        assert (got.status, got.json["error"]["code"]) == (503, "unreachable")
        assert (impostor.server_names[0], impostor.asked) == (HOST, [])


def certificate(site: Site, names: str, signer: str = "ca") -> Path:
    name = f"provider-{next(egress.numbers)}"
    signed = ("-CA", f"{signer}.crt", "-CAkey", f"{signer}.key", f"-addext=subjectAltName={names}")
    pki.certify(site.pki.folder, name, *signed)
    return site.pki.folder / f"{name}.crt"


def test_models_are_listed_and_asked_where_they_are(site: Site) -> None:
    with serving("small", "large", "both") as found:
        served = {"small": "qwen-8b", "large": "qwen-70b", "both": "qwen-8b,qwen-70b"}
        published = [endpoint(one.name, f"{one.url}/v1", served=served[one.name]) for one in found]
        with running(site, service(entry("small"), entry("large"), entry("both"), retry={}), *published) as proxy:
            listed = call(proxy.url, "/v1/models")
            head = call(proxy.url, "/v1/models", method="HEAD")
            unknown = chat(proxy, "gpt-5")
            spoofed = call(proxy.url, CHAT, b"none", Content_Type="text/plain", X_Mp_Model="gpt-5")
            got = {model: many(proxy.url, 40, clients=4, model=model) for model in ("qwen-8b", "qwen-70b")}

    assert [one["id"] for one in listed.json["data"]] == ["qwen-70b", "qwen-8b"]
    assert (head.status, head.body, head.headers["content-type"]) == (200, b"", "application/json")
    assert (unknown.status, unknown.json["error"]["code"]) == (404, "model_not_found")
    assert '"qwen-70b", "qwen-8b"' in unknown.json["error"]["message"]
    assert spoofed.status == 200
    assert set(got["qwen-8b"]) == {(200, "small"), (200, "both")}
    assert set(got["qwen-70b"]) == {(200, "large"), (200, "both")}


# What fails


@pytest.mark.parametrize(
    "fault",
    [resets, answers(500), answers(502), answers(503), answers(529), answers(429, Retry_After="30"), None],
    ids=["reset", "500", "502", "503", "529", "429", "refused"],
)
def test_the_next_tier_answers(site: Site, fault: Behaviour | None) -> None:
    with tiers(site, "first", "second") as (proxy, (first, _)):
        assert chat(proxy).json == {"model": "first"}
        if fault:
            first.behave = fault
        else:
            first.refuse()

        got = [chat(proxy) for _ in range(3)]

        assert [one.status for one in got] == [200] * 3
        assert {one.json["model"] for one in got} == {"second"}
        assert len(first.asked) == (4 if fault else 1)
        assert not [name for name in got[0].headers if name.startswith(("x-mp", "x-envoy"))]


def test_a_tier_that_hangs_is_left_after_the_time_for_a_try(site: Site) -> None:
    with tiers(site, "first", "second", retry={"perTryTimeout": "200ms"}) as (proxy, (first, second)):
        first.behave = hangs

        assert chat(proxy).json == {"model": "second"}

        second.behave = hangs
        late = chat(proxy)
        assert (late.status, late.json["error"]["code"]) == (504, "timeout")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 422])
def test_what_a_provider_says_of_a_request_is_passed_on(site: Site, status: int) -> None:
    """Another tier would say the same, or answer what should not be answered."""
    with tiers(site, "first", "second") as (proxy, (first, second)):
        first.behave = answers(status, WWW_Authenticate="Bearer", X_Request_Id="r1")

        got = chat(proxy)

        assert (got.status, got.json) == (status, {"error": {"message": f"first says {status}"}})
        assert (got.headers["www-authenticate"], got.headers["x-request-id"]) == ("Bearer", "r1")
        assert second.asked == []


def test_if_all_fail_the_last_answer_is_the_clients(site: Site) -> None:
    with tiers(site, "first", "second") as (proxy, (first, second)):
        first.behave, second.behave = answers(503), answers(429, Retry_After="7")

        got = chat(proxy)

        assert (got.status, got.headers["retry-after"]) == (429, "7")
        assert got.json == {"error": {"message": "second says 429"}}

        first.refuse()
        second.refuse()
        nobody = chat(proxy)
        assert (nobody.status, nobody.headers["content-type"]) == (503, "application/json")
        assert nobody.json["error"]["code"] == "unreachable"


def test_one_endpoint_that_throttles_is_asked_once(site: Site) -> None:
    with tiers(site, "only", retry={}) as (proxy, (only,)):
        only.behave = answers(429, Retry_After="7")

        assert (chat(proxy).headers["retry-after"], len(only.asked)) == ("7", 1)


# Streams


def test_a_stream_that_has_begun_is_neither_cut_nor_repeated(site: Site) -> None:
    """Its pauses may be longer than a try; if it ends early, the client sees that it does."""
    with tiers(site, "first", "second", retry={"perTryTimeout": "200ms"}) as (proxy, (first, second)):
        first.behave = streams
        first.say("one")
        with client.completed(proxy.url, "hi") as events:
            assert next(events) == "one"
            always(lambda: second.asked, "it was repeated", holds=lambda seen: not seen, seconds=0.5)
            first.say("two", None)
            assert list(events) == ["two"]

        first.say("one", providers.CUT)
        with client.completing(proxy.url, CHAT, "hi", {}) as response:
            assert response.readline() == b"data: one\n"
            with pytest.raises(http.client.IncompleteRead):
                response.read()

        assert (len(first.asked), second.asked) == (2, [])


def test_a_websocket_passes_in_both_directions(site: Site) -> None:
    """As the realtime API uses it, and as a route passes it on. An endpoint that refuses connections is passed over."""
    with tiers(site, "first", "second") as (proxy, (first, second)):
        first.refuse()
        second.behave = upgrades
        address, _, port = proxy.url.removeprefix("http://").partition(":")
        with socket.create_connection((address, int(port)), timeout=LIMIT) as client:
            client.sendall(UPGRADE)
            head = client.recv(4096)
            client.sendall(b"hello")
            said = b"".join(iter(lambda: client.recv(4096), b""))

        assert head.startswith(b"HTTP/1.1 101 "), head
        assert said == b"hello"
        assert second.asked[0].headers["upgrade"] == "websocket"


UPGRADE = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nhost: chat\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
)


# What may be repeated


@pytest.mark.parametrize("fault", [resets, answers(503)], ids=["reset", "503"])
def test_what_changes_something_is_not_repeated_once_it_was_seen(site: Site, fault: Behaviour) -> None:
    with tiers(site, "first", "second") as (proxy, (first, second)):
        first.behave = fault

        got = [call(proxy.url, path, {"model": "m"}) for path in ("/v1/files", "/v1/batches")]

        assert [one.status for one in got] == [503, 503]
        assert (len(first.asked), second.asked) == (2, [])


def test_what_no_endpoint_saw_is_always_repeated(site: Site) -> None:
    with tiers(site, "first", "second") as (proxy, (first, _)):
        first.refuse()

        got = [call(proxy.url, path, {"model": "m"}) for path in ("/v1/files", "/v1/batches")]

        assert [one.json for one in got] == [{"model": "second"}] * 2


# Ejection


def test_an_endpoint_that_fails_is_ejected_and_comes_back(site: Site) -> None:
    ejection = {"after": 3, "duration": "1s"}
    with tiers(site, "first", "second", ejection=ejection) as (proxy, (first, _)):
        first.behave = answers(503)
        got = many(proxy.url, 200, clients=4)

        assert got == {(200, "second"): 200}
        assert len(first.asked) < 20

        first.behave = answers()
        until(lambda: chat(proxy).json["model"], "the first to come back", holds=lambda seen: seen == "first")
        assert many(proxy.url, 50, clients=4) == {(200, "first"): 50}


def test_a_budget_bounds_what_is_repeated(site: Site) -> None:
    """The rest gets the endpoint's own answer."""
    retry = {"budget": "20%"}
    with tiers(site, "first", "second", retry=retry, ejection={"after": 1000}) as (proxy, (first, second)):
        first.behave = answers(503)
        second.behave = waits
        with load.continuous(proxy.url, clients=50) as traffic:
            until(lambda: traffic.counts[503, "first says 503"], "some to be refused", holds=lambda seen: seen >= 100)
            taken = len(second.asked)
            second.release()

    assert 1 <= taken <= 15
