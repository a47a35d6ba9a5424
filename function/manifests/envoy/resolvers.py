"""How proxies resolve names: as they are written, or completed by the search domains of a pod.

A pod's search domains contain those of all Services of the cluster, so that `chat.other` would be the Service `chat` of
namespace `other`, whose name alone does not tell. So a proxy completes only names of which that is known: short names
of Services in its own namespace, and names that the platform team allows.
"""

from __future__ import annotations

from typing import Any

from function.manifests.envoy.language import typed


def _cares(*, completes: bool) -> dict[str, Any]:
    return typed(
        "envoy.network.dns_resolver.cares",
        "extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
        dns_resolver_options={"no_default_search_domain": not completes},
    )


AS_WRITTEN = {"typed_dns_resolver_config": _cares(completes=False)}
"""Fields of a bootstrap: the resolver of all clusters that have none of their own."""
COMPLETING = {"typed_dns_resolver_config": _cares(completes=True)}
"""Fields of a cluster whose name the search domains may complete."""
