"""How many tokens callers may use: a real Envoy, and a real rate-limit server that counts what answers took."""

from collections.abc import Iterator
from typing import Any

import pytest

from function.vocabulary import settings
from tests.e2e import callers, providers, rate_limits
from tests.e2e.callers import ask, caller
from tests.e2e.programs import Site
from tests.e2e.providers import Provider
from tests.e2e.rate_limits import Server
from tests.e2e.service_proxy import Running, endpoint, entry, running, service
from tests.e2e.waiting import until

SECRETS = {"alice": {"api-key": "sk-alice"}, "bob": {"api-key": "sk-bob"}}
USED = 18
"""Tokens of each answer."""
A_DAY = 86_400
CHAT = service(entry("main"), callers={})


@pytest.fixture
def server() -> Iterator[Provider]:
    with providers.serving("main") as (one,):
        one.behave = callers.says(callers.OPENAI)
        yield one


@pytest.fixture
def counting(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server that Modelplane is told of."""
    with rate_limits.serving(site) as one:
        monkeypatch.setattr(settings, "RATELIMIT", one.address)
        yield one


def limited(name: str, tokens: int, per: str = "Day", **more: Any) -> dict[str, Any]:
    return caller(name, name, limits=[{"tokens": tokens, "per": per}], **more)


@pytest.fixture
def proxy(site: Site, server: Provider, counting: Server) -> Iterator[Running]:
    """A service that alice may use for 50 tokens a day, and bob without a limit."""
    found = endpoint("main", f"{server.url}/v1"), limited("alice", 50), caller("bob", "bob")
    with running(site, CHAT, *found, secrets=SECRETS) as made:
        yield made


def test_a_caller_above_its_limit_is_told_when_to_come_back(proxy: Running, server: Provider) -> None:
    """The request that exceeds the limit is still answered, since nobody knows what an answer takes before."""
    assert [ask(proxy.url, "sk-alice").status for _ in range(3)] == [200, 200, 200]
    until(lambda: ask(proxy.url, "sk-alice").status == 429, "54 tokens to be counted")
    asked = len(server.asked)
    refused = ask(proxy.url, "sk-alice")
    assert (refused.status, refused.error["code"], refused.error["type"]) == (429, "rate_limit_exceeded", "tokens")
    assert 0 < int(refused.headers["retry-after"]) <= A_DAY
    assert refused.headers["content-type"] == "application/json"
    assert len(server.asked) == asked
    assert ask(proxy.url, "sk-bob").status == 200


def test_streams_and_embeddings_count(proxy: Running, server: Provider) -> None:
    server.behave = callers.streams(*callers.CHAT_EVENTS)
    assert ask(proxy.url, "sk-alice", body='{"model":"qwen","stream":true}').status == 200
    server.behave = callers.says(None)
    until(lambda: _left(proxy) == 50 - USED, "the stream to be counted")
    server.behave = callers.says({"prompt_tokens": 33, "total_tokens": 33})
    assert ask(proxy.url, "sk-alice", path="/v1/embeddings").status == 200
    until(lambda: ask(proxy.url, "sk-alice").status == 429, "embeddings to be counted")


def _left(proxy: Running) -> int:
    """What alice has left, while answers take nothing."""
    return int(ask(proxy.url, "sk-alice").headers["x-ratelimit-remaining"])


def test_what_takes_no_tokens_does_not_count(proxy: Running, server: Provider) -> None:
    server.behave = callers.says(None)
    assert [ask(proxy.url, "sk-alice").status for _ in range(5)] == [200] * 5
    assert _left(proxy) == 50


def test_services_of_a_namespace_share_a_callers_limit(proxy: Running, site: Site, server: Provider) -> None:
    """A caller of the same name in another namespace has a limit of its own."""
    found = endpoint("main", f"{server.url}/v1"), limited("alice", 50)
    other = service(entry("main"), name="other", callers={})
    with running(site, other, *found, secrets=SECRETS) as theirs:
        assert [ask(url, "sk-alice").status for url in (proxy.url, theirs.url, proxy.url)] == [200, 200, 200]
        until(lambda: ask(theirs.url, "sk-alice").status == 429, "both services to be counted")
        assert ask(proxy.url, "sk-alice").status == 429
    elsewhere = service(entry("main"), namespace="other-team", callers={})
    moved = [
        one | {"metadata": one["metadata"] | {"namespace": "other-team"}}
        for one in (found[0], limited("alice", 50, namespace="other-team"))
    ]
    with running(site, elsewhere, *moved, secrets=SECRETS) as theirs:
        assert ask(theirs.url, "sk-alice").status == 200


def test_a_limit_that_is_raised_counts_at_once(proxy: Running) -> None:
    until(lambda: ask(proxy.url, "sk-alice").status == 429, "the limit to be reached")
    proxy.configure(CHAT, proxy.found[0], limited("alice", 1000), caller("bob", "bob"))
    until(lambda: ask(proxy.url, "sk-alice").status == 200, "the limit to be raised")


def test_without_a_server_that_counts_requests_pass(proxy: Running, counting: Server) -> None:
    until(lambda: ask(proxy.url, "sk-alice").status == 429, "the limit to be reached")
    counting.stop()
    assert [ask(proxy.url, "sk-alice").status for _ in range(3)] == [200, 200, 200]
    counting.start()
    until(lambda: ask(proxy.url, "sk-alice").status == 429, "the limit to be kept again")


def test_an_endpoint_that_throttles_speaks_for_itself(proxy: Running, server: Provider) -> None:
    server.behave = providers.answers(429, retry_after="7")
    answer = ask(proxy.url, "sk-alice")
    assert (answer.status, answer.error["message"], answer.headers["retry-after"]) == (429, "main says 429", "7")
