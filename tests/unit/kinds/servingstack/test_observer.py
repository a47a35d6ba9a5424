"""The observer comes where it is asked for, goes without a trace, and nobody waits for it."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Result, dig, plain
from function.kinds.servingstack import observer
from function.manifests import observer as manifests
from function.observe import kinds
from tests.support.stacks import READY, answer

ON = {"enabled": True}
OFF = {name: {"enabled": False} for name in ("certManager", "aiGateway", "leaderWorkerSet", "nodeFeatureDiscovery")}
OFF |= {name: {"enabled": False} for name in ("nvidiaDraDriver", "prometheus", "inferenceExtension", "envoyGateway")}


def settled(source: str = "Existing", **more: Any) -> Result:
    """A stack of which all that was composed is ready."""
    result = answer(OFF, {}, source, **more)
    for _ in range(4):
        result = answer(OFF, there(result), source, **more)
    return result


def there(result: Result) -> dict[str, Any]:
    return {key: {**plain(r.manifest), **READY} for key, r in result.resources.items()}


def parts(result: Result) -> set[str]:
    return set(observer.KEYS) & result.resources.keys()


def policies(result: Result, key: str) -> Any:
    return dig(result.resources[key].manifest, "spec", "managementPolicies")


def test_it_is_installed_only_where_it_is_asked_for() -> None:
    assert parts(settled()) == set()
    assert parts(settled(observer={"enabled": False})) == set()
    assert parts(settled(observer=ON)) == set(observer.KEYS)


@pytest.mark.parametrize(
    ("source", "more"), [("GKE", {}), ("Existing", {"deletionPolicy": "Orphan"}), ("Existing", {})]
)
def test_it_leaves_nothing_on_the_cluster(source: str, more: dict[str, Any]) -> None:
    """Its Objects may delete nothing while they are wanted on a cluster that a cloud makes, or that others use."""
    before = settled(source, observer=ON, **more)
    keeps = source == "GKE" or "deletionPolicy" in more
    assert {policies(before, key) is not None for key in observer.KEYS} == {keeps}

    first = answer(OFF, there(before), source, **more)
    assert parts(first) == (set(observer.KEYS) if keeps else set())
    assert all(policies(first, key) is None for key in parts(first))
    assert parts(answer(OFF, there(first), source, **more)) == set()


def test_the_cluster_serves_without_it() -> None:
    installed = settled(observer=ON)
    broken = {key: m for key, m in there(installed).items() if key not in observer.KEYS}
    broken[observer.DEPLOYMENT] = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}

    got = answer(OFF, broken, observer=ON)

    assert (got.status["serving"], got.ready) == (True, False)
    assert [c.reason for c in got.conditions] == ["Installing"]


def test_a_pod_that_is_not_ready_changes_nothing() -> None:
    """The InferenceCluster looks at the Deployment itself."""
    deployment = settled(observer=ON).resources[observer.DEPLOYMENT].manifest
    assert "readiness" not in deployment["spec"]


def test_it_reads_no_secrets_and_writes_only_in_its_namespace() -> None:
    rules = {
        (manifest["kind"], manifest["metadata"].get("namespace")): manifest["rules"]
        for manifest in (manifests.cluster_role(), manifests.role(), manifests.autoscaler_role())
    }
    writing = {"create", "update", "patch", "delete", "deletecollection", "*"}
    for (_, namespace), granted in rules.items():
        for rule in granted:
            assert not {"secrets", "*"} & set(rule["resources"])
            assert namespace == manifests.NAMESPACE or not writing & set(rule["verbs"])
    assert rules["Role", "kube-system"][0]["resourceNames"] == ["cluster-autoscaler-status"]


def test_its_pod_is_small_confined_and_tolerates_nothing() -> None:
    pod = manifests.deployment("image")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert "tolerations" not in pod
    assert "claims" not in container["resources"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["args"] == ["observe", "--address", "0.0.0.0:8081"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": 8081}
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": 8081}


def test_it_may_read_all_that_it_follows() -> None:
    granted = {
        (group, resource)
        for rule in manifests.cluster_role()["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    everywhere = (*kinds.CAPACITY, *kinds.OWNERS, *kinds.EVENTS, kinds.DEVICE_CLASSES)
    assert {(group(kind.path), kind.plural) for kind in everywhere} == granted
    assert kinds.AUTOSCALER.path.split("/")[4] == manifests.autoscaler_role()["metadata"]["namespace"]
    assert kinds.AUTOSCALER.selectors["fieldSelector"] == "metadata.name=cluster-autoscaler-status"


def group(path: str) -> str:
    """The API group in the path of a list."""
    _, root, name, *_ = path.split("/")
    return name if root == "apis" else ""
