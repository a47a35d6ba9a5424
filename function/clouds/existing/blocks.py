"""The block of the API of a cluster that is there already."""

from __future__ import annotations

from typing import Literal

from function import schema


class KubeconfigRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in namespace modelplane-system."""
    key: schema.SecretKey = "kubeconfig"
    """Key of the Secret that holds the kubeconfig."""


class IdentityRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in namespace modelplane-system."""
    key: schema.SecretKey
    """Key of the Secret that holds the credentials."""
    type: Literal[
        "GoogleApplicationCredentials",
        "AzureServicePrincipalCredentials",
        "AzureWorkloadIdentityCredentials",
        "AWSWebIdentityCredentials",
        "NebiusServiceAccountCredentials",
        "UpboundTokens",
    ]
    """Type of the credentials, as provider-kubernetes names it."""


class CacheStorage(schema.Api):
    storageClassName: schema.DnsSubdomain
    """StorageClass whose volumes can be mounted read-write by many nodes."""


class Cluster(schema.Api):
    """Settings of a cluster that exists already."""

    secretRef: KubeconfigRef
    """Secret with the kubeconfig of the cluster."""
    identitySecretRef: IdentityRef | None = None
    """Secret with credentials, for a kubeconfig that has none."""
    cache: CacheStorage | None = None
    """Storage for ModelCaches. If omitted, no ModelCache is staged on the cluster."""
