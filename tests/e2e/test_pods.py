"""Pods as real manifests have them: volumes, init containers, sidecars, and clusters that refuse them."""

from typing import Any

from tests.e2e import objects
from tests.e2e.kube import Object, condition
from tests.e2e.objects import changed
from tests.e2e.team import Team
from tests.e2e.test_workloads import await_pods, gang
from tests.e2e.waiting import until

ENFORCE = "pod-security.kubernetes.io/enforce"


def test_a_pod_with_all_that_real_manifests_have_becomes_ready(team: Team) -> None:
    """Init container, sidecar, more containers, emptyDir, ConfigMap and Secret volumes, envFrom: all arrive."""
    team.api.apply(
        objects.secret("license", team.namespace, key="of no value"),
        objects.secret("hub", team.namespace, HF_TOKEN="of no value"),
        config_map("chat-template", team.namespace, template="{{ messages }}"),
    )
    team.serving(replicas=1, engines=[objects.engine("vllm", full_member())])

    [pod] = team.pods()
    spec = pod["spec"]
    assert [one["name"] for one in spec["initContainers"]] == ["warm", "log-shipper"]
    assert [one["name"] for one in spec["containers"]] == ["engine", "metrics"]
    named = {one["name"]: one for one in spec["volumes"]}
    secrets = {one["metadata"]["name"] for one in team.cluster.list("v1", "Secret", team.namespace)}
    assert named["license"]["secret"]["secretName"] in secrets - {"license"}
    assert spec["containers"][0]["envFrom"][0]["secretRef"]["name"] in secrets - {"hub"}
    [copied] = [
        one
        for one in team.cluster.list("v1", "ConfigMap", team.namespace)
        if one["metadata"]["name"] == named["chat-template"]["configMap"]["name"]
    ]
    assert copied["data"] == {"template": "{{ messages }}"}


def test_the_refusal_of_a_gangs_pods_is_told_and_forgotten_once_they_are_admitted(team: Team) -> None:
    """LeaderWorkerSet tells of it in events alone: a pod that asks for admission brings the words to the condition."""
    team.cluster.apply(labelled(team.namespace, restricted=True))
    deployment = team.deploy(replicas=1, engines=[gang("vllm")])

    until(
        lambda: [str(condition(one, "ModelReady").get("message")) for one in team.replicas()],
        "the refusal to be told",
        holds=lambda seen: any("PodSecurity" in one and "leader" in one for one in seen),
    )

    team.cluster.apply(labelled(team.namespace, restricted=False))
    team.await_ready(deployment)
    await_pods(team, count=2)
    assert [one for one in team.pods() if "schedulingGates" in one["spec"]] == []


def test_a_template_that_kubernetes_would_refuse_is_refused_before_anything_is_written(team: Team) -> None:
    """The definitions preserve most of a template, so the function checks it, and holds what runs."""
    deployment = team.serving(replicas=1)
    before = team.settled()

    for field, value, want in BAD:
        bad = changed(deployment, f"spec.engines.0.members.0.template.spec.{field}", value)
        team.api.apply(bad)
        told = until(
            lambda bad=bad: condition(team.api.current(bad), "ReplicasScheduled"),
            f"{field} to be refused",
            holds=lambda seen, want=want: seen.get("reason") == "InvalidSpec" and want in str(seen.get("message")),
        )
        assert "what runs stays as it is" in told["message"]
    assert team.settled() == before


BAD = (
    ("containers.0.volumeMounts", [{"name": "data", "mountPath": "/data"}], "volumeMounts[0].name: names no volume"),
    ("containers.0.image", "", "containers[0].image"),
    ("containers.0.resources", {"limits": {"nvidia.com/gpu": 1}}, "request it in nodeSelector.devices"),
    ("containers.0.ports", [{"containerPort": 99999}], "containers[0].ports[0].containerPort"),
    ("nodeSelector", {"gpu": "h100"}, "template.spec.nodeSelector"),
)
"""Fields of a pod's spec, wrong values, and what the refusal must tell."""


def labelled(namespace: str, *, restricted: bool) -> Object:
    manifest = objects.namespace(namespace)
    manifest["metadata"]["labels"] = {ENFORCE: "restricted" if restricted else "privileged"}
    return manifest


def config_map(name: str, namespace: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def full_member() -> Object:
    member = objects.member()
    spec: dict[str, Any] = member["template"]["spec"]
    spec["initContainers"] = [
        {"name": "warm", "image": "busybox:1.37", "command": ["true"], "volumeMounts": [mount("scratch", "/scratch")]},
        {"name": "log-shipper", "image": "fluent/fluent-bit:4.0", "restartPolicy": "Always"},
    ]
    spec["containers"][0] |= {
        "envFrom": [{"secretRef": {"name": "hub"}}],
        "securityContext": {"allowPrivilegeEscalation": False},
        "volumeMounts": [
            mount("scratch", "/root/.cache"),
            mount("chat-template", "/templates"),
            mount("license", "/license"),
        ],
    }
    spec["containers"].append({"name": "metrics", "image": "quay.io/prometheus/node-exporter:v1.9.1"})
    spec["volumes"] = [
        {"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "chat-template", "configMap": {"name": "chat-template"}},
        {"name": "license", "secret": {"secretName": "license"}},
    ]
    return member


def mount(name: str, path: str) -> Object:
    return {"name": name, "mountPath": path}
