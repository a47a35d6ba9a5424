"""What clients of a ModelService see, from a real Envoy that runs what the service composes."""

import contextlib
import http.client
import json
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from function.vocabulary import names
from tests.e2e import client, egress, load, objects, pki, providers
from tests.e2e.client import Reply, call
from tests.e2e.kube import Object
from tests.e2e.load import many
from tests.e2e.programs import Site
from tests.e2e.providers import LIMIT, Behaviour, Provider, answers, hangs, resets, serving, streams, upgrades, waits
from tests.e2e.service_proxy import Running, endpoint, entry, running, service
from tests.e2e.waiting import always, steady, until

CHAT = "/v1/chat/completions"
LOOPBACK = "127.0.0.1"
HOST = "provider.localhost"  # resolves to loopback everywhere (RFC 6761)
MIB = 1024 * 1024
TIERS = (entry("first"), entry("second", priority=1))


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


@contextlib.contextmanager
def split(site: Site, *names: str, **spec: Any) -> Iterator[tuple[Running, tuple[Provider, ...]]]:
    """A service of endpoints that share its traffic."""
    with serving(*names) as found:
        asked = {"retry": {}} | spec
        with running(site, service(*map(entry, names), **asked), *own(*found)) as proxy:
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


# Keys


def test_an_endpoint_without_its_key_is_passed_over_until_the_key_is_there(site: Site) -> None:
    with serving("paid", "spare") as (paid, spare):
        found = [endpoint("paid", f"{paid.url}/v1", auth={"secretRef": {"name": "paid"}}), *own(spare)]
        asked = service(entry("paid"), entry("spare", priority=1), ejection={"after": 1000})
        with running(site, asked, *found) as proxy:
            got = chat(proxy)
            assert (got.status, got.json) == (200, {"model": "spare"})
            assert paid.asked == []

            spare.refuse()
            nobody = chat(proxy)
            assert (nobody.status, nobody.json["error"]["code"]) in ((503, "missing_key"), (503, "unreachable"))

            until(lambda: written(proxy), "the key to be used", holds=lambda seen: seen == 200)
            assert {one.headers["authorization"] for one in paid.asked} == {"Bearer sk-1"}


def written(proxy: Running) -> int:
    """Write the Secret, and ask. Envoy may miss a file that is new in its directory, because the kubelet makes the link
    to it after the exchange that Envoy waits for; then the next change is noticed."""
    proxy.secret("paid", api_key="sk-1")
    return chat(proxy).status


def test_a_key_is_rotated_under_traffic(site: Site) -> None:
    with serving("paid") as (paid,):
        found = endpoint("paid", f"{paid.url}/v1", auth={"secretRef": {"name": "paid"}})
        with (
            running(site, service(entry("paid")), found, secrets={"paid": {"api_key": "sk-1"}}) as proxy,
            load.continuous(proxy.url) as traffic,
        ):
            traffic.await_more()
            proxy.secret("paid", api_key="sk-2")
            until(lambda: key(paid), "the second key to be used", holds=lambda seen: seen == "Bearer sk-2")
            traffic.await_more()

        assert traffic.failures == []
        keys = [one.headers["authorization"] for one in paid.asked]
        assert set(keys) == {"Bearer sk-1", "Bearer sk-2"}
        assert "sk-" not in proxy.log


def key(provider: Provider) -> str:
    return provider.asked[-1].headers["authorization"]


# Endpoints that come, go and are lost


def test_a_lost_endpoint_gets_nothing_while_another_answers(site: Site) -> None:
    """Its part goes to those of its own tier, and no further than they can take."""
    with serving("west", "east", "outside") as (west, east, outside):
        found = [replica(west), replica(east), endpoint("outside", f"{outside.url}/v1")]
        asked = service(
            {"selector": {"matchLabels": {DEPLOYMENT: "qwen"}}}, entry("outside", priority=1), ejection={"after": 1000}
        )
        with running(site, asked, *found, *sight("west"), *sight("east")) as proxy:
            both = many(proxy.url, 60, clients=4)
            west.refuse()
            result = proxy.configure(asked, *found, *sight("west", is_lost=True), *sight("east"))
            one = many(proxy.url, 60, clients=4)

    assert set(both) == {(200, "west"), (200, "east")}
    assert set(one) <= {(200, "east"), (200, "outside")}
    assert one[200, "east"] > one[200, "outside"]
    assert "no traffic goes to west" in str(result.conditions)


DEPLOYMENT, CLUSTER = "modelplane.ai/deployment", "modelplane.ai/cluster"


def replica(of: Provider) -> Object:
    """The endpoint of a replica on a cluster of its own name."""
    return endpoint(of.name, f"{of.url}/v1", labels=labels(of.name))


def labels(cluster: str) -> dict[str, str]:
    return {DEPLOYMENT: "qwen", CLUSTER: cluster, "modelplane.ai/replica-index": "0"}


def sight(cluster: str, *, is_lost: bool = False) -> list[Object]:
    """The probe of a cluster and an Object of its replica, as provider-kubernetes reports them."""
    error = 'cannot get object: Get "https://192.0.2.9:6443/api": dial tcp 192.0.2.9:6443: connect: connection refused'
    lost = {"status": "False", "reason": "ReconcileError", "message": error}
    status = {"conditions": [{"type": "Synced", **(lost if is_lost else {"status": "True"})}]}
    probe = {"name": names.probe(cluster), "namespace": names.SYSTEM_NAMESPACE}
    route = {"name": f"{cluster}-route", "namespace": objects.TEAM, "labels": labels(cluster)}
    kind = {"apiVersion": "kubernetes.m.crossplane.io/v1alpha1", "kind": "Object"}
    return [{**kind, "metadata": metadata, "status": status} for metadata in (probe, route)]


def test_endpoints_come_and_go_under_traffic(site: Site) -> None:
    """Streams go on, also on an endpoint that is gone from the configuration; the process is the same."""
    with serving("a", "b", "c") as found:
        b = found[1]
        published = {one.name: endpoint(one.name, f"{one.url}/v1", auth=auth(one)) for one in found}
        secrets = {one.name: {"api_key": f"sk-{one.name}"} for one in found}

        def asked(**weights: int) -> Object:
            return service(*(entry(name, weight=weight) for name, weight in weights.items()), retry={})

        with running(site, asked(a=1, b=1), published["a"], published["b"], secrets=secrets) as proxy:
            b.behave = streams
            with contextlib.ExitStack() as stack:
                b.say("one")
                events = next(streamed(stack, proxy, b))
                b.behave = answers()
                traffic = stack.enter_context(load.continuous(proxy.url))
                traffic.await_more()
                for weights in (
                    {"a": 1, "b": 1, "c": 1},
                    {"c": 9, "a": 1},
                    {"c": 1},
                    {"b": 1, "c": 2},
                    {"a": 1, "c": 1},
                ):
                    proxy.configure(asked(**weights), *(published[name] for name in weights))
                    until(lambda: seen(traffic), "the new ones", holds=lambda now, wanted=weights: now == set(wanted))
                b.say("two", None)
                assert list(events) == ["two"]
                traffic.await_more()

        assert traffic.failures == []
        for one in found:
            assert {asked.headers["authorization"] for asked in one.asked} == {f"Bearer sk-{one.name}"}
        assert "sk-" not in proxy.log
        assert proxy.log == ""


def auth(of: Provider) -> Object:
    return {"secretRef": {"name": of.name}}


def streamed(stack: contextlib.ExitStack, proxy: Running, provider: Provider) -> Iterator[Iterator[str]]:
    """The events of a stream that the provider has begun: requests go by turns, and others are answered."""
    while True:
        events = stack.enter_context(client.completed(proxy.url, "hi"))
        if next(events) == "one":
            yield events


def seen(traffic: load.Traffic) -> set[str]:
    """Who answers of late."""
    traffic.await_more(60)
    return {one.model for one in traffic.answers[-40:]}


def test_models_come_and_go_under_traffic(site: Site) -> None:
    """An endpoint of one model changes nothing for those who ask for another, nor for the model that it joins."""
    with serving("a", "b", "c") as found:
        a, b, c = found
        small, large, more = (
            endpoint("a", f"{a.url}/v1", served="small"),
            endpoint("b", f"{b.url}/v1", served="large,small"),
            endpoint("c", f"{c.url}/v1", served="small,other"),
        )
        asked = service(*map(entry, "abc"), retry={})
        with running(site, asked, small) as proxy, load.continuous(proxy.url, model="small") as traffic:
            for there in ((small, large), (small, large, more), (large, more), (more,), (small, more)) * 3:
                proxy.configure(asked, *there)
                wanted = {one["metadata"]["name"] for one in there}
                until(lambda: seen(traffic), f"{wanted}", holds=lambda now, wanted=wanted: now == wanted)

        assert traffic.failures == []


# Many requests


def test_where_ten_thousand_requests_end(site: Site) -> None:
    """Three tiers, of which two fail at any time in one way or another: no client sees any of it."""
    faults = (None, answers(503), resets, answers(429, Retry_After="9"), answers(500))
    with tiers(site, "first", "second", "third", ejection={"after": 5, "duration": "100ms"}) as (proxy, found):
        counts: Counter[tuple[int, str]] = Counter()
        for turn in range(8):
            failing = [one for number, one in enumerate(found) if number != turn % 3]
            for number, one in enumerate(failing):
                break_(one, faults[(turn + number) % len(faults)])
            counts += many(proxy.url, 1250)
            for one in failing:
                mend(one)
            until(lambda: ejected(proxy), "all to be back", holds=lambda seen: seen == 0)
            until(lambda: many(proxy.url, 40), "each thread to know", holds=lambda seen: seen == {(200, "first"): 40})

    assert counts == {(200, "first"): 3750, (200, "second"): 3750, (200, "third"): 2500}


def ejected(proxy: Running) -> int:
    """How many are ejected, once all that follows from the last requests has happened."""
    return steady(lambda: proxy.metric(EJECTED), "the number of ejected endpoints", seconds=0.3)


EJECTED = "envoy_cluster_outlier_detection_ejections_active"


def test_if_all_are_ejected_all_are_asked(site: Site) -> None:
    """One that answers again is found at once, not only when its time is over."""
    with tiers(site, "first", "second", ejection={"after": 1, "duration": "10m"}) as (proxy, (first, second)):
        first.behave = second.behave = answers(503)
        until(lambda: (chat(proxy), proxy.metric(EJECTED))[1], "both to be ejected", holds=lambda seen: seen == 2)

        second.behave = answers()

        assert many(proxy.url, 50, clients=4) == {(200, "second"): 50}


def break_(provider: Provider, fault: Behaviour | None) -> None:
    if fault is None:
        provider.refuse()
    else:
        provider.behave = fault


def mend(provider: Provider) -> None:
    provider.behave = answers()
    if provider.server is None:
        provider.listen()


# Bodies


def test_bodies_up_to_32_mib_are_repeated(site: Site) -> None:
    """A larger one passes, but nobody has it any more once an endpoint has seen it."""
    with tiers(site, "first", "second") as (proxy, (first, second)):
        first.behave = answers(503)

        got = call(proxy.url, CHAT, filled(32 * MIB))
        larger = call(proxy.url, CHAT, filled(32 * MIB + 1))

        assert (got.status, got.json, len(second.asked)) == (200, {"model": "second"}, 1)
        assert second.asked[0].body == filled(32 * MIB)
        assert (larger.status, larger.json) == (503, {"error": {"message": "first says 503"}})


def test_a_body_whose_model_is_read_has_at_most_32_mib(site: Site) -> None:
    """More is refused as an error of OpenAI's API."""
    with serving("only") as (only,):
        found = endpoint("only", f"{only.url}/v1", served="m")
        with running(site, service(entry("only"), retry={}), found) as proxy:
            got = call(proxy.url, CHAT, filled(32 * MIB))
            refused = call(proxy.url, CHAT, filled(32 * MIB + 1))

        assert (got.status, only.asked[0].body == filled(32 * MIB)) == (200, True)
        assert (refused.status, refused.headers["content-type"]) == (413, "application/json")
        assert (refused.json["error"]["code"], len(only.asked)) == ("request_too_large", 1)


def filled(size: int) -> bytes:
    """A JSON body of so many bytes."""
    around = json.dumps({"model": "m", "x": ""}).encode()
    return around[:-2] + b"x" * (size - len(around)) + around[-2:]


# Tenants


def test_services_with_the_same_names_never_meet(site: Site) -> None:
    with serving("mine") as mine, serving("theirs") as theirs, contextlib.ExitStack() as stack:
        proxies = {}
        for namespace, one in (("team-a", mine[0]), ("team-b", theirs[0])):
            found = endpoint("qwen", f"{one.url}/v1", auth={"secretRef": {"name": "key"}}, namespace=namespace)
            asked = service(entry("qwen"), namespace=namespace)
            secrets = {"key": {"api_key": f"sk-{one.name}"}}
            proxies[one.name] = stack.enter_context(running(site, asked, found, secrets=secrets))

        got = {name: many(proxy.url, 50, clients=4) for name, proxy in proxies.items()}

    assert got == {"mine": {(200, "mine"): 50}, "theirs": {(200, "theirs"): 50}}
    for one in (*mine, *theirs):
        assert {asked.headers["authorization"] for asked in one.asked} == {f"Bearer sk-{one.name}"}
