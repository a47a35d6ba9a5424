"""What a proxy does not take from clients: paths that leave the model's own, and headers by which proxies decide.

A path with `..` is resolved before a route is chosen, also as `%2e%2e`, so that no request leaves the path below which
its endpoint is. A slash may be encoded, as in the name of a model, and stays as it is. Whether what is behind the proxy
reads it as a slash is not known, so that a path is refused in which `..` would then be a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests.envoy.language import JSON_ANSWER, refusal, typed

_DECIDING = ("x-mp-", "x-envoy-")
"""Prefixes of the headers by which our proxies decide, and by which Envoy is told to retry, and how long to wait."""
_SLASH = r"(/|\\|%2f|%5c)"

MANAGER: Mapping[str, Any] = {
    "normalize_path": True,
    "early_header_mutation_extensions": [
        typed(
            "envoy.http.early_header_mutation.header_mutation",
            "extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
            mutations=[{"remove_on_match": {"key_matcher": {"prefix": prefix}}} for prefix in _DECIDING],
        )
    ],
}
"""Fields of the connection manager that clients' requests come to."""
CLIMBING: Mapping[str, Any] = {
    "match": {"safe_regex": {"regex": rf"(?i).*{_SLASH}(\.|%2e){{1,2}}({_SLASH}.*)?"}},
    "direct_response": refusal(400, "the path has a part that is . or .. behind an encoded slash", "invalid_path"),
    "response_headers_to_add": [*JSON_ANSWER],
}
"""The route of paths that would leave the model's own, before all others."""
