"""The rights that components of a control cluster have, and those that they used.

`used` is of an audit log (audit.py). `granted` are rules of ClusterRoles: Crossplane's by its chart and by
package/rbac.yaml, a provider's by package/providers.yaml and by Crossplane's RBAC manager.
"""

import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.audit import Right

REPOSITORY = Path(__file__).parents[2]
UNUSED = Path(__file__).with_name("unused_rights.yaml")
READS = ("get", "list", "watch")
Rule = dict[str, Any]

EVERYBODY: tuple[Rule, ...] = (
    {
        "apiGroups": ["authorization.k8s.io", "authentication.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"],
        "verbs": ["create"],
    },
)
"""What Kubernetes grants to who is authenticated (ClusterRole system:basic-user)."""

_KINDS = (
    "clusterproviderconfigs",
    "objects",
    "observedobjectcollections",
    "providerconfigs",
    "providerconfigusages",
)
MANAGED: tuple[Rule, ...] = (
    {
        "apiGroups": ["kubernetes.m.crossplane.io", "kubernetes.crossplane.io"],
        "resources": [*_KINDS, *(f"{kind}/status" for kind in _KINDS)],
        "verbs": [*READS, "update", "patch", "create"],
    },
    {"apiGroups": ["kubernetes.m.crossplane.io"], "resources": ["*/finalizers"], "verbs": ["update"]},
    {
        "apiGroups": ["", "coordination.k8s.io"],
        "resources": ["secrets", "configmaps", "events", "leases"],
        "verbs": ["*"],
    },
    {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": [*READS]},
)
"""What the RBAC manager grants provider-kubernetes (crossplane v2.4, internal/controller/rbac/provider/roles)."""


def allows(rule: Rule, right: Right) -> bool:
    """Whether a rule allows something of all names. `*` matches subresources too, and `*/status` those of all kinds."""
    resource, _, part = right.resource.partition("/")
    spelled = {"*", right.resource} | ({f"*/{part}"} if part else set())
    return (
        not rule.get("resourceNames")
        and bool({"*", right.group} & set(rule.get("apiGroups", ())))
        and bool(spelled & set(rule.get("resources", ())))
        and bool({"*", right.verb} & set(rule["verbs"]))
        and bool(resource)
    )


def missing(used: Iterable[Right], granted: Iterable[Rule]) -> list[Right]:
    """What was used and no rule grants."""
    rules = list(granted)
    return sorted(right for right in used if not any(allows(rule, right) for rule in rules))


def expanded(granted: Iterable[Rule]) -> frozenset[Right]:
    """Every right that rules without wildcards grant, one by one."""
    return frozenset(
        Right(group, resource, verb)
        for rule in granted
        for group, resource, verb in product(rule["apiGroups"], rule["resources"], rule["verbs"])
    )


def ours(name: str = "rbac") -> list[Rule]:
    """Rules of a file of package/, which Crossplane gets, or those of the ClusterRole of that name."""
    return [rule for one in manifests(REPOSITORY / f"package/{name}.yaml") for rule in one.get("rules", ())]


def of_provider(name: str) -> list[Rule]:
    """Rules that package/providers.yaml gives a provider."""
    found = manifests(REPOSITORY / "package/providers.yaml")
    roles = (one for one in found if one["kind"] == "ClusterRole" and one["metadata"]["name"] == f"modelplane-{name}")
    return [rule for one in roles for rule in one["rules"]]


def of_chart(chart: Path) -> list[Rule]:
    """Rules of Crossplane's own ClusterRole: the template of its chart, whose rules have no actions."""
    text = (chart / "templates/clusterrole.yaml").read_text()
    plain = re.sub(r"^.*\{\{.*$\n?", "", text, flags=re.MULTILINE)
    return [rule for one in yaml.safe_load_all(plain) for rule in one.get("rules", ())]


def manifests(path: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all(path.read_text())


@dataclass(frozen=True, slots=True)
class Unused:
    """Rights that no story uses, and why we grant them."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    reason: str

    def covers(self, right: Right) -> bool:
        return (
            any(fnmatch.fnmatchcase(right.group, one) for one in self.groups)
            and any(fnmatch.fnmatchcase(right.resource, one) for one in self.resources)
            and any(fnmatch.fnmatchcase(right.verb, one) for one in self.verbs)
        )


def explained() -> list[Unused]:
    """The list next to the tests."""
    return [
        Unused(tuple(one["groups"]), tuple(one["resources"]), tuple(one["verbs"]), one["reason"])
        for one in yaml.safe_load(UNUSED.read_text())
    ]


def unexplained(granted: Iterable[Right], used: Iterable[Right], reasons: Iterable[Unused]) -> list[Right]:
    """What is granted, was not used, and has no reason."""
    used, reasons = frozenset(used), list(reasons)
    return sorted(right for right in granted if right not in used and not any(one.covers(right) for one in reasons))
