"""The rights of the kubeconfig of an existing cluster (package/cluster-access.yaml) are enough, without `escalate`:
whoever has them and no others may write all that golden cases compose for it."""

from collections.abc import Iterator

import pytest

from function.core import plain
from tests.e2e import inference, pins, programs, rights
from tests.e2e.kube import Api, Object, Refused
from tests.e2e.programs import Site
from tests.e2e.test_conformance import remote
from tests.support.cases import CASES

USER = "from-outside"
CRDS = (pins.GATEWAY_API, pins.INFERENCE_EXTENSION, pins.ENVOY_GATEWAY, pins.LEADER_WORKER_SET)
KINDS = ("modelreplica", "modelcache", "servingstack", "inferencecluster")
"""Whose objects on a cluster are composed with the kubeconfig that people give."""
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="module")
def cluster(site: Site, store: int) -> Iterator[Api]:
    """An API server with the kinds of the charts, and a user who has the ClusterRole."""
    before = tuple(site.processes.running)
    try:
        api = programs.api_server(site, "existing", store)
        for module in CRDS:
            inference.install(api, site, module)
        [role] = rights.manifests(rights.REPOSITORY / "package/cluster-access.yaml")
        subject = {"apiGroup": RBAC, "kind": "User", "name": USER}
        binding: Object = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": USER},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role["metadata"]["name"]},
            "subjects": [subject],
        }
        api.apply(role, binding)
        yield api
    finally:
        site.processes.stop(*(one for one in site.processes.running if one not in before))


def test_all_that_is_composed_for_a_cluster_may_be_written(cluster: Api) -> None:
    outside = cluster.impersonating(USER)
    composed = {str(one): one for one in manifests()}.values()
    for namespace in {one["metadata"].get("namespace", "default") for one in composed}:
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    refused = {said for one in composed for said in forbidden(outside, one)}
    assert composed
    assert refused == set()


def manifests() -> Iterator[Object]:
    for case in CASES:
        if case.parent.name in KINDS:
            yield from (plain(one) for one in remote(case))


def forbidden(api: Api, manifest: Object) -> list[str]:
    """What RBAC refuses, also rights that a role would pass on. Other refusals are for test_conformance.py."""
    try:
        api.apply(manifest, dryRun="All")
    except Refused as refusal:
        is_rbac = ("forbidden" in str(refusal) and "cannot" in str(refusal)) or "attempting to grant" in str(refusal)
        return [f"{manifest['kind']}: {refusal}"] if is_rbac else []
    return []


@pytest.mark.parametrize("verb", ["escalate", "bind", "impersonate"])
def test_it_cannot_give_itself_more(cluster: Api, verb: str) -> None:
    role: Object = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "more"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*", verb]}],
    }
    with pytest.raises(Refused, match="attempting to grant RBAC permissions not currently held"):
        cluster.impersonating(USER).apply(role, dryRun="All")
