"""Values of single fields of pod templates, for `random_templates`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from function.podspec import tables

Field = tuple[str, str]
Value = Callable[[Random], Any]

SCALARS: Mapping[str, tuple[Any, ...]] = {
    "string": ("a", "b", "a-b", "a.b"),
    "int32": (0, 1, 2, 5, 30),
    "int64": (0, 1, 2, 5, 1000),
    "boolean": (True, False),
    "Quantity": ("1", "500m", "2Gi", "1e3", 4, 0.5, "0"),
    "IntOrString": (1, 8000, 65535),
    "Time": ("2026-01-02T03:04:05Z",),
}
WORDS = (
    *("", "a", "A", "a b", "-a", "a-", "a.b", ".a", "..", "..a", "../a", "/a", "a/b", "a/../b", "a:b", "a=b", "A.B/c"),
    *("1", "80", "1a", "a" * 64, "a" * 254, f"{'a.' * 130}b/c", "a_b", "a--b", "\u00e4", "a\n", "1Gi", "-1", "0.5"),
    *("nvidia.com/gpu", "kubernetes.io/a", "requests.a/b", "metadata.name", "metadata.labels", "status.podIP", "v1"),
    *("metadata.labels['a']", "metadata.annotations['A/b']", "limits.cpu", "limits.hugepages-2Mi", "10.0.0.1", "::1"),
    *("fe80::1%eth0", "net.core.somaxconn", "kernel.shmmax", "system-a", "modelplane-a", "Always", "Never"),
    *(value for values in tables.ONE_OF.values() for value in values),
)
"""Texts that some fields accept, and others do not."""
COMMON = frozenset(
    {"emptyDir", "configMap", "secret", "persistentVolumeClaim", "hostPath", "projected", "downwardAPI", "ephemeral"}
)
"""Sources of volumes that engines use."""


def metadata(random: Random) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if random.random() < 0.7:
        given["labels"] = dict(random.sample([("a", "b"), ("example.org/a", "1.2"), ("A_b", "")], random.randint(0, 3)))
    if random.random() < 0.7:
        notes = [("note", "any text, of any form"), ("Example.org/a", ""), ("a", "{}")]
        given["annotations"] = dict(random.sample(notes, random.randint(0, 3)))
    return given


def resources(random: Random, claims: list[dict[str, Any]]) -> dict[str, Any]:
    """Requests and limits that fit, or nearly."""
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for name, amounts in (("cpu", ("500m", 1, 0.5)), ("memory", ("1Gi", "1G")), ("ephemeral-storage", ("1Gi", 5))):
        if random.random() < 0.5:
            requests[name] = random.choice(amounts)
        if random.random() < 0.4:
            limits[name] = random.choice(("2", "4Gi", 8)) if name == "cpu" else random.choice(("1Gi", "4Gi", "2e9"))
    for name in ("rdma/hca", "vpc.amazonaws.com/efa", "hugepages-2Mi", "kubernetes.io/a"):
        if random.random() < 0.15:
            limits[name] = random.choice(("2Mi", "4Mi")) if name == "hugepages-2Mi" else random.choice(("1", 2))
            if random.random() < 0.3:
                requests[name] = limits[name]
    fields = {"requests": requests, "limits": limits} if random.random() < 0.9 else {}
    named = [{"name": claim["name"]} for claim in claims if random.random() < 0.7]
    return {**fields, **({"claims": named} if named else {})}


def fitting(random: Random, definition: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object, made to fit together."""
    fit = _FIT.get(definition)
    return fit(random, fields) if fit and random.random() < 0.995 else fields


def _profile(_: Random, fields: dict[str, Any]) -> dict[str, Any]:
    if fields["type"] == "Localhost":
        return {**fields, "localhostProfile": "a/b"}
    return {"type": fields["type"]}


def _requirement(random: Random, fields: dict[str, Any]) -> dict[str, Any]:
    operator = fields["operator"]
    values = {"In": ["a", "b"], "NotIn": ["a"], "Gt": ["1"], "Lt": ["1"]}.get(operator)
    return {"key": fields["key"], "operator": operator, **({"values": values} if values else {})}


def _toleration(random: Random, fields: dict[str, Any]) -> dict[str, Any]:
    if "key" not in fields or fields.get("operator") == "Exists":
        fields = {**{name: value for name, value in fields.items() if name != "value"}, "operator": "Exists"}
    return {**fields, "effect": "NoExecute"} if "tolerationSeconds" in fields else fields


def _context(_: Random, fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("privileged"):
        fields = {**fields, "allowPrivilegeEscalation": True}
    return {name: value for name, value in fields.items() if name not in ("procMount", "windowsOptions")}


def _mount(_: Random, fields: dict[str, Any]) -> dict[str, Any]:
    gone = {"subPathExpr"} if "subPath" in fields else set()
    gone |= {"mountPropagation"} if fields.get("mountPropagation") == "Bidirectional" else set()
    if fields.get("recursiveReadOnly", "Disabled") != "Disabled":
        fields, gone = {**fields, "readOnly": True}, gone | {"mountPropagation"}
    return {name: value for name, value in fields.items() if name not in gone}


def _selecting(_: Random, fields: dict[str, Any]) -> dict[str, Any]:
    """A term or constraint: lists of keys need a selector."""
    keys = ("matchLabelKeys", "mismatchLabelKeys")
    gone = keys if "labelSelector" not in fields else keys[1:]
    fields = {name: value for name, value in fields.items() if name not in gone}
    return {**fields, "whenUnsatisfiable": "DoNotSchedule"} if "minDomains" in fields else fields


def _file(random: Random, fields: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in fields.items() if name not in ("fieldRef", "resourceFieldRef")}
    source = random.choice(
        (
            {"fieldRef": {"fieldPath": random.choice(("metadata.labels", "metadata.name", "metadata.labels['a']"))}},
            {"resourceFieldRef": {"containerName": "engine", "resource": "limits.memory", "divisor": "1Mi"}},
        )
    )
    return {**given, **source}


def _pod(_: Random, fields: dict[str, Any]) -> dict[str, Any]:
    gone = {"hostUsers", "os", "overhead"}
    gone |= {"shareProcessNamespace"} if "hostPID" in fields else set()
    gone |= {"setHostnameAsFQDN", "hostNetwork"} if "hostnameOverride" in fields else set()
    if fields.get("dnsPolicy") == "None":
        fields = {**fields, "dnsConfig": {"nameservers": ["10.0.0.1"]}}
    return {name: value for name, value in fields.items() if name not in gone}


_FIT: Mapping[str, Callable[[Random, dict[str, Any]], dict[str, Any]]] = {
    "AppArmorProfile": _profile,
    "DownwardAPIVolumeFile": _file,
    "LabelSelectorRequirement": _requirement,
    "NodeSelectorRequirement": _requirement,
    "PodAffinityTerm": _selecting,
    "PodSpec": _pod,
    "SeccompProfile": _profile,
    "SecurityContext": _context,
    "Toleration": _toleration,
    "TopologySpreadConstraint": _selecting,
    "VolumeMount": _mount,
}


def _of(*values: Any) -> Value:
    return lambda random: random.choice(values)


_KEY = _of("a", "example.org/a", "topology.kubernetes.io/zone", "A_b.c")
_MODE = _of(0, 0o440, 0o777)
_SECONDS = _of(0, 1, 5, 30, 600)


def _ports(random: Random) -> list[dict[str, Any]]:
    names = random.sample(("http", "metrics", "grpc-1", "a"), random.randint(1, 3))
    return [
        {
            "containerPort": random.choice((80, 8000, 9000)) + index,
            **({"name": name} if random.random() < 0.7 else {}),
            **({"protocol": random.choice(("TCP", "UDP", "SCTP"))} if random.random() < 0.2 else {}),
            **({"hostPort": 7000 + random.randint(0, 2000)} if random.random() < 0.05 else {}),
        }
        for index, name in enumerate(names)
    ]


def _variables(random: Random) -> list[dict[str, Any]]:
    sources: tuple[dict[str, Any], ...] = (
        {"value": "x"},
        {"value": ""},
        {},
        {"valueFrom": {"secretKeyRef": {"name": "a", "key": "a.b", "optional": True}}},
        {"valueFrom": {"configMapKeyRef": {"name": "a", "key": "A_b"}}},
        {"valueFrom": {"fieldRef": {"fieldPath": random.choice(("status.podIP", "metadata.annotations['A/b']"))}}},
        {"valueFrom": {"resourceFieldRef": {"resource": "requests.cpu", "divisor": random.choice(("1m", "1", 1))}}},
    )
    names = random.sample(("A", "B_1", "a.b", "1", "a b"), random.randint(1, 4))
    return [{"name": name, **random.choice(sources)} for name in names]


def _claim(random: Random) -> dict[str, Any]:
    spec = {
        "accessModes": random.choice((["ReadWriteOnce"], ["ReadWriteMany", "ReadOnlyMany"], ["ReadWriteOncePod"])),
        "resources": {"requests": {"storage": random.choice(("1Gi", 5))}},
        **({"storageClassName": random.choice(("", "fast"))} if random.random() < 0.3 else {}),
        **({"volumeMode": random.choice(("Block", "Filesystem"))} if random.random() < 0.3 else {}),
    }
    return {"spec": spec, **({"metadata": {"labels": {"a": "b"}}} if random.random() < 0.2 else {})}


VALUES: Mapping[Field, Value] = {
    ("AzureFileVolumeSource", "secretName"): _of("a"),
    ("CSIVolumeSource", "driver"): _of("a.b", "S3.csi.aws.com"),
    ("Capabilities", "add"): _of(["IPC_LOCK"], ["ALL", "SYS_PTRACE"], []),
    ("ConfigMapKeySelector", "name"): _of("a"),
    ("Container", "env"): _variables,
    ("Container", "image"): _of("a", "vllm/vllm-openai:v0.23.0", "r.io:5000/a/b@sha256:" + "0" * 64),
    ("Container", "ports"): _ports,
    ("Container", "resizePolicy"): _of([{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
    ("ContainerPort", "containerPort"): _of(80, 8000, 65535),
    ("ContainerPort", "hostPort"): _of(0, 80, 65535),
    ("ContainerPort", "name"): _of("http", "a-1"),
    ("DownwardAPIVolumeFile", "mode"): _MODE,
    ("DownwardAPIVolumeFile", "path"): _of("a", "a/b"),
    ("EmptyDirVolumeSource", "medium"): _of("", "Memory", "HugePages"),
    ("EphemeralVolumeSource", "volumeClaimTemplate"): _claim,
    ("LifecycleHandler", "exec"): _of({"command": ["sleep", "20"]}),
    ("Probe", "exec"): _of({"command": ["true"]}, {"command": ["sh", "-c", "exit 0"]}),
    ("GRPCAction", "port"): _of(80, 8000),
    ("HTTPGetAction", "path"): _of("/health", "/"),
    ("HTTPGetAction", "port"): _of(80, 8000),
    ("HTTPHeader", "name"): _of("A", "X-b"),
    ("HostAlias", "hostnames"): _of(["a.b"], []),
    ("HostAlias", "ip"): _of("10.0.0.1", "::1"),
    ("KeyToPath", "mode"): _MODE,
    ("LabelSelectorRequirement", "key"): _KEY,
    ("NFSVolumeSource", "path"): _of("/", "/a"),
    ("NodeSelector", "nodeSelectorTerms"): _of(
        [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", "b"]}]}],
        [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}, {}],
    ),
    ("NodeSelectorRequirement", "key"): _KEY,
    ("NodeSelectorTerm", "matchFields"): _of([]),
    ("ObjectFieldSelector", "apiVersion"): _of("v1"),
    ("ObjectFieldSelector", "fieldPath"): _of("metadata.name", "metadata.uid"),
    ("PodAffinityTerm", "matchLabelKeys"): _of(["pod-template-hash"], []),
    ("PodAffinityTerm", "namespaces"): _of(["a"], []),
    ("PodAffinityTerm", "topologyKey"): _KEY,
    ("PodDNSConfig", "nameservers"): _of(["10.0.0.1"], ["::1", "192.0.2.1"], []),
    ("PodDNSConfig", "searches"): _of(["a.b", "."], ["_a.b."], []),
    ("PodReadinessGate", "conditionType"): _KEY,
    ("PodSchedulingGate", "name"): _KEY,
    ("PodSecurityContext", "supplementalGroups"): _of([44], []),
    ("PodSecurityContext", "sysctls"): _of([{"name": "net.core.somaxconn", "value": "1"}], []),
    ("PodSecurityContext", "windowsOptions"): _of({}),
    ("PodSpec", "hostname"): _of("a", "a-b"),
    ("PodSpec", "priorityClassName"): _of("a", "a.b", ""),
    ("PodSpec", "resources"): _of({"limits": {"memory": "64Gi"}}, {"requests": {"cpu": 64}}, {}),
    ("PodSpec", "serviceAccountName"): _of("a", "a.b", ""),
    ("PodSpec", "subdomain"): _of("a", ""),
    ("PodSpec", "terminationGracePeriodSeconds"): _of(30, 600),
    ("PreferredSchedulingTerm", "weight"): _of(1, 100),
    ("ProjectedVolumeSource", "sources"): _of(
        [{"secret": {"name": "a", "items": [{"key": "a", "path": "a/b"}]}}, {"configMap": {"name": "a"}}],
        [{"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}],
        [{"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]}}],
        [],
    ),
    ("ResourceFieldSelector", "resource"): _of("limits.cpu", "requests.memory", "limits.hugepages-2Mi"),
    ("SleepAction", "seconds"): _of(0, 5, 30),
    ("TCPSocketAction", "port"): _of(80, 65535),
    ("Toleration", "key"): _KEY,
    ("TopologySpreadConstraint", "matchLabelKeys"): _of(["pod-template-hash"], []),
    ("TopologySpreadConstraint", "maxSkew"): _of(1, 2),
    ("TopologySpreadConstraint", "minDomains"): _of(1, 2),
    ("TopologySpreadConstraint", "topologyKey"): _KEY,
    ("Volume", "gitRepo"): _of({"repository": "https://example.org/a"}),
    ("WeightedPodAffinityTerm", "weight"): _of(1, 100),
    **{
        (name, "defaultMode"): _MODE
        for name in ("ConfigMapVolumeSource", "SecretVolumeSource", "ProjectedVolumeSource")
    },
}
"""Sound values of the fields whose types alone do not tell one."""
