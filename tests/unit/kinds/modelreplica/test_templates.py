"""Real pod templates: what the user wrote is passed on, and what is ours goes around it without a clash."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Request, Result
from tests.support import arrivals, replicas
from tests.support.replicas import manifests, said

HUB = replicas.secret("hub", HF_TOKEN="b25l")
LICENSE = replicas.secret("license", key="dHdv", other="dGhyZWU=")


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ml"}, "data": data}


def composed(spec: dict[str, Any], *objects: Any, metadata: Any = None, **replica: Any) -> Result:
    """The answer for a replica of one engine with a pod spec."""
    member = replicas.member()
    member["template"] = {"spec": spec, **({"metadata": metadata} if metadata else {})}
    return replicas.compose(replicas.replica(replicas.engine("qwen", member), **replica), *objects)


def pod(spec: dict[str, Any], *objects: Any, metadata: Any = None, **replica: Any) -> dict[str, Any]:
    result = composed(spec, *objects, metadata=metadata, **replica)
    return dict(manifests(result)["deployment-qwen"]["spec"]["template"])


def engine(**fields: Any) -> dict[str, Any]:
    return {"name": "engine", "image": replicas.VLLM, "args": ["Qwen/Qwen3-8B"], **fields}


def test_every_field_of_a_pod_is_passed_on() -> None:
    passed = {
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [SPREAD]}},
        "dnsConfig": {"searches": ["example.org"]},
        "hostAliases": [{"ip": "192.0.2.1", "hostnames": ["hub.example.org"]}],
        "runtimeClassName": "nvidia",
        "securityContext": {"fsGroup": 1000},
        "shareProcessNamespace": True,
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
    }
    beside = {"name": "metrics", "image": "exporter:v1", "ports": [{"name": "metrics", "containerPort": 9400}]}
    init = {"name": "warm", "image": "busybox:1.37", "command": ["true"]}
    volumes = [{"name": "scratch", "emptyDir": {}}, {"name": "host", "hostPath": {"path": "/data"}}]
    own = {"securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}, "workingDir": "/srv"}
    mounts = [{"name": "scratch", "mountPath": "/root/.cache"}]

    given = {
        **passed,
        "initContainers": [init],
        "containers": [engine(**own, volumeMounts=mounts), beside],
        "volumes": volumes,
    }
    got = pod(given)["spec"]

    assert {name: got[name] for name in passed} == passed
    assert got["initContainers"] == [init]
    assert got["containers"][1] == beside
    assert got["volumes"][1:] == volumes
    assert got["containers"][0].items() >= own.items()
    assert got["containers"][0]["volumeMounts"][1:] == mounts


SPREAD = {
    "weight": 1,
    "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}},
}


def test_every_place_that_names_a_secret_or_config_map_names_the_copy() -> None:
    spec = {
        "containers": [engine(envFrom=[{"secretRef": {"name": "hub"}}, {"configMapRef": {"name": "flags"}}])],
        "volumes": [
            {"name": "license", "secret": {"secretName": "license", "items": [{"key": "key", "path": "k"}]}},
            {"name": "all", "projected": {"sources": [{"configMap": {"name": "flags"}}]}},
        ],
    }
    there = manifests(composed(spec, HUB, LICENSE, config_map("flags", A="1")))
    got = there["deployment-qwen"]["spec"]["template"]["spec"]
    [flags] = [m for m in there.values() if m["kind"] == "ConfigMap"]
    secrets = {next(iter(m["data"])): m for m in there.values() if m["kind"] == "Secret"}

    assert got["containers"][0]["envFrom"][0]["secretRef"]["name"] == secrets["HF_TOKEN"]["metadata"]["name"]
    assert got["containers"][0]["envFrom"][1]["configMapRef"]["name"] == flags["metadata"]["name"]
    assert got["volumes"][1]["secret"]["secretName"] == secrets["key"]["metadata"]["name"]
    assert got["volumes"][2]["projected"]["sources"][0]["configMap"]["name"] == flags["metadata"]["name"]
    assert secrets["key"]["data"] == {"key": "dHdv"}, "only the key that is used is copied"


def test_a_missing_one_is_named_unless_it_is_optional() -> None:
    needed = {"containers": [engine(envFrom=[{"secretRef": {"name": "hub"}}])]}
    optional = {"containers": [engine(envFrom=[{"secretRef": {"name": "hub", "optional": True}}])]}

    assert "Waiting for Secret hub in namespace ml" in said(composed(needed), "ModelAccepted")
    assert "deployment-qwen" in composed(optional).resources


def test_a_token_of_a_service_account_is_copied_as_data() -> None:
    """A Secret of that type needs an account of its own, which the cluster does not have."""
    token = replicas.secret("token", type_="kubernetes.io/service-account-token", token="YQ==")
    there = manifests(
        composed({"containers": [engine()], "volumes": [{"name": "t", "secret": {"secretName": "token"}}]}, token)
    )
    assert [m["type"] for m in there.values() if m["kind"] == "Secret"] == ["Opaque"]


def test_an_only_container_is_the_engine_whatever_its_name() -> None:
    spec = {
        "containers": [
            {
                **engine(name="server"),
                "env": [
                    {
                        "name": "CPUS",
                        "valueFrom": {"resourceFieldRef": {"containerName": "server", "resource": "limits.cpu"}},
                    }
                ],
            }
        ]
    }
    metadata = {"annotations": {"container.apparmor.security.beta.kubernetes.io/server": "runtime/default"}}
    result = composed(spec, metadata=metadata)
    got = manifests(result)["deployment-qwen"]["spec"]["template"]

    [container] = got["spec"]["containers"]
    assert container["name"] == "engine"
    assert container["env"][-1]["valueFrom"]["resourceFieldRef"]["containerName"] == "engine"
    profiles = [name for name in got["metadata"]["annotations"] if "apparmor" in name]
    assert profiles == ["container.apparmor.security.beta.kubernetes.io/engine"]


def test_whatever_names_the_engines_container_names_it_by_its_new_name() -> None:
    """A name that no container has any more would keep the pod from starting."""

    def cpus(container: str) -> dict[str, Any]:
        return {"resourceFieldRef": {"containerName": container, "resource": "limits.cpu"}}

    def files(container: str) -> dict[str, Any]:
        return {"downwardAPI": {"items": [{"path": "cpus", **cpus(container)}]}}

    def spec(container: str) -> dict[str, Any]:
        warm = {"name": "warm", "image": "busybox:1.37", "env": [{"name": "CPUS", "valueFrom": cpus(container)}]}
        volumes = [{"name": "a", **files(container)}, {"name": "b", "projected": {"sources": [files(container)]}}]
        return {"initContainers": [warm], "containers": [engine(name=container)], "volumes": volumes}

    shown = "kubectl.kubernetes.io/default-container"
    before, after = (pod(spec(name), metadata={"annotations": {shown: name}}) for name in ("server", "engine"))
    assert before == after


def test_volumes_of_ours_make_room_for_the_users() -> None:
    volumes = [{"name": "shm", "emptyDir": {}}, {"name": "models", "emptyDir": {}}]
    spec = {"containers": [engine(args=[])], "volumes": volumes}
    got = pod(spec, replicas.cache(staged="abc"), modelCacheRef={"name": "weights"})["spec"]

    assert [v["name"] for v in got["volumes"]] == ["modelplane-shm", "modelplane-models", "shm", "models"]
    assert [m["name"] for m in got["containers"][0]["volumeMounts"]] == ["modelplane-shm", "modelplane-models"]


@pytest.mark.parametrize("path", ["/dev/shm", "/dev/shm/", "/dev/./shm", "//dev/shm"])
def test_shared_memory_of_the_user_is_the_users(path: str) -> None:
    mounts = [{"name": "big", "mountPath": path}]
    volumes = [{"name": "big", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]
    got = pod({"containers": [engine(volumeMounts=mounts)], "volumes": volumes})["spec"]

    assert got["volumes"] == volumes
    assert got["containers"][0]["volumeMounts"] == mounts


def test_a_mount_over_the_weights_is_refused() -> None:
    spec = {
        "containers": [engine(volumeMounts=[{"name": "m", "mountPath": "/mnt/models/"}])],
        "volumes": [{"name": "m", "emptyDir": {}}],
    }
    result = composed(spec, replicas.cache(staged="abc"), modelCacheRef={"name": "weights"})

    where = "spec.engines[0].members[0].template.spec.containers[0].volumeMounts[0].mountPath"
    assert said(result, "ModelAccepted").startswith(f"False InvalidSpec: {where}: is /mnt/models, where the weights")


def test_a_container_named_as_the_sidecar_is_refused() -> None:
    """A pasted decode pod often has llm-d's sidecar already."""
    own = {"name": "routing-sidecar", "image": "example.org/sidecar:v1"}
    decode, prefill = (replicas.member("Qwen/Qwen3-8B") for _ in range(2))
    for member in (decode, prefill):
        member["template"]["spec"]["initContainers"] = [own]
    refused = replicas.compose(replicas.replica(**replicas.split(decode=decode)))
    where = "spec.engines[1].members[0].template.spec.initContainers[0].name"
    assert said(refused, "ModelAccepted").startswith(f"False InvalidSpec: {where}: is routing-sidecar, ")

    there = manifests(replicas.compose(replicas.replica(**replicas.split(prefill=prefill))))
    assert there["deployment-prefill"]["spec"]["template"]["spec"]["initContainers"] == [own]


def test_a_hook_of_the_users_stays_beside_ours() -> None:
    started = {"exec": {"command": ["true"]}}
    after = pod({"containers": [engine(lifecycle={"postStart": started})]})["spec"]["containers"][0]["lifecycle"]
    assert after == {"postStart": started, "preStop": {"sleep": {"seconds": 10}}}

    own = {"preStop": {"exec": {"command": ["sleep", "20"]}}}
    assert pod({"containers": [engine(lifecycle=own)]})["spec"]["containers"][0]["lifecycle"] == own


PORTS: list[tuple[list[Any], list[Any], Any]] = [
    ([], [("http", 8000)], "http"),
    ([{"name": "http", "containerPort": 8000}], [("http", 8000)], "http"),
    ([{"containerPort": 8000}], [("http", 8000)], "http"),
    ([{"name": "api", "containerPort": 8000}], [("api", 8000)], 8000),
]


@pytest.mark.parametrize(("given", "ports", "target"), PORTS)
def test_the_port_for_traffic_keeps_the_users_name(given: Any, ports: Any, target: Any) -> None:
    there = manifests(composed({"containers": [engine(ports=given)]}))
    got = there["deployment-qwen"]["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert [(port.get("name"), port["containerPort"]) for port in got] == ports
    assert there["service"]["spec"]["ports"][0]["targetPort"] == target


def test_a_port_of_another_container_is_not_taken_for_the_engines() -> None:
    """A Service that names a port finds the first of that name in a pod, whoever listens there."""
    other = {"name": "proxy", "image": "proxy:v1", "ports": [{"name": "http", "containerPort": 9000}]}
    there = manifests(composed({"containers": [other, engine()]}))
    assert there["service"]["spec"]["ports"][0]["targetPort"] == 8000


def test_engines_without_a_port_in_common_are_refused() -> None:
    members = [
        replicas.member("m", "--port=8000", ports=[{"name": "a", "containerPort": 8000}]),
        replicas.member("m", "--port=9000"),
    ]
    engines = [replicas.engine(f"e{i}", member) for i, member in enumerate(members)]
    got = said(replicas.compose(replicas.replica(*engines)), "ModelAccepted")
    assert "spec.engines: listen on different ports, e0 on 8000, e1 on 9000" in got


def test_what_the_user_tolerates_is_tolerated_beside_the_pool() -> None:
    spot = {"key": "spot", "operator": "Exists"}
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert pod({"containers": [engine()], "tolerations": [gpu, spot]})["spec"]["tolerations"] == [gpu, spot]


def test_an_unknown_field_is_passed_on_and_named() -> None:
    member = replicas.member()
    member["template"]["spec"]["futureField"] = {"a": 1.0}
    request = Request(xr=replicas.replica(replicas.engine("qwen", member)))
    result = replicas.compose(request)
    got = manifests(result)["deployment-qwen"]["spec"]["template"]["spec"]
    assert got["futureField"] == {"a": 1}

    arrived = replicas.compose(arrivals.again(request, result, arrivals.running))
    where = "spec.engines[0].members[0].template.spec.futureField"
    assert said(arrived, "ModelAccepted").endswith(f"; passed on, but not known to Kubernetes 1.34: {where}")


def test_claims_of_the_cluster_are_named_while_the_pods_wait() -> None:
    spec = {
        "containers": [engine(volumeMounts=[{"name": "data", "mountPath": "/data"}])],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "shared-data"}}],
    }
    member = {**replicas.member(), "template": {"spec": spec}}
    request = Request(xr=replicas.replica(replicas.engine("qwen", member)))
    result = replicas.compose(request)
    there = manifests(result)
    starting = replicas.compose(arrivals.again(request, result, arrivals.starting))
    assert "its pods need PersistentVolumeClaim shared-data on the cluster" in said(starting, "ModelReady")
    assert [m["kind"] for m in there.values() if m["kind"] == "PersistentVolumeClaim"] == []
    assert there["deployment-qwen"]["spec"]["template"]["spec"]["volumes"][1] == spec["volumes"][0]


@pytest.mark.parametrize("sharing", ["Devices", None])
def test_what_is_not_counted_on_shared_nodes_is_told(sharing: str | None) -> None:
    member = replicas.member(ports=[{"containerPort": 8000, "hostPort": 8080}])
    shared = {**member, "nodeSharing": sharing} if sharing else member
    request = Request(xr=replicas.replica(replicas.engine("qwen", shared)))

    arrived = replicas.compose(arrivals.again(request, replicas.compose(request), arrivals.running))

    told = "; not certain to fit on shared nodes, where these are not counted: hostPort 8080"
    assert said(arrived, "ModelAccepted").endswith(told) is (sharing is not None)
