"""What the charts that cannot be rendered here know: one table, from each project's own files.

A chart in a Go module that is built for the end-to-end tests is rendered there instead (tests/e2e/charts.py). Of the
others, the values that we send are kept here as the chart has them by default. Whoever raises the version of a chart
reads its values again, and changes `version` with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.chartvalues import Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The defaults of the values that we send to a chart."""

    version: str
    """The version that we install, for which these values were looked up."""
    source: str
    """Where they stand: repository, file, and the commit that was read."""
    defaults: Values
    restated: Mapping[str, str]
    """Why we send a value that is the default."""


FACTS: Mapping[str, Facts] = {
    "cert-manager": Facts(
        version="v1.21.2",
        source="cert-manager/cert-manager deploy/charts/cert-manager/values.yaml@001eb00d",
        defaults={"crds": {"enabled": False, "keep": True}},
        restated={"crds.keep": "without it, an uninstall deletes every Certificate of the cluster"},
    ),
    "ai-gateway-crds-helm": Facts(
        version="v1.1.0",
        source="envoyproxy/ai-gateway manifests/charts/ai-gateway-crds-helm: CRDs as templates",
        defaults={},
        restated={},
    ),
    "ai-gateway-helm": Facts(
        version="v1.1.0",
        source="envoyproxy/ai-gateway manifests/charts/ai-gateway-helm/values.yaml@039ba6bc",
        defaults={"controller": {"replicaCount": 1}, "envoyGateway": {"namespace": "envoy-gateway-system"}},
        restated={"envoyGateway.namespace": "we choose where Envoy Gateway is"},
    ),
    "node-feature-discovery": Facts(
        version="0.19.0",
        source=(
            "kubernetes-sigs/node-feature-discovery deployment/helm/node-feature-discovery: values.yaml@000d5803; "
            "templates/post-delete-job.yaml@039ecab7 has postDeleteCleanup"
        ),
        defaults={"worker": {"tolerations": []}, "postDeleteCleanup": True},
        restated={},
    ),
    "dra-driver-nvidia-gpu": Facts(
        version="0.4.1",
        source=(
            "kubernetes-sigs/dra-driver-nvidia-gpu deployments/helm/dra-driver-nvidia-gpu/values.yaml@0f5a1bc2, "
            "which is after 0.4.1 (it has the shares of 0.5)"
        ),
        defaults={
            "gpuResourcesEnabledOverride": False,
            "nvidiaDriverRoot": "/",
            "resources": {"computeDomains": {"enabled": True}},
            "kubeletPlugin": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
        },
        restated={},
    ),
    "k8s-gpu-dra-driver": Facts(
        version="v1.0.1",
        source="ROCm/k8s-gpu-dra-driver helm-charts-k8s/values.yaml@14599db2; that of the tag was not read",
        defaults={"kubeletPlugin": {"tolerations": [], "affinity": {}}},
        restated={},
    ),
    "dranet": Facts(
        version="1.4.0",
        source="kubernetes-sigs/dranet deployments/helm/dranet/values.yaml@49c2e676",
        defaults={"affinity": {}, "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]},
        restated={},
    ),
    "aws-dranet": Facts(
        version="1.0.0",
        source="aws/eks-charts stable/aws-dranet/values.yaml@b4e93384",
        defaults={"tolerations": []},
        restated={},
    ),
    "kube-prometheus-stack": Facts(
        version="88.5.3",
        source="prometheus-community/helm-charts charts/kube-prometheus-stack/values.yaml@001f3a6d",
        defaults={
            "alertmanager": {"enabled": True},
            "grafana": {"enabled": True},
            "crds": {"upgradeJob": {"enabled": False}},
            "prometheus": {
                "prometheusSpec": {
                    "podMonitorSelectorNilUsesHelmValues": True,
                    "serviceMonitorSelectorNilUsesHelmValues": True,
                }
            },
        },
        restated={},
    ),
    "cluster-autoscaler": Facts(
        version="9.59.0",
        source="kubernetes/autoscaler charts/cluster-autoscaler/values.yaml@028eaaf3; that of the tag was not read",
        defaults={
            "autoDiscovery": {"clusterName": None},
            "awsRegion": "us-east-1",
            "cloudProvider": "aws",
            "extraArgs": {"logtostderr": True, "stderrthreshold": "info", "v": 4, "expander": None}
            | {"enable-dynamic-resource-allocation": None},  # any flag of the program
            "image": {"tag": "v1.23.0"},
            "nodeSelector": {},
            "priorityClassName": "system-cluster-critical",
            "rbac": {"serviceAccount": {"name": ""}},
        },
        restated={
            "awsRegion": "the region of the cluster may be the default one",
            "cloudProvider": "the only one for which we install it",
            "priorityClassName": "nodes come back only while it runs",
        },
    ),
    "csi-mounted-fs-path": Facts(
        version="0.1.6",
        source="not read; modelplaneai/modelplane compose-nebius-cluster runs with these values on Nebius",
        defaults={"dataDir": None, "tolerations": None},
        restated={},
    ),
    "traefik": Facts(
        version="41.3.0",
        source=(
            "traefik/traefik-helm-chart traefik/values.yaml@00374755; service.nameOverride came with "
            "traefik/traefik-helm-chart#1787"
        ),
        defaults={
            "providers": {
                "kubernetesGateway": {
                    "enabled": False,
                    "statusAddress": {"service": {"name": "", "namespace": ""}},
                },
                "kubernetesIngress": {"enabled": True},
                "kubernetesCRD": {"enabled": True},
            },
            "gateway": {"enabled": True},
            "gatewayClass": {"enabled": True},
            "ingressClass": {"enabled": True},
            "ports": {
                name: {"expose": {"default": True}, "transport": {"lifeCycle": {"graceTimeOut": None}}}
                for name in ("web", "websecure")
            },
            "service": {"nameOverride": ""},
            "deployment": {"replicas": 1, "terminationGracePeriodSeconds": 60},
            "podDisruptionBudget": {"enabled": False, "minAvailable": None},
            "resources": {},
            "topologySpreadConstraints": [],
            "global": {"checkNewVersion": True},
        },
        restated={},
    ),
}
