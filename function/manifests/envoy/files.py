"""Configuration that Envoy reads from files, and reads again when they change (xDS by path)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from function.manifests.envoy.language import TYPES, compact
from function.manifests.envoy.places import DATA, DIRECTORY

LISTENER = "config.listener.v3.Listener"
CLUSTER = "config.cluster.v3.Cluster"
ROUTES = "config.route.v3.RouteConfiguration"
EXTENSION = "config.core.v3.TypedExtensionConfig"


def source(file: str) -> dict[str, Any]:
    """Refer to a file of DIRECTORY, in which Kubernetes swaps a link when the ConfigMap changes."""
    return {"path_config_source": {"path": f"{DIRECTORY}/{DATA}/{file}", "watched_directory": {"path": DIRECTORY}}}


def resources(type_: str, found: Iterable[Mapping[str, Any]]) -> str:
    """Return a file with resources of one type."""
    return compact({"resources": [{"@type": f"{TYPES}.{type_}", **one} for one in found]})
