"""The values of every chart of the serving stack, and why each differs from the chart's default."""

from __future__ import annotations

from typing import Any

from function import clouds
from function.api import servingstack as model
from function.api.servingstack import Spec
from function.vocabulary import charts, labels

_EVERY_TAINT = [{"operator": "Exists"}]
"""For agents that must run on every node: a taint must not keep off what discovers the node's devices."""
_AMD_GPU_LABELS = (
    *(f"feature.node.kubernetes.io/pci-{device}1002.present" for device in ("", "0300_", "0302_", "0380_", "1200_")),
    "feature.node.kubernetes.io/amd-gpu",
)
"""Labels of nodes with AMD's GPUs: by vendor, by class and vendor as node-feature-discovery has them by default, and by
the rule of AMD's GPU operator. An MI300X is of PCI class 1200, older ones are displays."""
_AI_GATEWAY_HOST = f"ai-gateway-controller.{charts.AI_GATEWAY.namespace}.svc.cluster.local"
_AI_GATEWAY_PORT = 1063
"""Service and port of the extension server (ai-gateway v1.1.0, manifests/envoy-gateway-values.yaml)."""


def cert_manager(_: Spec) -> dict[str, Any]:
    """With `keep`, its CRDs stay when it is uninstalled: else every Certificate of the cluster would be deleted."""
    return {"crds": {"enabled": True, "keep": True}}


def envoy_gateway(spec: Spec) -> dict[str, Any]:
    """The extension server is named only where there is one: while it does not answer, no route is updated."""
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
    """Two replicas: while none answers, no proxy pod starts and no route is updated."""
    return {
        "controller": {"replicaCount": 2},
        "envoyGateway": {"namespace": charts.ENVOY_GATEWAY.namespace},
    }


def node_feature_discovery(spec: Spec) -> dict[str, Any]:
    """No clean-up Job on a provisioned cluster: it would hang while the nodes are deleted with the cluster."""
    return {
        "worker": {"tolerations": _EVERY_TAINT},
        "postDeleteCleanup": not clouds.BY_NAME[spec.source].is_provisioned,
    }


def nvidia_dra_driver(spec: Spec) -> dict[str, Any]:
    """The override confirms that no device plugin offers the same GPUs. Compute domains are for NVLink across nodes."""
    return {
        "gpuResourcesEnabledOverride": True,
        "nvidiaDriverRoot": clouds.BY_NAME[spec.source].driver_root,
        "resources": {"computeDomains": {"enabled": False}},
        "kubeletPlugin": {"tolerations": _EVERY_TAINT},
    }


def amd_dra_driver(_: Spec) -> dict[str, Any]:
    """Only on nodes with AMD's GPUs: elsewhere its pods wait for the kernel's driver for ever, and the Release too."""
    terms = [{"matchExpressions": [{"key": label, "operator": "In", "values": ["true"]}]} for label in _AMD_GPU_LABELS]
    return {"kubeletPlugin": {"tolerations": _EVERY_TAINT, "affinity": _required(terms)}}


def dranet(_: Spec) -> dict[str, Any]:
    """Only on nodes of pools: it is privileged, and no claim is for a device of another node."""
    return {
        "tolerations": _EVERY_TAINT,
        "affinity": _required([{"matchExpressions": [{"key": labels.POOL, "operator": "Exists"}]}]),
    }


def _required(terms: list[dict[str, Any]]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def prometheus(_: Spec) -> dict[str, Any]:
    """It scrapes every monitor of the cluster, not only those of its release; its CRDs are upgraded with it."""
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
