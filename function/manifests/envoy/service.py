"""The configuration of a ModelService's proxy: a stock Envoy in front of all endpoints of the service.

Requests pass two listeners:

    front (callers, names, usage) -> the cluster of the model's name -> the endpoint's listener -> the endpoint

- The *front* is what the gateway asks. It knows who calls, and which model is asked for.
- A *cluster of the front* has the endpoints that answer to a model name, as Envoy's internal listeners, with their
  priorities and weights. Retries and ejection are its own.
- An *endpoint's listener* rewrites path, Host and model for its endpoint and adds its key, so that no endpoint can get
  the path or the key of another.

Everything but the bootstrap is read from files of a ConfigMap, and read again when Kubernetes changes them, so that
endpoints come and go without a restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.manifests.envoy import endpoint as endpoints
from function.manifests.envoy import files, health, places, resolvers, upstream
from function.manifests.envoy.balancing import clusters
from function.manifests.envoy.egress import connections
from function.manifests.envoy.front import Front, front_listener
from function.manifests.envoy.language import compact, text, typed
from function.manifests.envoy.routes import routes

_HEAP = 1536 * 1024 * 1024
"""Bytes of memory at which the proxy accepts no more requests. A body of 20 MB whose model is read takes 65 MB."""
MEMORY = "2Gi"
"""Memory limit of a pod, with room for the requests under way."""
_LINGER_SECONDS = 3600
"""How long streams go on that began under a listener that is replaced since."""
ARGUMENTS = (
    *("--drain-time-s", str(_LINGER_SECONDS), "--drain-strategy", "immediate"),
    *("--file-flush-interval-msec", "1000"),
)
"""Lines of usage are written each second. Envoy's default is ten."""


def bootstrap(node: str) -> dict[str, str]:
    """Return the files that are read at startup only, by name."""
    config = {
        "node": {"id": node, "cluster": "modelplane-service"},
        **resolvers.AS_WRITTEN,
        "admin": {"address": {"pipe": {"path": places.ADMIN}}},
        "bootstrap_extensions": [
            typed("envoy.bootstrap.internal_listener", "extensions.bootstrap.internal_listener.v3.InternalListener")
        ],
        "dynamic_resources": {
            "lds_config": files.source(places.LISTENERS_FILE),
            "cds_config": files.source(places.CLUSTERS_FILE),
        },
        "stats_config": {
            "stats_matcher": {"exclusion_list": {"patterns": [*_UNCOUNTED]}},
            "histogram_bucket_settings": [{"match": {"suffix": "_time"}, "buckets": [*_BUCKETS]}],
        },
        "overload_manager": {
            "refresh_interval": "0.25s",
            "resource_monitors": [connections(), _heap()],
            "actions": [
                _action("envoy.overload_actions.shrink_heap", 0.9),
                _action("envoy.overload_actions.stop_accepting_requests", 1.0),
            ],
        },
    }
    return {places.BOOTSTRAP_FILE: text(config)}


_UNCOUNTED: tuple[Mapping[str, Any], ...] = (
    *({"prefix": prefix} for prefix in ("listener.", "http.endpoint/", "http.probe.", "cluster.admin.")),
    *({"contains": part} for part in (".circuit_breakers.", ".external.", ".upstream_cx_length_ms")),
    *({"contains": part} for part in (".upstream_cx_connect_ms", ".membership_degraded", ".membership_excluded")),
    *({"suffix": end} for end in (".total_match_count", ".membership_change", ".warming_state", "_buffered")),
    {"safe_regex": {"regex": r"cluster\.(all|some-[0-9a-f]+)\.upstream_cx_.*"}},
)
"""Statistics that Envoy would keep for each endpoint, and that repeat others or say nothing about requests. The last
are of connections within the proxy."""
_BUCKETS = (5, 25, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000)
"""Milliseconds by which the times of requests are counted, up to long generations."""


def _heap() -> dict[str, Any]:
    return typed(
        "envoy.resource_monitors.fixed_heap",
        "extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig",
        max_heap_size_bytes=_HEAP,
    )


def _action(name: str, at: float) -> dict[str, Any]:
    trigger = {"name": "envoy.resource_monitors.fixed_heap", "threshold": {"value": at}}
    return {"name": name, "triggers": [trigger]}


def dynamic(front: Front) -> dict[str, str]:
    """Return the files that are read again when they change, by name."""
    heard = [front_listener(front), health.probe(_files(front)), *(endpoints.listener(one) for one in front.endpoints)]
    asked = [
        *clusters(front),
        health.admin(),
        *front.access.clusters,
        *(endpoints.cluster(one) for one in front.endpoints),
    ]
    trusted = (upstream.authority_files(one.upstream) for one in front.endpoints)
    secrets = {name: compact(sds) for files_ in trusted for name, sds in files_.items()}
    return {
        places.LISTENERS_FILE: files.resources(files.LISTENER, heard),
        places.CLUSTERS_FILE: files.resources(files.CLUSTER, asked),
        places.ROUTES_FILE: files.resources(files.ROUTES, [routes(front)]),
        **dict(sorted(secrets.items())),
    }


def _files(front: Front) -> Iterator[tuple[str, str]]:
    """Yield the keys that the proxy reads, as secret/key, each with its path."""
    for one in front.endpoints:
        for secret in (one.upstream.key.secret if one.upstream.key else None, one.upstream.authority):
            if secret:
                yield secret.path.removeprefix(f"{places.SECRETS_DIRECTORY}/"), secret.path
    for caller in front.access.callers.callers if front.access.callers else ():
        for path in caller.files:
            yield path.removeprefix(f"{places.SECRETS_DIRECTORY}/"), path
