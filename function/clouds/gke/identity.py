"""The service accounts of a GKE cluster.

- The nodes' account may log, report metrics and pull images. Without one of its own, nodes would have Compute Engine's
  default account, which is often an editor of the whole project.
- The access account is the identity by which the providers reach the cluster: the kubeconfig that GKE gives holds no
  credentials. Its key does not expire. It lies in a Secret of names.SYSTEM_NAMESPACE, and goes with the cluster.

An account has its email once it exists, so roles wait for it. A role of a project that is granted to a deleted account
would have to be removed by hand, hence the account outlives its roles.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.clouds.gke import facts
from function.contracts.cloud.site import Resource, Site

NODES, ACCESS, ACCESS_KEY, ACCESS_ROLE = "node-account", "access-account", "access-key", "access-role"
NODE_ROLES = tuple(f"node-role-{name}" for name in facts.NODE_ROLES)
SECRET_KEY = "private_key"  # noqa: S105  (name of a key)
"""Key of the Secret with the access account's key, in Google's JSON format (provider-upjet-gcp v2.6,
config/cloudplatform)."""


def identity(site: Site, project: str) -> Iterator[Resource]:
    """Return the accounts, their roles, and the key of the access account."""
    yield _account(site, NODES, f"Nodes of GKE cluster {site.cluster}")
    for key, role in zip(NODE_ROLES, facts.NODE_ROLES.values(), strict=True):
        yield _role(site, key, role, NODES, project)
    yield _account(site, ACCESS, f"Modelplane's access to GKE cluster {site.cluster}")
    yield _role(site, ACCESS_ROLE, facts.ACCESS_ROLE, ACCESS, project)
    # the role first: whatever can use the key can use the cluster
    yield site.resource(
        ACCESS_KEY,
        facts.SERVICE_ACCOUNT_KEY,
        {"serviceAccountIdRef": site.ref(ACCESS)},
        after=(ACCESS_ROLE,),
        has_secret=True,
    )


def _account(site: Site, key: str, title: str) -> Resource:
    return site.resource(
        key,
        facts.SERVICE_ACCOUNT,
        {"displayName": title[:100]},  # the most that IAM takes
        after=("service-iam",),
        external_name=site.cloud_name(key, longest=facts.LONGEST_ACCOUNT),
    )


def _role(site: Site, key: str, role: str, account: str, project: str) -> Resource:
    """The whole project is where GKE's roles are granted: a cluster has no policy of its own."""
    email = site.seen(account, "email")
    if not email:
        return site.awaiting(key, facts.PROJECT_ROLE, f"the email of {account}", after=(account,))
    wanted = {"project": project, "role": role, "member": f"serviceAccount:{email}"}
    return site.resource(key, facts.PROJECT_ROLE, wanted, after=(account,))
