"""Traefik: everything that is its own, and nowhere else.

Facts of Traefik v3.7 (pkg/provider/kubernetes/gateway) and of its chart v41 (values.yaml).
"""

from __future__ import annotations

from typing import Any

from function.gateways.backend import Backend, Setup
from function.vocabulary import charts

_SERVICE = "mp-traefik"
"""Of its load balancer. The address that it writes into the Gateway's status is read from there, by name."""

_DRAIN_SECONDS = 300
"""How long one that must go still passes on the answers that it began; its default of 10 cuts them off."""
_WATCHED = {
    "backendtlspolicies": "v1",
    "gatewayclasses": "v1",
    "gateways": "v1",
    "grpcroutes": "v1",
    "httproutes": "v1",
    "referencegrants": "v1beta1",
    "tlsroutes": "v1",
}


def _values(setup: Setup) -> dict[str, Any]:
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
            "web": {"expose": {"default": not setup.has_tls}, **drain},
            "websecure": {"expose": {"default": setup.has_tls}, **drain},
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


TRAEFIK = Backend(
    name="Traefik",
    controller="traefik.io/gateway-controller",
    http_port=8000,
    https_port=8443,
    most_backends=16,
    definitions={f"{plural}.gateway.networking.k8s.io": version for plural, version in _WATCHED.items()},
    chart=charts.TRAEFIK,
    values=_values,
)
"""It has nothing wider than a rule's 16 backendRefs: what it could refer to beyond them knows no rewrite of its own."""
