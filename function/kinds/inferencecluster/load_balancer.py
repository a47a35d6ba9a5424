"""The Usage by which a cluster that a cloud makes outlives the load balancer of its gateway.

A load balancer that is left would keep the cloud from deleting the cluster's networks. The ServingStack does not
outlive what it composes: Crossplane lets it go, and Kubernetes deletes what it owned. So the cluster waits for the
Object that stays until the load balancer is gone.

The Usage is composed before that Object is. While the Object is not there, Crossplane refuses to delete the cluster all
the same, and a Usage that is deleted meanwhile goes at once (crossplane v2.4, internal/controller/protection/usage).
"""

from __future__ import annotations

from function.core import ComposedResource, Manifest, Request, dig
from function.manifests.usage import usage_between
from function.vocabulary import names, versions

KEY = "usage-cluster-gateway"
_REASON = "The load balancer of the gateway must be gone before the cluster is deleted"


def usage(
    request: Request, cluster: ComposedResource | None, stack: Manifest | None, *, is_wanted: bool
) -> dict[str, ComposedResource]:
    """Return the Usage, by its key.

    Args:
        request: The request.
        cluster: The composite of a cloud; None where no cloud makes the cluster.
        stack: The observed ServingStack.
        is_wanted: Whether the stack is to have a gateway. If not any more, the Usage stays until the Object has gone.
    """
    there = dig(stack, "status", "gateway", "service")
    if cluster is None or not (is_wanted or there):
        return {}
    name = str(there or names.gateway_service(request.identity.name))
    by = {"apiVersion": versions.PROVIDER_KUBERNETES, "kind": "Object", "metadata": {"name": name}}
    manifest = usage_between(cluster.manifest, by, namespace=names.SYSTEM_NAMESPACE, reason=_REASON)
    return {KEY: ComposedResource(manifest, request.is_ready(KEY))}
