"""The routes of a service's front: by the model of a request, and by whether it may be repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.core import enumerate_names
from function.manifests.envoy import clients, local_replies
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.front import MODEL, MOST_BODY, ROUTES, Front, by_name, cluster_name
from function.manifests.envoy.language import JSON_ANSWER, refusal
from function.manifests.envoy.retries import repeated, unsent

_MOST_DIRECT = 65536
"""Bytes of an answer of the proxy's own."""
_MOST_NAMES = 64
"""Model names that a refusal lists."""


def routes(served: Front) -> dict[str, Any]:
    """Return the routes of the front."""
    return {
        "name": ROUTES,
        "max_direct_response_body_size_bytes": _MOST_DIRECT,
        "virtual_hosts": [{"name": "front", "domains": ["*"], "routes": [*_routes(served)]}],
        "response_headers_to_remove": [local_replies.UNSENT, local_replies.RESET],
        **served.access.routes,
    }


def _routes(served: Front) -> Iterator[dict[str, Any]]:
    yield dict(clients.CLIMBING)
    yield from served.access.guards
    if served.is_known:
        yield _list(served.listed)
    if served.reads_models:
        for name, members in by_name(served).items():
            yield from _pair(served, members, [{"name": MODEL, "string_match": {"exact": name}}])
        unnamed = [one for one in served.endpoints if one.takes_any or not one.names]
        asked = [{"name": MODEL, "string_match": {"safe_regex": {"regex": ".+"}}}]
        if unnamed:
            yield from _pair(served, unnamed, asked)
        else:
            yield _unknown(served.listed, asked)
    yield from _pair(served, served.endpoints, [])


def _pair(served: Front, members: Sequence[Endpoint], asked: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield two routes to a cluster: one for requests that may be repeated, and one for all others."""
    place = {"cluster": cluster_name(served, members), "timeout": "0s"}
    limit = {"request_body_buffer_limit": MOST_BODY}
    for methods in _REPEATABLE:
        match = {**methods, "headers": [*methods["headers"], *asked]}
        yield {"match": match, "route": {**place, "retry_policy": repeated(served, members)}, **limit}
    rest = {"prefix": "/", **({"headers": [*asked]} if asked else {})}
    yield {"match": rest, "route": {**place, "retry_policy": unsent(served, members)}, **limit}


_REPEATABLE: tuple[Mapping[str, Any], ...] = (
    {"prefix": "/", "headers": [{"name": ":method", "string_match": {"safe_regex": {"regex": "GET|HEAD"}}}]},
    {
        "safe_regex": {"regex": "/v1/(chat/completions|completions|embeddings|responses|messages)"},
        "headers": [{"name": ":method", "string_match": {"exact": "POST"}}],
    },
)
"""Requests that may be repeated although an endpoint saw them: they compute an answer, and change nothing."""


def _list(listed: Sequence[str]) -> dict[str, Any]:
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "modelplane"} for name in listed]
    answer = json.dumps({"object": "list", "data": models}, ensure_ascii=False)
    method = {"name": ":method", "string_match": {"safe_regex": {"regex": "GET|HEAD"}}}
    return {
        "match": {"path": "/v1/models", "headers": [method]},
        "direct_response": {"status": 200, "body": {"inline_string": answer}},
        "response_headers_to_add": [*JSON_ANSWER],
    }


def _unknown(listed: Sequence[str], asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    there = enumerate_names([json.dumps(name, ensure_ascii=False) for name in listed], _MOST_NAMES)
    message = f"no endpoint answers to this model; there is {there}"
    return {
        "match": {"prefix": "/", "headers": [*asked]},
        "direct_response": refusal(404, message, "model_not_found"),
        "response_headers_to_add": [*JSON_ANSWER],
    }
