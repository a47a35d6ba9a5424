"""ClusterRoles for people: what ML teams, viewers and the platform team may do with our kinds.

The roles for teams are aggregated into Kubernetes' own `edit` and `view`, and through them into `admin` (kubernetes
v1.36, plugin/pkg/auth/authorizer/rbac/bootstrappolicy). No role allows anyone to write an internal kind, or any kind of
a provider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from function.contracts.cloud import credentials
from function.publish import access
from function.publish.catalog import KINDS, Kind
from function.schema import Audience
from function.vocabulary import versions

READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
REMOVE = ("delete", "deletecollection", *READ)
"""Enough to clean up. Crossplane composes again what is still needed."""
_KUBERNETES = ("", "apps", "discovery.k8s.io", "policy")
"""API groups of Kubernetes of which objects are composed on the control cluster."""
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"

Rules = list[dict[str, Any]]


def cluster_roles() -> list[dict[str, Any]]:
    return [
        _role("modelplane-ml-team", "edit", [*_team(WRITE), *_scale()]),
        _role("modelplane-viewer", "view", [*_namespaced(READ)]),
        _role("modelplane-fleet-viewer", None, _rules(lambda kind: kind.audience is Audience.PLATFORM, READ)),
        _role("modelplane-composed-viewer", None, _composed()),
        _role("modelplane-platform-team", None, [*_platform(), *_namespaced(READ), *_internal(REMOVE)]),
    ]


def _role(name: str, aggregated_to: str | None, rules: Rules) -> dict[str, Any]:
    labels = {"labels": {f"{_AGGREGATE}{aggregated_to}": "true"}} if aggregated_to else {}
    return {"apiVersion": versions.RBAC, "kind": "ClusterRole", "metadata": {"name": name, **labels}, "rules": rules}


def _composed() -> Rules:
    """Return rules to read what our kinds composed. Kinds of Kubernetes itself are left to its role `view`."""
    foreign = [one for one in access.COMPOSED if one not in access.OURS and one.group not in _KUBERNETES]
    configs = [one for one in access.REQUIRED if one.kind in credentials.KINDS]
    plurals: dict[str, set[str]] = {}
    for one in (*foreign, *configs):
        plurals.setdefault(one.group, set()).add(one.plural)
    return [{"apiGroups": [g], "resources": sorted(plurals[g]), "verbs": list(READ)} for g in sorted(plurals)]


def _team(verbs: Iterable[str]) -> Rules:
    return _rules(lambda kind: kind.audience is Audience.TEAM, verbs)


def _platform() -> Rules:
    return _rules(lambda kind: kind.audience is Audience.PLATFORM, WRITE)


def _internal(verbs: Iterable[str]) -> Rules:
    return _rules(lambda kind: kind.audience is Audience.INTERNAL, verbs)


def _namespaced(verbs: Iterable[str]) -> Rules:
    """Return rules for a team's own objects, and for what Crossplane composed from them."""
    return _rules(lambda kind: kind.scope == "Namespaced", verbs)


def _scale() -> Rules:
    scaled = sorted(f"{kind.plural}/scale" for kind in KINDS if kind.scale and kind.audience is Audience.TEAM)
    return [{"apiGroups": [KINDS[0].group], "resources": scaled, "verbs": ["get", "patch", "update"]}]


def _rules(chosen: Callable[[Kind], bool], verbs: Iterable[str]) -> Rules:
    plurals: dict[str, list[str]] = {}
    for kind in filter(chosen, KINDS):
        plurals.setdefault(kind.group, []).append(kind.plural)
    return [
        {"apiGroups": [group], "resources": sorted(plurals[group]), "verbs": list(verbs)} for group in sorted(plurals)
    ]
