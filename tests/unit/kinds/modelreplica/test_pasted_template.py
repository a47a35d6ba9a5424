"""A usual pod template as users paste it: all of it reaches the cluster, beside what is ours."""

from __future__ import annotations

from typing import Any

from tests.support import foreign, pasted, replicas
from tests.support.samples import edited

TEMPLATE = edited(pasted.TEMPLATE, pasted.GPU, {"cpu": "8", "memory": "32Gi", "rdma/hca": "1"})
OBJECTS = (
    replicas.secret("hub", TOKEN="YQ=="),
    replicas.secret("license", key="YQ=="),
    *(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ml"}, "data": {"A": "a"}}
        for name in ("flags", "chat-template")
    ),
)


def composed(template: Any, *objects: Any, **spec: Any) -> dict[str, Any]:
    """What is composed for a replica of one pod, by key."""
    return replicas.manifests(
        replicas.compose(replicas.replica(replicas.engine("qwen", member(template)), **spec), *objects)
    )


def member(template: Any) -> dict[str, Any]:
    return {"role": "Standalone", "nodePoolName": "gpu", "deviceRequests": [replicas.GPU], "template": template}


def pod(template: Any, *objects: Any, **spec: Any) -> dict[str, Any]:
    return dict(composed(template, *objects, **spec)["deployment-qwen"]["spec"]["template"])


def cached(template: Any) -> dict[str, Any]:
    """The pod of a replica on a cache."""
    return pod(template, replicas.cache(staged="abc"), *OBJECTS, modelCacheRef={"name": "weights"})


def test_kubernetes_takes_what_is_composed() -> None:
    manifests = composed(TEMPLATE, *OBJECTS).values()

    assert [problem for manifest in manifests for problem in foreign.problems(manifest)] == []


def test_all_of_it_reaches_the_cluster() -> None:
    given, got = TEMPLATE["spec"], pod(TEMPLATE, *OBJECTS)["spec"]
    [engine, helper], [wanted, wanted_helper] = got["containers"], given["containers"]

    assert got["initContainers"] == given["initContainers"]
    assert got["affinity"] == given["affinity"]
    assert helper == wanted_helper
    for field in ("image", "command", "readinessProbe", "lifecycle", "securityContext"):
        assert engine[field] == wanted[field]
    assert engine["volumeMounts"][-4:] == wanted["volumeMounts"]
    assert engine["resources"] == {**wanted["resources"], "claims": [{"name": "devices"}]}
    assert {"name": "http", "containerPort": 8200} in engine["ports"]


def test_secrets_and_config_maps_are_copied_and_claims_are_not() -> None:
    manifests = composed(TEMPLATE, *OBJECTS)
    volumes = {volume["name"]: volume for volume in manifests["deployment-qwen"]["spec"]["template"]["spec"]["volumes"]}
    copies = {manifest["metadata"]["name"] for manifest in manifests.values() if "data" in manifest}
    [secret, config] = manifests["deployment-qwen"]["spec"]["template"]["spec"]["containers"][0]["envFrom"]

    assert volumes["models"] == {"name": "models", "persistentVolumeClaim": {"claimName": "models"}}
    assert {
        volumes["license"]["secret"]["secretName"],
        volumes["chat-template"]["configMap"]["name"],
        secret["secretRef"]["name"],
        config["configMapRef"]["name"],
    } == copies
    assert len(copies) == len(OBJECTS)


def test_a_volume_of_the_users_keeps_its_name_where_ours_has_the_same() -> None:
    names = [volume["name"] for volume in cached(TEMPLATE)["spec"]["volumes"]]

    assert names == ["shm", "modelplane-models", "scratch", "chat-template", "license", "models"]


def test_what_the_user_mounts_where_ours_would_be_is_the_users() -> None:
    own = [{"name": "scratch", "mountPath": "/dev/shm"}]
    template = edited(TEMPLATE, "spec.containers.0.volumeMounts", own)

    assert pod(template, *OBJECTS)["spec"]["containers"][0]["volumeMounts"] == own


def test_no_two_ports_get_one_name() -> None:
    """The engine's port gets the name http, unless another port has it."""
    ports = [{"name": "http", "containerPort": 8000, "protocol": "UDP"}, {"containerPort": 8000}]
    template = {"spec": {"containers": [replicas.container("Qwen/Qwen3-8B", ports=ports)]}}

    assert pod(template)["spec"]["containers"][0]["ports"] == ports
