"""Who may call a service, and what is recorded of it: a real Envoy, with keys in Secrets as a kubelet mounts them."""

import http.client
import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from function.manifests.envoy import places
from tests.e2e import callers, client, providers
from tests.e2e.callers import ask, caller, line
from tests.e2e.programs import Site
from tests.e2e.providers import Provider
from tests.e2e.service_proxy import Running, endpoint, entry, running, service
from tests.e2e.waiting import until

ALICE, BOB = "sk-alice-1234", "sk-bob-5678"
SECRETS = {"alice": {"api-key": f"{ALICE}\n"}, "bob": {"api-key": BOB}}
WINDOW = 2.0
"""Seconds after which every worker has read a changed key."""


@pytest.fixture
def server() -> Iterator[Provider]:
    with providers.serving("main") as (one,):
        one.behave = callers.says(callers.OPENAI)
        yield one


def knowing(name: str = "chat", *, required: bool = True, **spec: object) -> dict[str, object]:
    return service(entry("main"), name=name, callers={"required": required}, **spec)


@pytest.fixture
def proxy(site: Site, server: Provider) -> Iterator[Running]:
    """A service with two callers that records usage."""
    found = endpoint("main", f"{server.url}/v1"), caller("alice", "alice"), caller("bob", "bob")
    with running(site, knowing(usage={"log": True}), *found, secrets=SECRETS) as made:
        yield made


def test_a_key_admits_its_caller(proxy: Running, server: Provider) -> None:
    """As a bearer token, whatever the case of the scheme, or in x-api-key. It goes no further."""
    ways = (
        {"authorization": f"Bearer {ALICE}"},
        {"authorization": f"bearer {ALICE}"},
        {"x_api_key": ALICE},
        {"authorization": "Bearer other", "x_api_key": ALICE},
    )
    assert [ask(proxy.url, **way).status for way in ways] == [200] * len(ways)
    sent = [one.headers for one in server.asked]
    assert not [key for headers in sent for key in headers if key in ("authorization", "x-api-key", "x-mp-caller")]
    assert [line(proxy, number)["caller"] for number in range(len(ways))] == ["alice"] * len(ways)


def test_nothing_else_admits_anybody(proxy: Running, server: Provider) -> None:
    refused = (
        {},
        {"authorization": "Bearer "},
        {"authorization": f"Bearer {ALICE[:-1]}"},
        {"authorization": f"Bearer {ALICE}x"},
        {"authorization": ALICE},
        {"authorization": f"Basic {ALICE}"},
        {"authorization": "Bearer .*"},
        {"authorization": "Bearer nil"},
        {"x_api_key": ""},
        {"x_api_key": "-"},
        {"x_mp_caller": "alice"},
    )
    answers = [ask(proxy.url, **way) for way in refused]
    assert [one.status for one in answers] == [401] * len(refused)
    assert {one.error["code"] for one in answers} == {"invalid_api_key"}
    assert not server.asked
    with client.connected(proxy.url) as (connection, _):
        connection.request("GET", "/v1/models")
        assert connection.getresponse().status == http.HTTPStatus.UNAUTHORIZED


def test_a_key_is_replaced_under_traffic(proxy: Running) -> None:
    """The caller names two Secrets, one after the other, and is never refused."""
    done, seen = threading.Event(), Counter[int]()
    key = [ALICE]

    def work() -> None:
        while not done.is_set():
            seen[ask(proxy.url, key[0]).status] += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        proxy.secret("alice-new", api_key="sk-alice-new")
        both = caller("alice", "alice", "alice-new")
        proxy.configure(knowing(usage={"log": True}), *_rest(proxy, both))
        until(lambda: ask(proxy.url, "sk-alice-new").status == http.HTTPStatus.OK, "the new key to be known")
        done.wait(WINDOW)
        key[0] = "sk-alice-new"
        done.wait(WINDOW)
        proxy.configure(knowing(usage={"log": True}), *_rest(proxy, caller("alice", "alice-new")))
        until(lambda: ask(proxy.url, ALICE).status == http.HTTPStatus.UNAUTHORIZED, "the old key to be refused")
    finally:
        done.set()
        thread.join()
    assert seen[http.HTTPStatus.OK] > 0
    assert set(seen) == {http.HTTPStatus.OK}


def _rest(proxy: Running, *changed: dict[str, object]) -> list[dict[str, object]]:
    return [proxy.found[0], caller("bob", "bob"), *changed]


def test_a_value_that_changes_or_goes_is_refused(proxy: Running) -> None:
    proxy.secret("alice", api_key="sk-changed")
    until(lambda: ask(proxy.url, ALICE).status == http.HTTPStatus.UNAUTHORIZED, "the old value to be refused")
    until(lambda: ask(proxy.url, "sk-changed").status == http.HTTPStatus.OK, "the new value to be known")
    proxy.secret("alice", api_key="")
    until(lambda: ask(proxy.url, "sk-changed").status == http.HTTPStatus.UNAUTHORIZED, "an empty value to admit nobody")
    proxy.secret("bob")
    until(lambda: ask(proxy.url, BOB).status == http.HTTPStatus.UNAUTHORIZED, "a value that is gone to admit nobody")


def test_a_caller_that_is_gone_is_refused_without_a_new_listener(proxy: Running) -> None:
    before = proxy.observed["proxy-config"]["data"]
    proxy.configure(knowing(usage={"log": True}), proxy.found[0], caller("bob", "bob"))
    until(lambda: ask(proxy.url, ALICE).status == http.HTTPStatus.UNAUTHORIZED, "the caller to be refused")
    assert ask(proxy.url, BOB).status == http.HTTPStatus.OK
    after = proxy.observed["proxy-config"]["data"]
    assert front(after) == front(before)


def test_who_needs_no_key_passes_with_what_they_sent(site: Site, server: Provider) -> None:
    found = endpoint("main", f"{server.url}/v1"), caller("alice", "alice")
    with running(site, knowing(required=False, usage={"log": True}), *found, secrets=SECRETS) as open_:
        assert ask(open_.url, "sk-of-the-server", x_mp_caller="alice").status == http.HTTPStatus.OK
        assert ask(open_.url, ALICE).status == http.HTTPStatus.OK
        assert [one.headers.get("authorization") for one in server.asked] == ["Bearer sk-of-the-server", None]
        assert [line(open_, number)["caller"] for number in (0, 1)] == [None, "alice"]


def test_callers_of_two_namespaces_never_meet(site: Site, server: Provider) -> None:
    """They have the same names, and so have their Secrets."""
    found = endpoint("main", f"{server.url}/v1"), caller("alice", "alice")
    other = {"alice": {"api-key": "sk-alice-of-another"}}
    with (
        running(site, knowing(), *found, secrets=SECRETS) as ours,
        running(site, knowing(name="other"), *found, secrets=other) as theirs,
    ):
        asked = [ask(url, key).status for url in (ours.url, theirs.url) for key in (ALICE, "sk-alice-of-another")]
    assert asked == [200, 401, 401, 200]


# Usage


@pytest.mark.parametrize(
    ("asked", "behave", "tokens"),
    [
        pytest.param((callers.CHAT, '{"model":"qwen"}'), callers.says(callers.OPENAI), (11, 7), id="chat"),
        pytest.param(
            (callers.CHAT, '{"model":"qwen"}'),
            callers.says(callers.OPENAI, content_type="Application/JSON; charset=utf-8"),
            (11, 7),
            id="a-charset",
        ),
        pytest.param(
            ("/v1/embeddings", '{"model":"qwen"}'),
            callers.says({"prompt_tokens": 5, "total_tokens": 5}, data="x" * 2_000_000),
            (5, None),
            id="embeddings-of-2-MB",
        ),
        pytest.param(
            ("/v1/messages", '{"model":"qwen"}'),
            callers.says({"input_tokens": 12, "output_tokens": 8}),
            (12, 8),
            id="messages",
        ),
        pytest.param(
            ("/v1/messages", '{"model":"qwen","stream":true}'),
            callers.streams(*callers.ANTHROPIC_EVENTS),
            (25, 15),
            id="a-stream-of-messages",
        ),
        pytest.param(
            ("/v1/responses", '{"model":"qwen","stream":true}'),
            callers.streams(*callers.RESPONSES_EVENTS),
            (5, 6),
            id="a-stream-of-responses",
        ),
        pytest.param(
            (callers.CHAT, '{"model":"qwen","stream":true}'),
            callers.streams(*callers.CHAT_EVENTS, content_type="text/event-stream; charset=utf-8"),
            (11, 7),
            id="a-stream-of-chat",
        ),
        pytest.param((callers.CHAT, '{"model":"qwen"}'), callers.says(None), (None, None), id="no-usage"),
    ],
)
def test_tokens_are_recorded(
    asked: tuple[str, str], behave: providers.Behaviour, tokens: tuple[int, int], proxy: Running, server: Provider
) -> None:
    path, body = asked
    server.behave = behave
    answer = ask(proxy.url, ALICE, path=f"{path}?note=private", body=body, accept_encoding="gzip")
    assert answer.status == http.HTTPStatus.OK
    found = line(proxy, 0)
    want = ("ml-team/chat", "alice", "qwen", "main", path, 200, 1, *tokens)
    names = ("service", "caller", "model", "endpoint", "path", "status", "attempts", "input_tokens", "output_tokens")
    assert tuple(found[name] for name in names) == want
    assert found["milliseconds"] >= found["first_byte_milliseconds"] >= 0
    assert "accept-encoding" not in server.asked[0].headers
    assert ALICE not in proxy.log
    assert "private" not in proxy.log


@pytest.mark.parametrize(
    ("path", "body", "want"),
    [
        pytest.param(
            callers.CHAT,
            '\n{ "model":"qwen", "stream" : true, "seed":9007199254740993, "s":"\\u00e9 \\"stream_options\\""}',
            '{"stream_options":{"include_usage":true}, "model":"qwen", "stream" : true, "seed":9007199254740993,'
            ' "s":"\\u00e9 \\"stream_options\\""}',
            id="added",
        ),
        pytest.param(callers.CHAT, '{"model":"qwen","stream":false}', None, id="no-stream"),
        pytest.param(
            callers.CHAT,
            '{"model":"qwen","stream":true,"stream_options":{"include_usage":false}}',
            None,
            id="said-already",
        ),
        pytest.param(callers.CHAT, '{"model":"qwen","stream":true,"stream_options":null}', None, id="said-as-null"),
        pytest.param("/v1/messages", '{"model":"qwen","stream":true}', None, id="another-api"),
        pytest.param(callers.CHAT, '{"model":"qwen","stream":true', None, id="no-json"),
    ],
)
def test_usage_of_streams_is_asked_for(
    proxy: Running, server: Provider, path: str, body: str, want: str | None
) -> None:
    """And nothing else of a body is touched."""
    server.behave = callers.streams(*callers.CHAT_EVENTS)
    assert ask(proxy.url, ALICE, path=path, body=body).status == http.HTTPStatus.OK
    assert server.asked[0].body.decode() == (body if want is None else want)


def test_requests_that_nobody_answers_are_recorded(site: Site) -> None:
    """With all attempts, and the endpoint of the last."""
    with providers.serving("main", "second") as (main, second):
        main.behave = second.behave = providers.answers(503)
        found = [endpoint(one.name, f"{one.url}/v1") for one in (main, second)]
        tiers = service(entry("main"), entry("second", priority=1), usage={"log": True})
        with running(site, tiers, *found) as made:
            assert ask(made.url).status == http.HTTPStatus.SERVICE_UNAVAILABLE
            found_ = line(made, 0)
    assert (found_["status"], found_["attempts"], found_["endpoint"], found_["caller"]) == (503, 2, "second", None)


def test_keys_that_are_missing_are_told_by_name(site: Site, server: Provider) -> None:
    """Nothing else reads Secrets, and no pod waits for one: only the proxy knows."""
    keyed = endpoint("main", f"{server.url}/v1", auth={"secretRef": {"name": "provider"}})
    found = keyed, caller("alice", "alice"), caller("bob", "bob")
    there = SECRETS | {"bob": {"api-key": "\n"}}
    with running(site, knowing(), *found, secrets=there) as proxy:
        assert missing(proxy) == ["bob/api-key", "provider/api-key"]
        proxy.secret("provider", api_key="sk-provider-90")
        proxy.secret("bob", api_key=BOB)
        until(lambda: missing(proxy), "no key to be missing", holds=lambda seen: not seen)


def front(files: Mapping[str, str]) -> object:
    """The listener of requests: another one would end streams an hour later."""
    [found] = [one for one in json.loads(files[places.LISTENERS_FILE])["resources"] if one["name"] == "front"]
    return found


def missing(proxy: Running) -> list[str]:
    with client.asking(f"http://127.0.0.1:{proxy.probe}", places.MISSING_PATH, {}) as response:
        found: list[str] = json.loads(response.read())["missing"]
        return found
