"""The part of the pod template's schema that our XRDs declare: the fields that Modelplane reads.

All other fields are preserved as they are. The whole schema would be larger than `kubectl apply` can note in its
annotation (262,144 bytes), four times over, since an engine has two templates in two kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.podspec import definitions, tables
from function.podspec.definitions import Type

_READ: Mapping[str, Mapping[str, str]] = {
    "PodTemplateSpec": {
        "metadata": "Labels and annotations of the member's pods.",
        "spec": "Spec of the member's pods.",
    },
    "ObjectMeta": {
        "labels": "Labels of the pods. Keys under modelplane.ai/ are reserved for Modelplane.",
        "annotations": "Annotations of the pods. Keys under modelplane.ai/ are reserved for Modelplane.",
    },
    "PodSpec": {
        "containers": "Containers of the pod. The engine is the one named engine, or the only one.",
        "initContainers": "Containers that run before the others, or beside them with restartPolicy Always.",
        "volumes": "Volumes that the containers can mount.",
        "imagePullSecrets": "Secrets for pulling images. They are copied to the cluster.",
        "terminationGracePeriodSeconds": "Seconds for requests to finish when a pod ends. By default, 120.",
        "priorityClassName": "PriorityClass of the pods on the cluster.",
        "serviceAccountName": "ServiceAccount of the pods on the cluster.",
    },
    "LocalObjectReference": {"name": "Name of a Secret in the same namespace."},
    "Volume": {"name": "Name of the volume."},
    "Container": {
        "name": "Name of the container.",
        "image": "Image of the container.",
        "command": "Command that replaces the image's entry point.",
        "args": "Arguments. They are passed on unchanged.",
        "env": "Environment variables. Those of Modelplane come before them.",
        "ports": "Ports. The engine's port named http, or its only port, is the port for traffic.",
        "resources": "Requests and limits. Devices are requested by nodeSelector.devices.",
        "startupProbe": "Replaces the engine's default startup probe, which allows time for the weights to load.",
        "readinessProbe": "Replaces the engine's default readiness probe, which decides whether the pod gets traffic.",
        "livenessProbe": "Replaces the engine's default liveness probe, which restarts the container.",
    },
    "EnvVar": {
        "name": "Name of the variable.",
        "value": "Value of the variable. $(NAME) expands to a variable defined before it.",
    },
    "ContainerPort": {"name": "Name of the port.", "containerPort": "Number of the port."},
    "ResourceRequirements": {"requests": "Resources reserved for the container.", "limits": "Most that it may use."},
}
"""The fields that are declared, by definition, with their descriptions."""
_AS_A_WHOLE = ("Probe",)
"""Definitions whose fields are not declared."""


def declared() -> dict[str, Any]:
    """Return the schema of a pod template in a CRD: the declared fields, and whatever else there is."""
    return _schema(definitions.TEMPLATE)


def _schema(type_: Type, description: str = "", *, may_repeat: bool = False) -> dict[str, Any]:
    said = {"description": description} if description else {}
    match type_.kind:
        case "object":
            return {**said, **_object(type_)}
        case "list":
            assert type_.items is not None
            keys = [] if may_repeat else list(type_.keys)
            identified = bool(keys) and all(key in _READ.get(type_.items.definition, {}) for key in keys)
            as_map = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys} if identified else {}
            return {**said, "type": "array", **as_map, "items": _schema(type_.items)}
        case "map":
            assert type_.items is not None
            return {**said, "type": "object", "additionalProperties": _schema(type_.items)}
        case definitions.QUANTITY:  # int-or-string would refuse the fraction in `cpu: 0.5`
            return {**said, "x-kubernetes-preserve-unknown-fields": True}
        case "int32" | "int64" as size:
            return {**said, "type": "integer", "format": size}
        case kind:
            return {**said, "type": kind}


def _object(type_: Type) -> dict[str, Any]:
    read = {} if type_.definition in _AS_A_WHOLE else _READ.get(type_.definition, {})
    required = sorted({*type_.required, *tables.REQUIRED.get(type_.definition, ())} & read.keys())
    properties = {
        name: _schema(type_.fields[name], words, may_repeat=(type_.definition, name) in tables.MAY_REPEAT)
        for name, words in read.items()
    }
    return {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        **({"required": required} if required else {}),
        **({"properties": properties} if properties else {}),
    }
