"""The account with which a cluster is made and reached, and the one of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from function.clouds.nebius.blocks import Cluster
from function.clouds.nebius.facts import ACCOUNT, GROUP, IDENTITY, MEMBERSHIP, PERMIT, SERVICE_ACCOUNT, VIEWER
from function.contracts.cloud import credentials
from function.contracts.cloud.provisioner import PublishedSecret
from function.contracts.cloud.site import Resource, Site
from function.core import Manifest, Missing, NamespacedName, dig
from function.vocabulary import conditions as c

KEY = "account"
_GROUP = "account-group"
_MEMBERSHIP = "account-membership"


def project(site: Site) -> str:
    """Return the project in which everything is made. It determines the region.

    Raises:
        Missing: The provider config names no project, or has credentials with which no cluster can be reached.
    """
    config = credentials.found_config(site.request) or {}
    if dig(config, "spec", "credentials", "source") != "Secret":
        _refuse(config, "must take its credentials from a Secret: the cluster is reached with them, too")
    if dig(config, "spec", "identity", "type") != SERVICE_ACCOUNT:
        _refuse(config, f"must have identity.type {SERVICE_ACCOUNT}: the cluster is reached with its credentials, too")
    named = dig(config, "spec", "projectID")
    if not isinstance(named, str) or not named:
        _refuse(config, "names no projectID, in which the cluster is made")
    return named


def _refuse(config: Manifest, problem: str) -> NoReturn:
    name = dig(config, "metadata", "name")
    raise Missing(c.CREDENTIALS_MISSING(why=f"{dig(config, 'kind')} {name} of nebius.m.upbound.io {problem}"))


def identity(site: Site, of: str) -> PublishedSecret:
    """Return the Secret with the credentials that reach a cluster, once the resource `of` a key is ready."""
    config = credentials.found_config(site.request)
    reference = dig(config, "spec", "credentials", "secretRef")
    namespace = dig(reference, "namespace") or dig(config, "metadata", "namespace")
    written = NamespacedName(str(namespace), str(dig(reference, "name")))
    return PublishedSecret(type=IDENTITY, of=of, key=str(dig(reference, "key")), written=written)


def resources(site: Site, spec: Cluster, project_: str) -> Iterator[Resource]:
    """Yield the account of the nodes, where they pull images with it.

    A group in a project can be permitted nothing outside of it, and an access permit can be for one registry
    (docs.nebius.com, iam/authorization/groups): nodes, and so all pods, may do nothing else.
    """
    if not spec.registries:
        return
    yield site.resource(KEY, ACCOUNT, {"name": site.name(KEY), "labels": site.tags})
    yield site.resource(_GROUP, GROUP, {"name": site.name(_GROUP), "labels": site.tags, "parentId": project_})
    member = {"parentIdRef": site.ref(_GROUP), "memberIdRef": site.ref(KEY)}
    yield site.resource(_MEMBERSHIP, MEMBERSHIP, member)
    for registry in dict.fromkeys(spec.registries):
        permit = {"parentIdRef": site.ref(_GROUP), "resourceId": registry, "role": VIEWER}
        yield site.resource(f"permit-{registry}", PERMIT, permit)
