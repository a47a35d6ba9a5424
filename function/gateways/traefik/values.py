"""The values of Traefik's chart.

Facts of Traefik v3.7 (pkg/provider/kubernetes/gateway) and of its chart v41 (values.yaml).
"""

from __future__ import annotations

from typing import Any

from function.gateways.traefik import charts

_SERVICE = "mp-traefik"
"""Of its load balancer. The address that it writes into the Gateway's status is read from there, by name."""

_DRAIN_SECONDS = 300
"""How long one that must go still passes on the answers that it began; its default of 10 cuts them off."""


def values(*, has_tls: bool) -> dict[str, Any]:
    """The Gateway and its class are ours; of the two entry points only the one that is listened on is exposed."""
    drain = {"transport": {"lifeCycle": {"graceTimeOut": f"{_DRAIN_SECONDS}s"}}}
    return {
        "providers": {
            "kubernetesGateway": {
                "enabled": True,
                "statusAddress": {"service": {"name": _SERVICE, "namespace": charts.TRAEFIK.namespace}},
            },
            "kubernetesIngress": {"enabled": False},
            "kubernetesCRD": {"enabled": False},
        },
        "gateway": {"enabled": False},
        "gatewayClass": {"enabled": False},
        "ingressClass": {"enabled": False},
        "ports": {
            "web": {"expose": {"default": not has_tls}, **drain},
            "websecure": {"expose": {"default": has_tls}, **drain},
        },
        "service": {"nameOverride": _SERVICE},
        "deployment": {"replicas": 2, "terminationGracePeriodSeconds": _DRAIN_SECONDS + 30},
        "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
        "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "traefik"}},
            }
        ],
        "global": {"checkNewVersion": False},  # a gateway calls nobody
    }
