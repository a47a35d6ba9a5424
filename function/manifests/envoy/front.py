"""The front of a service's proxy: which endpoints a request may reach, in which order, and how often.

A request's model is read from its JSON body. It goes to the endpoints that answer to this name: those that are known to
have it, those whose requests are given another name, and those whose names are not known. A model that no endpoint can
answer to is refused with the names that there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import enumerate_names
from function.manifests.envoy import endpoint as endpoints
from function.manifests.envoy import files, local_replies, places, usage
from function.manifests.envoy.access import OPEN, Access
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.language import JSON_ANSWER, UPGRADES, listener, manager, refusal, typed
from function.manifests.envoy.places import PORT
from function.manifests.envoy.upstream import UNLIMITED
from function.vocabulary import names

MODEL = "x-mp-model"
"""Header with the model of a request, from its body."""
_ALL = "all"
"""The cluster of all endpoints."""
MOST_BODY = 32 * 1024 * 1024
"""Bytes of a request's body. It is kept until the response begins, so that the request can be repeated. Providers
accept up to 20 to 50 MB with images."""
_MOST_DIRECT = 65536
"""Bytes of an answer of the proxy's own."""
_ROUTES = "front"
_MOST_NAMES = 64
"""Model names that a refusal lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """When a request is repeated on another endpoint. What no endpoint saw is always repeated."""

    on_reset: bool = False
    on_5xx: bool = False
    statuses: tuple[int, ...] = ()
    attempts: int = 2
    """Retries at most."""
    per_try: str | None = None
    """Longest time until an answer begins, as a protobuf duration such as `30s`."""
    budget: int | None = None
    """Retries at any time, in percent of the requests under way. None: any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ejection:
    """When an endpoint is left alone for a while."""

    after: int
    """Failures in a row: 5xx, resets, failed connections."""
    duration: str
    """How long at first, as a protobuf duration; each further time adds as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """A service, as its front sees it."""

    service: str
    """Name of the ModelService."""
    endpoints: tuple[Endpoint, ...]
    retry: Retry
    ejection: Ejection | None = None
    access: Access = OPEN

    @property
    def listed(self) -> tuple[str, ...]:
        """The names that clients can ask for, if all are known: the service's own if every name will do."""
        named = sorted({name for one in self.endpoints if not one.takes_any for name in one.names})
        return tuple(named) or (self.service,)

    @property
    def is_known(self) -> bool:
        """Whether it is known of every endpoint what it answers to."""
        return bool(self.endpoints) and all(one.takes_any or one.names for one in self.endpoints)

    @property
    def reads_models(self) -> bool:
        """Whether a request's model decides anything."""
        return any(one.names for one in self.endpoints if not one.takes_any)


def front_listener(served: Front) -> dict[str, Any]:
    """Return the listener that the gateway asks."""
    access = served.access
    is_read = served.reads_models or access.is_counted
    return listener(
        "front",
        PORT,
        manager(
            "front",
            None,
            [*access.before, *([_reader(is_counted=access.is_counted)] if is_read else []), *access.behind],
            more={
                "rds": {"route_config_name": _ROUTES, "config_source": files.source(places.ROUTES_FILE)},
                "early_header_mutation_extensions": [_STRIPPED],
                "local_reply_config": {
                    "mappers": [*access.replies, *local_replies.of_front(served.service, MOST_BODY)]
                },
                **UPGRADES,
                **access.logs(MODEL),
            },
        ),
        per_connection_buffer_limit_bytes=usage.MOST_ANSWER if access.is_counted else MOST_BODY,
    )


_STRIPPED = typed(
    "envoy.http.early_header_mutation.header_mutation",
    "extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
    mutations=[{"remove_on_match": {"key_matcher": {"prefix": prefix}}} for prefix in ("x-mp-", "x-envoy-")],
)
"""Clients cannot set the headers by which the proxy decides, or by which Envoy is told to retry."""


def _reader(*, is_counted: bool) -> dict[str, Any]:
    """Return the filter that reads a request's body, if that is JSON: the model, and whether a stream is asked for."""
    read = {MODEL: "model", **({usage.STREAM: "stream"} if is_counted else {})}
    return typed(
        "modelplane.model",
        "extensions.filters.http.transform.v3.TransformConfig",
        request_transformation={
            "headers_mutations": [
                {
                    "append": {
                        "header": {"key": header, "value": f"%REQUEST_BODY({field})%"},
                        "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
                    }
                }
                for header, field in read.items()
            ]
        },
        clear_route_cache=True,
    )


# Routes


def routes(served: Front) -> dict[str, Any]:
    """Return the routes of the front."""
    return {
        "name": _ROUTES,
        "max_direct_response_body_size_bytes": _MOST_DIRECT,
        "virtual_hosts": [{"name": "front", "domains": ["*"], "routes": [*_routes(served)]}],
        "response_headers_to_remove": [local_replies.UNSENT, local_replies.RESET],
        **served.access.routes,
    }


def _routes(served: Front) -> Iterator[dict[str, Any]]:
    yield from served.access.guards
    if served.is_known:
        yield _list(served.listed)
    if served.reads_models:
        for name, members in _by_name(served).items():
            yield from _pair(served, members, [{"name": MODEL, "string_match": {"exact": name}}])
        unnamed = [one for one in served.endpoints if one.takes_any or not one.names]
        asked = [{"name": MODEL, "string_match": {"safe_regex": {"regex": ".+"}}}]
        if unnamed:
            yield from _pair(served, unnamed, asked)
        else:
            yield _unknown(served.listed, asked)
    yield from _pair(served, served.endpoints, [])


def _by_name(served: Front) -> dict[str, list[Endpoint]]:
    """Return the endpoints that may answer to each known name."""
    named = sorted({name for one in served.endpoints if not one.takes_any for name in one.names})
    return {
        name: [one for one in served.endpoints if one.takes_any or not one.names or name in one.names] for name in named
    }


def _pair(served: Front, members: Sequence[Endpoint], asked: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield two routes to a cluster: one for requests that may be repeated, and one for all others."""
    place = {"cluster": _cluster_name(served, members), "timeout": "0s"}
    limit = {"request_body_buffer_limit": MOST_BODY}
    for methods in _REPEATABLE:
        match = {**methods, "headers": [*methods["headers"], *asked]}
        yield {"match": match, "route": {**place, "retry_policy": _policy(served, members)}, **limit}
    rest = {"prefix": "/", **({"headers": [*asked]} if asked else {})}
    yield {"match": rest, "route": {**place, "retry_policy": _unsent(served, members)}, **limit}


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


# Retries

_UNSENT = "retriable-headers,connect-failure,refused-stream"
"""By header, what a listener could not send; by the other two, what did not reach a listener that is being replaced."""


def _unsent(served: Front, members: Sequence[Endpoint], **more: Any) -> dict[str, Any]:
    """Return the policy for any request: repeat it where no endpoint saw it.

    There are no more retries than other endpoints, because Envoy would ask the same ones again.
    """
    return {
        "retry_on": _UNSENT,
        "retriable_headers": [{"name": local_replies.UNSENT, "present_match": True}],
        "num_retries": min(served.retry.attempts, max(len(members) - 1, 1)),
        "retry_priority": typed(
            "envoy.retry_priorities.previous_priorities",
            "extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
            update_frequency=_tries_of_a_priority(served, members),
        ),
        "retry_host_predicate": [
            typed(
                "envoy.retry_host_predicates.previous_hosts",
                "extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
            )
        ],
        "host_selection_retry_max_attempts": 5,
        "retry_back_off": {"base_interval": "0.025s", "max_interval": "0.25s"},
        **more,
    }


def _tries_of_a_priority(served: Front, members: Sequence[Endpoint]) -> int:
    """Return how many endpoints of a priority are tried before the next: two, if there are two and it is not the last.

    The next priority may cost money where another replica costs none. It gets at least one of the tries.
    """
    first = [one for one in members if one.priority == min(other.priority for other in members)]
    return 2 if len(first) > 1 and served.retry.attempts > 1 else 1


def _policy(served: Front, members: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the policy for requests that may be repeated although an endpoint saw them.

    `reset` makes Envoy repeat what did not answer in time. An endpoint that throttles is not asked again at once: with
    no other, the client gets its answer.
    """
    retry = served.retry
    asked = {*retry.statuses, *(_SERVER_ERRORS if retry.on_5xx else ())}
    statuses = sorted(asked if len(members) > 1 else asked - {_THROTTLED})
    on = [_UNSENT, *(["retriable-status-codes"] if statuses else []), *(["reset"] if retry.per_try else [])]
    marks = [local_replies.UNSENT, *([local_replies.RESET] if retry.on_reset else [])]
    return _unsent(
        served,
        members,
        retry_on=",".join(on),
        retriable_headers=[{"name": mark, "present_match": True} for mark in marks],
        **({"retriable_status_codes": statuses} if statuses else {}),
        **({"per_try_timeout": retry.per_try} if retry.per_try else {}),
    )


_THROTTLED = 429
_SERVER_ERRORS = (500, 502, 503, 504, 520, 521, 522, 523, 524, 529)
"""What `5xx` repeats: errors of servers and, from 520, of CDNs before them (Cloudflare) and of overload (Anthropic)."""


# Clusters


def clusters(served: Front) -> list[dict[str, Any]]:
    """Return the clusters that the routes lead to."""
    wanted = [list(served.endpoints)]
    if served.reads_models:
        wanted += _by_name(served).values()
        wanted.append([one for one in served.endpoints if one.takes_any or not one.names])
    by_name = {_cluster_name(served, members): members for members in wanted if members or wanted.index(members) == 0}
    return [_cluster(name, members, served) for name, members in sorted(by_name.items())]


def _cluster_name(served: Front, members: Sequence[Endpoint]) -> str:
    if len(members) == len(served.endpoints):
        return _ALL
    return f"some-{names.content_hash([one.name for one in members])}"


_LAST_RESORT = 1
"""If fewer percent are left, Envoy asks all endpoints rather than none. It does so only if no priority can take over:
when all are ejected, one of them may answer again."""


def _cluster(name: str, members: Sequence[Endpoint], served: Front) -> dict[str, Any]:
    """Return a cluster of endpoints. A priority takes over as far as those before it are ejected or lost."""
    ejection = {"outlier_detection": _outliers(served.ejection)} if served.ejection else {}
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "2s",
        "lb_policy": "ROUND_ROBIN",
        "common_lb_config": {"healthy_panic_threshold": {"value": _LAST_RESORT}},
        "load_assignment": {"cluster_name": name, "endpoints": _tiers(members)},
        "circuit_breakers": {"thresholds": [{**UNLIMITED, **_budget(served.retry)}]},
        "transport_socket": typed(
            "envoy.transport_sockets.internal_upstream",
            "extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport",
            transport_socket=typed(
                "envoy.transport_sockets.raw_buffer", "extensions.transport_sockets.raw_buffer.v3.RawBuffer"
            ),
        ),
        **ejection,
    }


def _tiers(members: Sequence[Endpoint]) -> list[dict[str, Any]]:
    """Return the members by priority. Those of a cluster must be consecutive, so they are counted anew."""
    tiers = sorted({one.priority for one in members})
    return [
        {
            "priority": number,
            "locality": {"region": f"priority-{tier}"},
            "lb_endpoints": [endpoints.address(one) for one in members if one.priority == tier],
        }
        for number, tier in enumerate(tiers)
    ]


def _budget(retry: Retry) -> dict[str, Any]:
    """Return how many requests may be repeated at a time. Envoy's default of 3 would keep a tier from taking over."""
    if retry.budget is None:
        return {"max_retries": UNLIMITED["max_requests"]}
    return {"retry_budget": {"budget_percent": {"value": retry.budget}, "min_retry_concurrency": 3}}


def _outliers(ejection: Ejection) -> dict[str, Any]:
    """Eject after failures in a row only, up to the last endpoint: then the next priority is there."""
    return {
        "consecutive_5xx": ejection.after,
        "enforcing_consecutive_5xx": 100,
        "enforcing_consecutive_gateway_failure": 0,
        "enforcing_success_rate": 0,
        "interval": "1s",
        "base_ejection_time": ejection.duration,
        "max_ejection_time": "600s",
        "max_ejection_percent": 100,
    }
