"""One endpoint behind a service's proxy: its listener, its cluster, and its place in the clusters of the front."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from function.manifests.envoy import local_replies, provider_key, upstream
from function.manifests.envoy.language import JSON_ANSWER, UPGRADES, manager, refusal
from function.manifests.envoy.places import DATA, DIRECTORY
from function.manifests.envoy.upstream import Upstream

_CONNECT = "3s"
"""How long a connection may take. What does not answer costs every request this long, until it is ejected."""
_AGAIN = {"retry_on": "refused-stream,reset-before-request", "num_retries": 1}
"""Repeat at once what met a connection that the endpoint had closed."""
_SDS = f"{DIRECTORY}/{DATA}"
"""The directory of SDS files, in which those of new endpoints are there at once."""
_OURS = ("x-mp-model", "x-mp-stream", "x-mp-caller")
"""Headers between the front and the listeners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint, and what part of the traffic is its own."""

    name: str
    upstream: Upstream
    weight: int
    priority: int
    """0 is asked first. Priorities are consecutive."""
    names: tuple[str, ...] = ()
    """The model names that it answers to; none if they are not known."""
    model: str | None = None
    """The name that requests get in place of the client's, so that any name will do."""
    is_healthy: bool = True
    """False for one that counts as a part of its priority, but is not asked: its cluster is lost."""
    is_outside: bool = False
    """Whether it belongs to an outside provider, who must not learn about clients."""

    @property
    def takes_any(self) -> bool:
        return self.model is not None


def address(endpoint: Endpoint) -> dict[str, Any]:
    """Return the endpoint as a member of a cluster of the front."""
    place = {"server_listener_name": _name(endpoint), "endpoint_id": endpoint.name}
    return {
        "endpoint": {"address": {"envoy_internal_address": place}},
        "load_balancing_weight": endpoint.weight,
        "metadata": {"filter_metadata": {"mp": {"endpoint": endpoint.name}}},
        **({} if endpoint.is_healthy else {"health_status": "UNHEALTHY"}),
    }


def listener(endpoint: Endpoint) -> dict[str, Any]:
    """Return the internal listener that asks the endpoint."""
    to = replace(endpoint.upstream, model=endpoint.model)
    hidden = [*_OURS, *(upstream.FORWARDED if endpoint.is_outside else ())]
    asked = manager(
        _name(endpoint),
        [*([_NO_JSON] if endpoint.model else []), *upstream.routes(to, _name(endpoint), retry_policy=_again(to))],
        [*upstream.filters(to), *([provider_key.injector(endpoint.name, to.key)] if to.key else [])],
        more={"local_reply_config": local_replies.of_endpoint(endpoint.name), **UPGRADES},
        is_ahead=True,  # Envoy reads listeners and clusters in any order
        request_headers_to_remove=hidden,
        response_headers_to_remove=[local_replies.UNSENT, local_replies.RESET],  # only the proxy may set them
    )
    return {"name": _name(endpoint), "internal_listener": {}, "filter_chains": [{"filters": [asked]}]}


def cluster(endpoint: Endpoint) -> dict[str, Any]:
    return upstream.cluster(_name(endpoint), endpoint.upstream, _SDS, connect_timeout=_CONNECT)


def _again(to: Upstream) -> dict[str, Any]:
    """Return the policy for what met a closed connection, or one of several addresses that cannot be reached.

    With one address, the front asks another endpoint at once.
    """
    return upstream.retries(to, 1) if to.rules else _AGAIN


_NO_JSON = {
    "match": {
        "prefix": "/",
        "headers": [
            {"name": ":method", "string_match": {"safe_regex": {"regex": "POST|PUT|PATCH"}}},
            {
                "name": "content-type",
                "string_match": {"safe_regex": {"regex": "(?i)application/json.*"}},
                "invert_match": True,
                "treat_missing_header_as_empty": True,
            },
        ],
    },
    "direct_response": refusal(
        415,
        "the name of the model is replaced for this endpoint, which needs a JSON body (content-type: application/json)",
        "unsupported_content_type",
    ),
    "response_headers_to_add": [*JSON_ANSWER],
}
"""The model's name cannot be replaced in another body. Passed on as it is, it would ask for a model of another name."""


def _name(endpoint: Endpoint) -> str:
    """Name of the endpoint's listener and cluster. No endpoint's name has a slash."""
    return f"endpoint/{endpoint.name}"
