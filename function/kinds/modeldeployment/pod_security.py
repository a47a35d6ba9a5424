"""Judges the pods of a deployment by the levels of Pod Security, as replicas of its current spec would have them.

The templates are judged, not the composed pods. Both get the same verdict: everything that is added to a template when
its pods are composed satisfies every level (tests/unit/podspec/security/test_composed_pods.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from function.api.modeldeployment import Spec
from function.core import LazyDict
from function.podspec import security
from function.scheduling import PodViolation
from function.vocabulary.pod_security import LEVELS, RESTRICTED, Level

Violations = tuple[PodViolation, ...]


def violations(spec: Spec) -> Mapping[Level, Violations]:
    """Return what each level forbids of the pods of new replicas. A level is judged when it is first asked for.

    New replicas are hardened where a cluster enforces restricted.
    """
    return LazyDict(LEVELS, lambda level: tuple(_violations(spec, level, is_hardened=level == RESTRICTED)))


def without_hardening(spec: Spec) -> Violations:
    """Return what restricted forbids of pods that are not hardened."""
    return tuple(_violations(spec, RESTRICTED, is_hardened=False))


def _violations(spec: Spec, level: Level, *, is_hardened: bool) -> Iterator[PodViolation]:
    for i, engine in enumerate(spec.engines):
        for j, member in enumerate(engine.members):
            template = security.hardened(member.template) if is_hardened else member.template
            for found in security.violations(template, level):
                field = f"spec.engines[{i}].members[{j}].template.{found.field}"
                yield PodViolation(found.container, field, found.what)
