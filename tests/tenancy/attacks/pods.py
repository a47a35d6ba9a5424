"""Pods that leave their namespace: fields of a pod template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.core import Manifest
from tests.tenancy.attack import HARMLESS, attacks
from tests.tenancy.fleet import VICTIM, deployment, template

_T = "engines[0].members[0].template"
_OTHERS = [{"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"}]
_ANTI, _REQUIRED = "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
_PLAIN = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}
_JUDGED = "the level baseline"
"""Pod Security judges it: the replica is not placed, and a rejection names the field."""


def _claim(**spec: Any) -> list[dict[str, Any]]:
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {**storage, **spec}}}}]


def _volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


def _probe(**handler: Any) -> dict[str, Any]:
    return {"livenessProbe": handler}


SPECS: dict[str, tuple[dict[str, Any], str]] = {
    "the node's network": ({"hostNetwork": True}, "hostNetwork"),
    "the node's processes": ({"hostPID": True}, "hostPID"),
    "the node's shared memory": ({"hostIPC": True}, "hostIPC"),
    "the node's files": (_volume(hostPath={"path": "/"}), "hostPath"),
    "the node's files by ..": (_volume(hostPath={"path": "/var/../etc"}), "volumes[0].hostPath.path"),
    "a node of its choice": ({"nodeName": "gpu-1"}, f"{_T}.spec.nodeName"),
    "nodes of its choice": ({"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}, f"{_T}.spec.nodeSelector"),
    "a scheduler that knows no claims": ({"schedulerName": "mine"}, f"{_T}.spec.schedulerName"),
    "a class that evicts everybody": ({"priorityClassName": "system-node-critical"}, f"{_T}.spec.priorityClassName"),
    "the account of our picker": ({"serviceAccountName": "modelplane-picker"}, f"{_T}.spec.serviceAccountName"),
    "it by the old name": ({"serviceAccount": "modelplane-picker"}, f"{_T}.spec.serviceAccount"),
    "keeping off all other pods": (
        {"affinity": {_ANTI: {_REQUIRED: [{**_OTHERS[0], "namespaceSelector": {}}]}}},
        "namespaceSelector",
    ),
    "following another's pods": (
        {"affinity": {"podAffinity": {_REQUIRED: [{**_OTHERS[0], "namespaces": [VICTIM]}]}}},
        "namespaces",
    ),
    "nodes of another pool": (
        {
            "affinity": {
                "nodeAffinity": {
                    _REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "modelplane.ai/pool", "operator": "In", "values": ["other"]}]}
                        ]
                    }
                }
            }
        },
        "affinity.nodeAffinity",
    ),
    "a copy of another's volume": (
        {
            "volumes": _claim(
                dataSourceRef={"apiGroup": "v1", "kind": "PersistentVolumeClaim", "name": "w", "namespace": VICTIM}
            )
        },
        "dataSourceRef.namespace",
    ),
    "a volume of another's namespace in StorageOS": (
        _volume(storageos={"volumeName": "w", "volumeNamespace": VICTIM}),
        "storageos.volumeNamespace",
    ),
    "our claim for devices": (
        {"resourceClaims": [{"name": "devices", "resourceClaimName": "x"}]},
        f"{_T}.spec.resourceClaims[0].name",
    ),
    "a claim in another's namespace": (
        {"resourceClaims": [{"name": "c", "resourceClaimName": f"../{VICTIM}/x"}]},
        "resourceClaims[0].resourceClaimName",
    ),
    "our volume": (_volume(emptyDir={}) | {"volumes": [{"name": "modelplane-weights"}]}, "volumes[0]"),
    "a claim of a volume in another's namespace": (
        _volume(persistentVolumeClaim={"claimName": f"{VICTIM}/weights"}),
        "persistentVolumeClaim.claimName",
    ),
    "a repository that the kubelet clones": (_volume(gitRepo={"repository": "https://x"}), "volumes[0].gitRepo"),
    "a file of a Secret outside its volume": (
        _volume(secret={"secretName": "s", "items": [{"key": "k", "path": "../../etc/passwd"}]}),
        "volumes[0].secret.items[0].path",
    ),
    "a token outside its volume": (
        _volume(projected={"sources": [{"serviceAccountToken": {"path": "../token"}}]}),
        "serviceAccountToken.path",
    ),
    "a kernel setting": ({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, "sysctls"),
    "containers of a running pod": ({"ephemeralContainers": [{"name": "e"}]}, f"{_T}.spec.ephemeralContainers"),
    "our sidecar's place": (
        {"initContainers": [{"name": "engine", "image": "x"}], "containers": [{**_PLAIN, "name": "main"}]},
        "initContainers[0].name",
    ),
    "another's Secret of an image": (
        {"imagePullSecrets": [{"name": f"../{VICTIM}/key"}]},
        "imagePullSecrets[0].name",
    ),
    "hosts of its own": ({"hostAliases": [{"ip": "169.254.169.254", "hostnames": ["api.example.org"]}]}, HARMLESS),
    "names of its own": ({"hostname": "kubernetes", "subdomain": "default", "setHostnameAsFQDN": True}, HARMLESS),
    "another's DNS": ({"dnsConfig": {"searches": [f"{VICTIM}.svc.cluster.local"]}}, HARMLESS),
    "a token for another audience": (
        _volume(projected={"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}),
        HARMLESS,
    ),
}

CONTAINERS: dict[str, tuple[dict[str, Any], str]] = {
    "a privileged container": ({"securityContext": {"privileged": True}}, "privileged"),
    "a capability": ({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}, "capabilities.add"),
    "an unmasked /proc": ({"securityContext": {"procMount": "Unmasked"}}, "procMount"),
    "no seccomp": ({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccompProfile"),
    "a port of the node": ({"ports": [{"containerPort": 8000, "hostPort": 10250}]}, "hostPort"),
    "a probe of the metadata service": (
        _probe(httpGet={"host": "169.254.169.254", "port": 80, "path": "/"}),
        "livenessProbe.httpGet.host",
    ),
    "a probe of the kubelet": (_probe(tcpSocket={"host": "127.0.0.1", "port": 10250}), "livenessProbe.tcpSocket.host"),
    "a hook of the metadata service": (
        {"lifecycle": {"preStop": {"httpGet": {"host": "169.254.169.254", "port": 80}}}},
        "lifecycle.preStop.httpGet.host",
    ),
    "a hook after the start": (
        {"lifecycle": {"postStart": {"tcpSocket": {"host": "10.0.0.1", "port": 22}}}},
        "lifecycle.postStart.tcpSocket.host",
    ),
    "a GPU that the fleet does not count": ({"resources": {"limits": {"nvidia.com/gpu": 8}}}, "nvidia.com/gpu"),
    "mounts that reach the node": (
        {"volumeMounts": [{"name": "none", "mountPath": "/x", "subPath": "../../etc"}]},
        "volumeMounts[0]",
    ),
    "a working directory of the node": ({"workingDir": "/proc/1/root"}, HARMLESS),
}

METADATA: dict[str, tuple[dict[str, Any], str]] = {
    f"{field} {key}": ({field: {key: "x"}}, f"{_T}.metadata.{field}")
    for field in ("labels", "annotations")
    for key in (
        "modelplane.ai/serving",
        "modelplane.ai/workload",
        "modelplane.ai/picker",
        "modelplane.ai/shared-pool",
        "modelplane.ai/service",
        "llm-d.ai/role",
        "leaderworkerset.sigs.k8s.io/name",
    )
} | {
    "another namespace of the pods, which nothing reads": ({"namespace": VICTIM}, HARMLESS),
    "an owner of the pods, which nothing reads": (
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": VICTIM, "uid": "u", "controller": True}]},
        HARMLESS,
    ),
    "scraping, injection, queues and eviction": (
        {
            "labels": {"app.kubernetes.io/name": "envoy", "sidecar.istio.io/inject": "true"},
            "annotations": {"prometheus.io/scrape": "true", "cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
        },
        HARMLESS,
    ),
}


def _deployments() -> Iterator[tuple[str, tuple[Manifest, str]]]:
    for what, (spec, refused) in SPECS.items():
        yield what, (deployment(_name("s", what), pods=template(None, **spec)), refused)
    for what, (container, refused) in CONTAINERS.items():
        yield what, (deployment(_name("c", what), pods=template(container)), refused)
    for what, (metadata, refused) in METADATA.items():
        yield what, (deployment(_name("m", what), pods={**template(), "metadata": metadata}), refused)


def _name(kind: str, what: str) -> str:
    """A name that tells the attack, and is no other's."""
    return f"{kind}-{''.join(c if c.isalnum() else '-' for c in what.lower())}"[:50].strip("-")


ATTACKS = attacks("pods", dict(_deployments()))
