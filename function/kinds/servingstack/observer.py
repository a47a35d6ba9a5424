"""The parts of the observer of nodes and devices, where an InferenceCluster asks for it.

It serves nothing: the stack does not wait for its pod, and the cluster serves without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests import observer
from function.vocabulary import settings

DEPLOYMENT = "observer"
ACCESS = (
    "observer-service-account",
    "observer-cluster-role",
    "observer-cluster-role-binding",
    "observer-role",
    "observer-role-binding",
    "observer-autoscaler-role",
    "observer-autoscaler-role-binding",
)
KEYS = (*ACCESS, DEPLOYMENT)


def manifests() -> Mapping[str, dict[str, Any]]:
    """Return the remote objects by key."""
    built = (
        observer.service_account(),
        observer.cluster_role(),
        observer.cluster_role_binding(),
        observer.role(),
        observer.role_binding(),
        observer.autoscaler_role(),
        observer.autoscaler_role_binding(),
        observer.deployment(settings.OBSERVER_IMAGE),
    )
    return dict(zip(KEYS, built, strict=True))
