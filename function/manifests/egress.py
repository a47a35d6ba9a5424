"""An egress proxy on Kubernetes: a Deployment of two Envoys, its volumes, and its disruption budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests import envoy, pods, workloads
from function.manifests.metadata import metadata, pod_metadata
from function.vocabulary import labels as key
from function.vocabulary import versions

COPIES = 2
_CONTAINER = "envoy"
_CONFIG = "config"
_CREDENTIAL = "credential"
_USER = 65532
"""An arbitrary user other than root."""
_DRAIN_SECONDS = 120
"""How long a terminating proxy keeps serving the requests it has begun."""
_FOR_GROUP = 0o440


def deployment(
    *,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    image: str,
    config_map: str,
    config_hash: str,
    secret: tuple[str, str] | None,
) -> dict[str, Any]:
    """Return the proxy's Deployment.

    `secret` is the name and key of the bearer token. If it is set, no pod starts without that Secret.
    """
    return workloads.deployment(
        name=name,
        namespace=namespace,
        copies=COPIES,
        selector=labels,
        strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        labels=labels,
        pod={
            "metadata": pod_metadata(labels=labels, annotations={key.CONFIG_HASH: config_hash}),
            "spec": {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": _DRAIN_SECONDS + 10,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": _USER,
                    "runAsGroup": _USER,
                    "fsGroup": _USER,
                },
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": dict(labels)},
                    }
                ],
                "containers": [_container(image=image, has_credential=secret is not None)],
                "volumes": [
                    pods.config_volume(name=_CONFIG, config_map=config_map),
                    *([_secret_volume(*secret)] if secret else []),
                ],
            },
        },
    )


def _secret_volume(name: str, secret_key: str) -> dict[str, Any]:
    """Mount one key of a Secret as a file of a fixed name."""
    items = [{"key": secret_key, "path": envoy.CREDENTIAL_FILE}]
    return {"name": _CREDENTIAL, "secret": {"secretName": name, "items": items, "defaultMode": _FOR_GROUP}}


def _container(*, image: str, has_credential: bool) -> dict[str, Any]:
    config = pods.mount(volume=_CONFIG, path=envoy.DIRECTORY, read_only=True)
    credential = pods.mount(volume=_CREDENTIAL, path=envoy.CREDENTIAL_DIRECTORY, read_only=True)
    return {
        "name": _CONTAINER,
        "image": image,
        "command": ["/usr/local/bin/envoy"],
        "args": [
            # Option and value are separate: Envoy does not accept --option=value.
            *("--config-path", f"{envoy.DIRECTORY}/{envoy.BOOTSTRAP_FILE}"),
            *("--concurrency", "2"),
            *("--log-level", "warning"),
            "--disable-hot-restart",  # hot restart would write to shared memory
        ],
        "ports": [pods.port(name="http", number=envoy.PORT), pods.port(name="probe", number=envoy.PROBE_PORT)],
        "startupProbe": pods.tcp_probe(port=envoy.PROBE_PORT, period=2, failures=60),
        "readinessProbe": pods.http_probe(
            path=envoy.PROBE_PATH, port=envoy.PROBE_PORT, period=5, timeout=2, failures=2
        ),
        "livenessProbe": pods.tcp_probe(port=envoy.PROBE_PORT, period=10, failures=6),
        "lifecycle": {"preStop": {"sleep": {"seconds": _DRAIN_SECONDS}}},  # without it, Envoy stops at once
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "2", "memory": "512Mi"},
        },
        "securityContext": {**pods.CONFINED, "readOnlyRootFilesystem": True},
        "volumeMounts": [config, *([credential] if has_credential else [])],
    }


def disruption_budget(*, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Keep one proxy running while nodes are drained."""
    return {
        "apiVersion": versions.POLICY,
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": dict(labels)}},
    }
