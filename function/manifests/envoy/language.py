"""How Envoy's configuration is written: typed extensions, listeners, and a connection manager of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TYPES = "type.googleapis.com/envoy"
_IDLE_SECONDS = "600s"
"""Longest pause between two tokens, or before the first; the same as on a cluster's gateway."""
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - other pods ask it


def text(value: Any) -> str:
    """Return a configuration as a file that people can read."""
    return json.dumps(value, indent=1) + "\n"


def compact(value: Any) -> str:
    """Return a configuration as a file that takes little room in a ConfigMap."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"


def typed(name: str, type_: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "typed_config": {"@type": f"{TYPES}.{type_}", **fields}}


def listener(name: str, port: int, manager: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a listener on a port of every interface."""
    return {
        "name": name,
        "address": {"socket_address": {"address": _EVERYWHERE, "port_value": port}},
        "filter_chains": [{"filters": [dict(manager)]}],
        **more,
    }


def manager(
    prefix: str,
    routes: Iterable[Mapping[str, Any]] | None,
    filters: Sequence[Mapping[str, Any]],
    *,
    more: Mapping[str, Any] | None = None,
    is_ahead: bool = False,
    **host: Any,
) -> dict[str, Any]:
    """Return a connection manager that serves every host name.

    `host` has further fields of its virtual host, and `more` fields of the manager, which must say where the routes are
    if `routes` is None. It tells nobody about the client or about itself, and has no time limit but the longest pause
    of a stream. With `is_ahead`, its routes may lead to clusters that Envoy reads later; else it refuses such routes.
    """
    ahead = {"validate_clusters": False} if is_ahead else {}
    hosts = [{"name": prefix, "domains": ["*"], "routes": [*routes], **host}] if routes is not None else []
    return typed(
        "envoy.filters.network.http_connection_manager",
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix=prefix,
        **({"route_config": {"virtual_hosts": hosts, **ahead}} if hosts else {}),
        stream_idle_timeout=_IDLE_SECONDS,
        skip_xff_append=True,
        generate_request_id=False,
        server_header_transformation="PASS_THROUGH",
        **(more or {}),
        http_filters=[
            *filters,
            typed("envoy.filters.http.router", "extensions.filters.http.router.v3.Router", suppress_envoy_headers=True),
        ],
    )


def refusal(status: int, message: str, code: str) -> dict[str, Any]:
    """Return a direct response in the form of OpenAI's API errors."""
    error = {"message": message, "type": "invalid_request_error", "code": code}
    return {"status": status, "body": {"inline_string": json.dumps({"error": error}, ensure_ascii=False)}}


UPGRADES: Mapping[str, Any] = {"upgrade_configs": [{"upgrade_type": "websocket"}]}
"""Fields of a connection manager that passes WebSockets on, such as those of OpenAI's realtime API."""
JSON_ANSWER: tuple[dict[str, Any], ...] = (
    {"header": {"key": "content-type", "value": "application/json"}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"},
)
"""Headers of a direct response with a JSON body."""
