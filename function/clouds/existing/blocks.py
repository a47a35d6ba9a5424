"""The block of the API of a cluster that is there already."""

from __future__ import annotations

from typing import Literal

from function import schema


class KubeconfigRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in namespace modelplane-system."""
    key: schema.SecretKey = "kubeconfig"
    """The key in it that holds the kubeconfig."""


class IdentityRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in namespace modelplane-system."""
    key: schema.SecretKey
    """The key in it."""
    type: Literal[
        "GoogleApplicationCredentials",
        "AzureServicePrincipalCredentials",
        "AzureWorkloadIdentityCredentials",
        "AWSWebIdentityCredentials",
        "NebiusServiceAccountCredentials",
        "UpboundTokens",
    ]
    """What the key holds, in the words of provider-kubernetes."""


class CacheStorage(schema.Api):
    storageClassName: schema.DnsSubdomain
    """A StorageClass whose volumes many nodes may mount and write."""


class Cluster(schema.Api):
    """A cluster that is brought along."""

    secretRef: KubeconfigRef
    """The kubeconfig of the cluster."""
    identitySecretRef: IdentityRef | None = None
    """Credentials for a kubeconfig that has none."""
    cache: CacheStorage | None = None
    """Where ModelCaches are staged; left out, they are not."""
