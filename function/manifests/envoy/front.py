"""The front of a service's proxy: which endpoints a request may reach, in which order, and how often.

A request's model is read from its JSON body. It goes to the endpoints that answer to this name: those that are known to
have it, those whose requests are given another name, and those whose names are not known. A model that no endpoint can
answer to is refused with the names that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from function.manifests.envoy import clients, files, local_replies, places, usage
from function.manifests.envoy.access import OPEN, Access
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.language import UPGRADES, listener, manager, typed
from function.manifests.envoy.places import PORT
from function.vocabulary import names

MODEL = "x-mp-model"
"""Header with the model of a request, from its body."""
_ALL = "all"
"""The cluster of all endpoints."""
MOST_BODY = 32 * 1024 * 1024
"""Bytes of a request's body. It is kept until the response begins, so that the request can be repeated. Providers
accept up to 20 to 50 MB with images."""
ROUTES = "front"
"""Name of the configuration of the front's routes."""


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
                "rds": {"route_config_name": ROUTES, "config_source": files.source(places.ROUTES_FILE)},
                "local_reply_config": {
                    "mappers": [*access.replies, *local_replies.of_front(served.service, MOST_BODY)]
                },
                **UPGRADES,
                **clients.MANAGER,
                **access.logs(MODEL),
            },
        ),
        per_connection_buffer_limit_bytes=usage.MOST_ANSWER if access.is_counted else MOST_BODY,
    )


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


# Names


def by_name(served: Front) -> dict[str, list[Endpoint]]:
    """Return the endpoints that may answer to each known name."""
    named = sorted({name for one in served.endpoints if not one.takes_any for name in one.names})
    return {
        name: [one for one in served.endpoints if one.takes_any or not one.names or name in one.names] for name in named
    }


def cluster_name(served: Front, members: Sequence[Endpoint]) -> str:
    if len(members) == len(served.endpoints):
        return _ALL
    return f"some-{names.content_hash([one.name for one in members])}"
