"""llm-d's endpoint picker, which chooses a pair of pods for every request, and its sidecar on decode pods.

Facts are those of llm-d router v0.9: flags, ports and RBAC of its reference chart; plugins and parameters of its
loader, which is strict and exits on an unknown one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests import copies, pods, routing, workloads
from function.manifests.metadata import metadata, pod_metadata
from function.vocabulary import labels as key
from function.vocabulary import versions

GRPC_PORT = 9002
SIDECAR = "routing-sidecar"
"""Name of the sidecar's container."""
SIDECAR_REQUESTS: Mapping[str, str] = {"cpu": "100m", "memory": "128Mi"}
"""What the sidecar adds to the requests of each decode pod. The scheduler counts it (fleet/pod_requests.py)."""
_HEALTH_PORT = 9003
_METRICS_PORT = 9090
_HEALTH_SERVICE = "inference-extension"
_CONFIG_FILE = "picker.yaml"
_CONFIG_DIRECTORY = "/config"
_CONFIG_VOLUME = "config"
_POOL_GROUP = versions.INFERENCE.partition("/")[0]
_GROUPS = (_POOL_GROUP, "inference.networking.x-k8s.io", "llm-d.ai")
_ALWAYS, _BY_PREFIX = "always-disagg-pd-decider", "prefix-based-pd-decider"
_NON_CACHED_TOKENS = 256
"""Prompts with fewer uncached tokens are prefilled on the decode engine: transferring the KV cache would cost more."""
_LONGEST_PREFIX_TOKENS = 131072
"""How many tokens of two prompts are compared. A bound in blocks would shrink with the block size."""
_DRAIN_SECONDS = 130
_BOOTSTRAP_PORTS = ("MOONCAKE_BOOTSTRAP_PORT", "SGLANG_BOOTSTRAP_PORT")
"""Variables of the sidecar: its bootstrap port for each protocol that has one. Both default to 8998."""


def config(*, block_size: int, splits_all: bool = False) -> str:
    """Return an EndpointPickerConfig that splits requests between prefill and decode pods.

    `block_size` is that of the engines, in tokens. A request is split if enough of its prompt is uncached. With
    `splits_all` every request is split, for decode engines that cannot prefill. The producer tells the decider and the
    scorers how much of a prompt a pod has cached. It must not tune itself, because it would ask engines for metrics
    that some do not have.
    """
    decider = _ALWAYS if splits_all else _BY_PREFIX
    parameters = "" if splits_all else f"\n  parameters:\n    nonCachedTokens: {_NON_CACHED_TOKENS}"
    return f"""\
apiVersion: {versions.LLMD}
kind: EndpointPickerConfig
plugins:
- type: approx-prefix-cache-producer
  parameters:
    autoTune: false
    blockSizeTokens: {block_size}
    maxPrefixTokensToMatch: {_LONGEST_PREFIX_TOKENS}
- type: {decider}{parameters}
- type: disagg-profile-handler
  parameters:
    profiles: {{prefill: prefill, decode: decode}}
    deciders: {{prefill: {decider}}}
- type: prefill-filter
- type: decode-filter
- type: prefix-cache-scorer
- type: queue-scorer
- type: kv-cache-utilization-scorer
- type: max-score-picker
schedulingProfiles:
{_profile("prefill")}{_profile("decode")}"""


def _profile(phase: str) -> str:
    return f"""\
- name: {phase}
  plugins:
  - pluginRef: {phase}-filter
  - pluginRef: prefix-cache-scorer
    weight: 3
  - pluginRef: queue-scorer
    weight: 2
  - pluginRef: kv-cache-utilization-scorer
    weight: 2
  - pluginRef: max-score-picker
"""


def config_map(*, name: str, namespace: str, labels: Mapping[str, str], config: str) -> dict[str, Any]:
    return copies.config_map(name=name, namespace=namespace, labels=labels, data={_CONFIG_FILE: config})


def service_account(*, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": "ServiceAccount",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
    }


def role(*, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Allow the picker to watch its objects.

    If the kind inferencemodelrewrites is installed and it may not watch it, the picker never starts to serve its pool.
    """
    read = ["get", "list", "watch"]
    return {
        "apiVersion": versions.RBAC,
        "kind": "Role",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": read},
            {
                "apiGroups": list(_GROUPS),
                "resources": ["inferencepools", "inferenceobjectives", "inferencemodelrewrites"],
                "verbs": read,
            },
        ],
    }


def role_binding(*, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": versions.RBAC,
        "kind": "RoleBinding",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "roleRef": {"apiGroup": versions.RBAC.partition("/")[0], "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }


def service(*, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    port = routing.service_port(name="grpc-ext-proc", number=GRPC_PORT, target=GRPC_PORT)
    return routing.service(
        name=name,
        namespace=namespace,
        selector={key.PICKER: name},
        port=port,
        labels=labels,
    )


def deployment(*, name: str, namespace: str, labels: Mapping[str, str], pool: str, config_hash: str) -> dict[str, Any]:
    """Return the picker's Deployment of one pod: each of two would know only half of what the engines have cached.

    Without the one, its replica takes no requests, so no autoscaler may evict it.
    """
    annotations = {**pods.STAYS, key.CONFIG_HASH: config_hash}
    return workloads.deployment(
        name=name,
        namespace=namespace,
        copies=1,
        selector={key.PICKER: name},
        strategy=workloads.RECREATE,
        labels=labels,
        pod={
            "metadata": pod_metadata(labels={key.PICKER: name}, annotations=annotations),
            "spec": {
                "serviceAccountName": name,
                "terminationGracePeriodSeconds": _DRAIN_SECONDS,
                "containers": [_container(pool=pool, namespace=namespace)],
                "volumes": [pods.config_volume(name=_CONFIG_VOLUME, config_map=name)],
            },
        },
    )


def _container(*, pool: str, namespace: str) -> dict[str, Any]:
    def probe(period: int, failures: int) -> dict[str, Any]:
        return pods.grpc_probe(port=_HEALTH_PORT, service=_HEALTH_SERVICE, period=period, failures=failures)

    return {
        "name": "picker",
        "image": versions.PICKER_IMAGE,
        "args": [
            f"--pool-name={pool}",
            f"--pool-namespace={namespace}",
            f"--pool-group={_POOL_GROUP}",
            f"--config-file={_CONFIG_DIRECTORY}/{_CONFIG_FILE}",
            f"--grpc-port={GRPC_PORT}",
            f"--grpc-health-port={_HEALTH_PORT}",
            f"--metrics-port={_METRICS_PORT}",
            "--metrics-endpoint-auth=false",  # it would need rights over the whole cluster
            "--tracing=false",  # no collector is installed
        ],
        "env": [
            pods.env_from("NAMESPACE", {"fieldRef": {"fieldPath": "metadata.namespace"}}),
            pods.env_from("POD_NAME", {"fieldRef": {"fieldPath": "metadata.name"}}),
        ],
        "ports": [
            pods.port(name="grpc", number=GRPC_PORT),
            pods.port(name="grpc-health", number=_HEALTH_PORT),
            pods.port(name="metrics", number=_METRICS_PORT),
        ],
        "startupProbe": probe(2, 60),
        "readinessProbe": probe(5, 3),
        "livenessProbe": probe(10, 5),
        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}},
        "securityContext": dict(pods.CONFINED),
        "volumeMounts": [pods.mount(volume=_CONFIG_VOLUME, path=_CONFIG_DIRECTORY, read_only=True)],
    }


def sidecar(*, port: int, engine_port: int, connector: str, bootstrap_port: int | None) -> dict[str, Any]:
    """Return the sidecar that takes a decode pod's traffic.

    `bootstrap_port` is that of prefill pods, None for the sidecar's own default.

    It has the chosen prefill pod prefill the prompt, then calls the engine beside it. As a native sidecar it starts
    before the engine and stops after it. Its startup probe only tests that the port is open, because Kubernetes starts
    the engine only after that probe succeeds. It answers /health itself, so only the engine's own port tells whether
    the engine is healthy.
    """
    return {
        "name": SIDECAR,
        "image": versions.SIDECAR_IMAGE,
        "restartPolicy": "Always",
        "args": [
            f"--port={port}",
            f"--vllm-port={engine_port}",
            f"--kv-connector={connector}",
            "--secure-proxy=false",  # the gateway speaks HTTP to it
        ],
        **({"env": [pods.env(name, str(bootstrap_port)) for name in _BOOTSTRAP_PORTS]} if bootstrap_port else {}),
        "ports": [pods.port(name="http", number=port)],
        "startupProbe": pods.tcp_probe(port=port, period=2, failures=300),
        "resources": {"requests": dict(SIDECAR_REQUESTS)},
        "securityContext": dict(pods.CONFINED),
    }
