"""A service's proxy while keys, endpoints and models change, under load, and with large bodies: a real Envoy."""

import contextlib
import json
from collections.abc import Iterator

from function.vocabulary import names
from tests.e2e import client, load, objects
from tests.e2e.client import call
from tests.e2e.kube import Object
from tests.e2e.load import many
from tests.e2e.programs import Site
from tests.e2e.providers import Behaviour, Provider, answers, resets, serving, streams
from tests.e2e.service_proxy import Running, endpoint, entry, running, service
from tests.e2e.test_service_proxy import CHAT, EJECTED, chat, own, tiers
from tests.e2e.waiting import steady, until

MIB = 1024 * 1024


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
            assert paid.asked == []

            proxy.secret("paid", api_key="sk-1")
            until(lambda: chat(proxy).status, "the key to be used", holds=lambda seen: seen == 200)
            assert {one.headers["authorization"] for one in paid.asked} == {"Bearer sk-1"}

            proxy.secret("paid")  # the Secret is deleted
            until(lambda: chat(proxy).status, "the key to be gone", holds=lambda seen: seen == 503)
            proxy.secret("paid", api_key="sk-2")
            until(
                lambda: chat(proxy).status == 200 and key(paid), "another key", holds=lambda seen: seen == "Bearer sk-2"
            )


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
        for turn in range(8):
            sound = turn % len(found)
            failing = [one for number, one in enumerate(found) if number != sound]
            for number, one in enumerate(failing):
                break_(one, faults[(turn + number) % len(faults)])
            assert many(proxy.url, 1250) == {(200, found[sound].name): 1250}, f"turn {turn}"
            for one in failing:
                mend(one)
            until(lambda: ejected(proxy), "all to be back", holds=lambda seen: seen == 0)
            until(lambda: many(proxy.url, 40), "each thread to know", holds=lambda seen: seen == {(200, "first"): 40})


def ejected(proxy: Running) -> int:
    """How many are ejected, once all that follows from the last requests has happened."""
    return steady(lambda: proxy.metric(EJECTED), "the number of ejected endpoints", seconds=0.3)


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
