"""A proxy on Kubernetes: a Deployment of two Envoys, its volumes, and its disruption budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, dig, dig_list
from function.manifests import pods, workloads
from function.manifests.envoy import places
from function.manifests.metadata import metadata, pod_metadata
from function.vocabulary import labels as key
from function.vocabulary import names, versions

COPIES = 2
_CONTAINER = "envoy"
_CONFIG = "config"
_FIRST_USER, _USERS = 20000, 40000
"""Users of proxies. Each has one of its own, because the kernel bounds the files that a user watches on a node
(fs.inotify.max_user_instances, 128 by default, for each user), and Envoy aborts when it cannot watch another one: a
proxy takes three, and two for each Secret. None is above 65535, so that nodes may map users (user_namespaces(7))."""
_DRAIN_SECONDS = 120
"""How long a terminating proxy keeps serving the requests it has begun."""
_FOR_GROUP = 0o440


@dataclass(frozen=True, slots=True)
class SecretFiles:
    """Keys of a Secret as files of a directory."""

    volume: str
    secret: str
    directory: str
    files: tuple[tuple[str, str], ...]
    """Pairs of a key and the name of its file."""
    is_optional: bool = False
    """Whether a pod starts without the Secret, or without a key of it. Kubernetes adds the file when it appears."""


def deployment(
    *,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    image: str,
    config_map: str,
    config_hash: str,
    secrets: Sequence[SecretFiles] = (),
    arguments: Sequence[str] = (),
    memory: str = "512Mi",
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the proxy's Deployment.

    `config_hash` identifies what of the ConfigMap is read at startup only, `arguments` are further arguments of Envoy,
    and `memory` is the limit of a pod.
    """
    user = _user(namespace, name)
    return workloads.deployment(
        name=name,
        namespace=namespace,
        copies=COPIES,
        selector=labels,
        strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        labels=labels,
        pod={
            "metadata": pod_metadata(labels=labels, annotations={key.CONFIG_HASH: config_hash, **(annotations or {})}),
            "spec": {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": _DRAIN_SECONDS + 10,
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": user,
                    "runAsGroup": user,
                    "fsGroup": user,
                },
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": dict(labels)},
                    }
                ],
                "containers": [_container(image=image, secrets=secrets, arguments=arguments, memory=memory)],
                "volumes": [
                    pods.config_volume(name=_CONFIG, config_map=config_map),
                    *(_secret_volume(one) for one in secrets),
                ],
            },
        },
    )


def _user(namespace: str, name: str) -> int:
    """Return the user of a proxy. Two of many may share one."""
    return _FIRST_USER + int(names.content_hash([namespace, name]), 16) % _USERS


def _secret_volume(one: SecretFiles) -> dict[str, Any]:
    items = [{"key": name, "path": file} for name, file in one.files]
    optional = {"optional": True} if one.is_optional else {}
    source = {"secretName": one.secret, "items": items, "defaultMode": _FOR_GROUP, **optional}
    return {"name": one.volume, "secret": source}


def _container(*, image: str, secrets: Sequence[SecretFiles], arguments: Sequence[str], memory: str) -> dict[str, Any]:
    return {
        "name": _CONTAINER,
        "image": image,
        "command": ["/usr/local/bin/envoy"],
        "args": [
            # Option and value are separate: Envoy does not accept --option=value.
            *("--config-path", f"{places.DIRECTORY}/{places.BOOTSTRAP_FILE}"),
            *("--concurrency", "2"),
            *("--log-level", "warning"),
            "--disable-hot-restart",  # hot restart would write to shared memory
            *arguments,
        ],
        "ports": [pods.port(name="http", number=places.PORT), pods.port(name="probe", number=places.PROBE_PORT)],
        "startupProbe": pods.tcp_probe(port=places.PROBE_PORT, period=2, failures=60),
        "readinessProbe": pods.http_probe(
            path=places.PROBE_PATH, port=places.PROBE_PORT, period=5, timeout=2, failures=2
        ),
        "livenessProbe": pods.tcp_probe(port=places.PROBE_PORT, period=10, failures=6),
        "lifecycle": {"preStop": {"sleep": {"seconds": _DRAIN_SECONDS}}},  # without it, Envoy stops at once
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "2", "memory": memory},
        },
        "securityContext": {**pods.CONFINED, "readOnlyRootFilesystem": True},
        "volumeMounts": [
            pods.mount(volume=_CONFIG, path=places.DIRECTORY, read_only=True),
            *(pods.mount(volume=one.volume, path=one.directory, read_only=True) for one in secrets),
        ],
    }


def mounted(deployment: Manifest) -> frozenset[tuple[str, str]]:
    """Return the Secrets and keys that the pods of a proxy's Deployment mount."""
    secrets = (dig(volume, "secret") for volume in dig_list(deployment, "spec", "template", "spec", "volumes"))
    return frozenset(
        (str(dig(secret, "secretName")), str(dig(item, "key")))
        for secret in secrets
        for item in dig_list(secret, "items")
    )


def disruption_budget(*, name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Keep one proxy running while nodes are drained."""
    return {
        "apiVersion": versions.POLICY,
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": dict(labels)}},
    }
