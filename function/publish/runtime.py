"""How Crossplane runs our packages: the namespace of the installation, and the pods of the function and the providers.

A package that is installed as a dependency names no DeploymentRuntimeConfig. An ImageConfig gives it one by the prefix
of its image. The prefix is compared with the address that the image is really pulled from, after any rewriting
(crossplane v2.4, internal/controller/pkg/runtime/reconciler.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.publish.admission import RESERVED, SETTINGS
from function.vocabulary import names, namespaces, versions

FUNCTION_PACKAGE = "xpkg.modelplane.ai/function-modelplane"
PROVIDER_KUBERNETES = "provider-kubernetes"
PROVIDER_HELM = "provider-helm"
_PROVIDERS = "xpkg.crossplane.io/crossplane-contrib"
_CONTAINER = "package-runtime"
"""The container that Crossplane adds to what a DeploymentRuntimeConfig says of it (crossplane v2.4, runtime.go)."""
_PORT = "metrics"
"""The port 8080 as Crossplane itself declares it for every package. A second name for the number would make the
Deployment invalid: a list of ports that is applied has each number once."""
_SLOW = {"timeoutSeconds": 5}
"""A large request delays the answer of a probe by a second, which is Kubernetes' default timeout."""
_LABELS = {"app.kubernetes.io/name": versions.FUNCTION}
"""Of the function's pods. Crossplane's own label has the name of the package, which depends on its registry."""


def namespace() -> dict[str, Any]:
    return {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": {"name": names.SYSTEM_NAMESPACE}}


def manifests(function_package: str = FUNCTION_PACKAGE) -> list[dict[str, Any]]:
    """Return the runtime of the function, which is pulled from some place, and of the providers that every fleet needs.

    A provider's ServiceAccount has a name of its own, not one of a revision: `provider_access` binds roles to it.
    """
    return [
        _config(versions.FUNCTION, {"replicas": 2, "selector": {}, "template": _function_pod()}, _LABELS),
        _chosen(versions.FUNCTION, function_package),
        _disruption_budget(),
        *_provider(PROVIDER_KUBERNETES, "--sanitize-secrets", "--enable-watches"),
        *_provider(PROVIDER_HELM),
    ]


def _function_pod() -> dict[str, Any]:
    container = {
        "name": _CONTAINER,
        "env": [_reserved_namespaces()],
        "ports": [{"name": _PORT, "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": _PORT}, "periodSeconds": 5, **_SLOW},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": _PORT}, "failureThreshold": 6, **_SLOW},
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "3Gi"}},
    }
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": _LABELS},
    }
    return {
        "metadata": {"labels": _LABELS},
        "spec": {"topologySpreadConstraints": [spread], "containers": [container]},
    }


def _reserved_namespaces() -> dict[str, Any]:
    """The function and the admission policies read one list."""
    reference = {"name": SETTINGS, "key": RESERVED, "optional": True}
    return {"name": "MODELPLANE_RESERVED_NAMESPACES", "valueFrom": {"configMapKeyRef": reference}}


def _provider(name: str, *arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
    container = {
        "name": _CONTAINER,
        **({"args": list(arguments)} if arguments else {}),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}},
    }
    config = _config(name, {"selector": {}, "template": {"spec": {"containers": [container]}}})
    config["spec"]["serviceAccountTemplate"] = {"metadata": {"name": name}}
    return config, _chosen(name, f"{_PROVIDERS}/{name}")


def _config(name: str, deployment: dict[str, Any], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {
        "apiVersion": "pkg.crossplane.io/v1beta1",
        "kind": "DeploymentRuntimeConfig",
        "metadata": {"name": f"modelplane-{name.removesuffix('-modelplane')}"},
        "spec": {"deploymentTemplate": {**({"metadata": {"labels": labels}} if labels else {}), "spec": deployment}},
    }


def _chosen(name: str, prefix: str) -> dict[str, Any]:
    """The ImageConfig by which a package of some prefix gets its DeploymentRuntimeConfig."""
    config = {"name": f"modelplane-{name.removesuffix('-modelplane')}"}
    reference = {"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "DeploymentRuntimeConfig", **config}
    return {
        "apiVersion": "pkg.crossplane.io/v1beta1",
        "kind": "ImageConfig",
        "metadata": config,
        "spec": {"matchImages": [{"type": "Prefix", "prefix": prefix}], "runtime": {"configRef": reference}},
    }


def _disruption_budget() -> dict[str, Any]:
    return {
        "apiVersion": versions.POLICY,
        "kind": "PodDisruptionBudget",
        "metadata": {"name": versions.FUNCTION, "namespace": namespaces.CROSSPLANE},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": _LABELS}},
    }
