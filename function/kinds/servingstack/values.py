"""The values of every chart, and why each differs from the chart's default."""

from __future__ import annotations

from typing import Any

from function import clouds
from function.api import servingstack as model
from function.api.servingstack import Spec
from function.vocabulary import charts

_EVERY_TAINT = [{"operator": "Exists"}]
"""Only for agents that must run on every node: who tells of a node's devices cannot be kept off it by a taint."""
_AI_GATEWAY_HOST = f"ai-gateway-controller.{charts.AI_GATEWAY.namespace}.svc.cluster.local"
_AI_GATEWAY_PORT = 1063
"""Service and port of the extension server (ai-gateway v1.1.0, manifests/envoy-gateway-values.yaml)."""


def cert_manager(_: Spec) -> dict[str, Any]:
    """Its CRDs stay with `keep`: without them every Certificate of the cluster would go."""
    return {"crds": {"enabled": True, "keep": True}}


def envoy_gateway(spec: Spec) -> dict[str, Any]:
    """Told of the AI gateway only where there is one: an extension server that does not answer stops all updates."""
    extension = {"extensionManager": _extension_manager()} if model.is_on(spec, "aiGateway") else {}
    return {"config": {"envoyGateway": {"extensionApis": {"enableBackend": True}, **extension}}}


def _extension_manager() -> dict[str, Any]:
    every = {"includeAll": True}
    return {
        "backendResources": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}],
        "hooks": {
            "xdsTranslator": {
                "translation": {"listener": every, "route": every, "cluster": every, "secret": every},
                "post": ["Translation", "Cluster", "Route"],
            }
        },
        "service": {"fqdn": {"hostname": _AI_GATEWAY_HOST, "port": _AI_GATEWAY_PORT}},
    }


def ai_gateway(_: Spec) -> dict[str, Any]:
    """Two of it: while none answers no proxy pod starts, and no route changes."""
    return {
        "controller": {"replicaCount": 2},
        "envoyGateway": {"namespace": charts.ENVOY_GATEWAY.namespace},
    }


def node_feature_discovery(spec: Spec) -> dict[str, Any]:
    """Its clean-up Job would hang where the nodes go with the cluster."""
    return {
        "worker": {"tolerations": _EVERY_TAINT},
        "postDeleteCleanup": not clouds.BY_NAME[spec.source].is_provisioned,
    }


def nvidia_dra_driver(spec: Spec) -> dict[str, Any]:
    """The override says that no device plugin hands out the same GPUs; compute domains are for NVLink across nodes."""
    return {
        "gpuResourcesEnabledOverride": True,
        "nvidiaDriverRoot": clouds.BY_NAME[spec.source].driver_root,
        "resources": {"computeDomains": {"enabled": False}},
        "kubeletPlugin": {"tolerations": _EVERY_TAINT},
    }


def prometheus(_: Spec) -> dict[str, Any]:
    """It scrapes every monitor of the cluster, not only its own; its CRDs follow its version."""
    return {
        "alertmanager": {"enabled": False},
        "grafana": {"enabled": False},
        "crds": {"upgradeJob": {"enabled": True}},
        "prometheus": {
            "prometheusSpec": {
                "podMonitorSelectorNilUsesHelmValues": False,
                "serviceMonitorSelectorNilUsesHelmValues": False,
            }
        },
    }
