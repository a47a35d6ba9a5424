"""Compares the rights that components used in a run with those that we say they have.

A run (of one release of Crossplane, or of none) fails if something was used that is not granted. Rights that are
granted and that no run uses can only be told once all runs are over, and complete: `python -m tests.e2e` does it.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.e2e import audit, pins, rights
from tests.e2e.audit import Right, Use
from tests.e2e.kube import CROSSPLANE, EDGE, PROVIDER
from tests.e2e.programs import Site
from tests.e2e.rights import Rule

KEY = "modelplane/rights"
"""In pytest's cache: the rights that each component used, by user."""
NAMES = {CROSSPLANE: "Crossplane", PROVIDER: "provider-kubernetes", EDGE: "the kubeconfig of an inference cluster"}
Kept = dict[str, list[list[str]]]


def granted(site: Site) -> dict[str, list[Rule]]:
    """Rules by user. Crossplane's are those without its RBAC manager, which package/rbac.yaml is complete for."""
    chart = site.build(pins.CROSSPLANE_CHART).files("chart")
    return {
        CROSSPLANE: [*rights.EVERYBODY, *rights.of_chart(chart), *rights.ours()],
        EDGE: [*rights.EVERYBODY, *rights.ours("cluster-access")],
        PROVIDER: [*rights.EVERYBODY, *rights.MANAGED, *rights.of_provider("provider-kubernetes")],
    }


def problems(found: Iterable[Use], rules: Mapping[str, list[Rule]]) -> list[str]:
    """A sentence for each right that was used, or asked for in vain, and that is not granted."""
    found = list(found)
    return [
        f"{NAMES[user]} {'was refused' if Use(user, right, refused=True) in found else 'used'} {right}: not granted"
        for user, its in rules.items()
        for right in rights.missing(audit.of(user, found), its)
    ]


def kept(found: Iterable[Use]) -> Kept:
    """Used rights as JSON has them."""
    found = list(found)
    return {user: [[one.group, one.resource, one.verb] for one in sorted(audit.of(user, found))] for user in NAMES}


def used(caches: Iterable[Path]) -> dict[str, frozenset[Right]]:
    """What runs kept, together."""
    files = [path for cache in caches if (path := cache / "v" / KEY).exists()]
    runs: list[Kept] = [json.loads(path.read_text()) for path in files]
    return {user: frozenset(Right(*one) for run in runs for one in run.get(user, ())) for user in NAMES}


def superfluous(found: Mapping[str, frozenset[Right]]) -> list[str]:
    """A sentence for each right of package/rbac.yaml that no run used and that the list of reasons does not have."""
    ours = rights.expanded(rights.ours())
    left = rights.unexplained(ours, found[CROSSPLANE], rights.explained())
    return [
        f"package/rbac.yaml grants what no story used, and {rights.UNUSED.name} has no reason: {one}" for one in left
    ]
