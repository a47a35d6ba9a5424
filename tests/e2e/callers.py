"""Callers of services, servers that say how many tokens an answer took, and the lines in which a proxy records it."""

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function import registry
from function.core import Request, plain
from function.sandbox.settle import settle
from tests.e2e import client, objects
from tests.e2e.kube import Object
from tests.e2e.providers import Behaviour, Exchange
from tests.e2e.service_proxy import Running
from tests.e2e.waiting import until

CHAT = "/v1/chat/completions"


def caller(name: str, *secrets: str, namespace: str = objects.TEAM, **spec: Any) -> Object:
    """A ModelCaller that has published its keys, as its own composer says it: one key api-key of each Secret."""
    keys = [{"secretRef": {"name": secret}} for secret in secrets]
    made = objects.of("ModelCaller", name, namespace, keys=keys, **spec)
    result = settle(registry.compose, Request(xr=made, observed={}), [made])
    assert result.ready, f"{name} is not accepted: {[one.message for one in result.conditions]}"
    return made | {"status": plain(result.status)}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def error(self) -> Any:
        return json.loads(self.text)["error"]


def ask(url: str, key: str = "", *, path: str = CHAT, body: str = '{"model":"qwen"}', **headers: str) -> Answer:
    """One request, with a key as a bearer token, over a connection of its own."""
    bearer = {"authorization": f"Bearer {key}"} if key else {}
    sent = {"content-type": "application/json", **bearer, **client.spelled(headers)}
    with client.connected(url) as (connection, root):
        connection.request("POST", root + path, body, sent)
        return read(connection.getresponse())


def read(response: http.client.HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read().decode())


# Servers


def says(usage: object, *, content_type: str = "application/json", **more: object) -> Behaviour:
    """Answer with JSON that has a usage."""

    async def behave(exchange: Exchange) -> None:
        content = {"model": exchange.provider.name, **more, "usage": usage}
        exchange.answer(200, json.dumps(content).encode(), content_type)

    return behave


def streams(*events: object, content_type: str = "text/event-stream") -> Behaviour:
    """Stream events at once."""

    async def behave(exchange: Exchange) -> None:
        exchange.head(200, {"content-type": content_type, "transfer-encoding": "chunked"})
        for event in (*events, "[DONE]"):
            exchange.chunk(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
        exchange.writer.write(b"0\r\n\r\n")

    return behave


OPENAI = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
ANTHROPIC_EVENTS = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 25, "output_tokens": 1}}},
    {"type": "content_block_delta", "delta": {"text": "hi"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 15}},
)
RESPONSES_EVENTS = (
    {"type": "response.output_text.delta", "delta": "hi"},
    {"type": "response.completed", "response": {"usage": {"input_tokens": 5, "output_tokens": 6, "total_tokens": 11}}},
)
CHAT_EVENTS = ({"choices": [{"delta": {"content": "hi"}}], "usage": None}, {"choices": [], "usage": OPENAI})


# Lines


def lines(proxy: Running) -> Sequence[Mapping[str, Any]]:
    """The lines of usage so far."""
    return [json.loads(line) for line in proxy.log.splitlines() if line.startswith("{") and line.endswith("}")]


def line(proxy: Running, number: int) -> Mapping[str, Any]:
    """The line of a request, by its number from 0."""
    until(lambda: len(lines(proxy)) > number, f"line {number} of usage")
    return lines(proxy)[number]
