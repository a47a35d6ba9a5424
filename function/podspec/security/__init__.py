"""Judges pod templates by Kubernetes' Pod Security Standards.

Terms:

- A *level* is privileged, baseline or restricted. Privileged admits every pod.
- A *check* belongs to the least strict level that has it. A stricter level has the checks of the less strict one as
  well, except those that a check of its own overrides.
- A *violation* is a field that a check finds wrong.

Phases: `pod` reads a template, the modules of the checks find what is wrong, and `checks` says which check belongs to
which level. `hardening` sets the fields that restricted asks for.

Checks, levels and overrides are those of Kubernetes' policy library in its newest version
(k8s.io/pod-security-admission v0.37.2, package policy). tests/conformance compares both on random pods. Earlier
versions of Kubernetes are a little stricter: they know fewer safe sysctls (up to 1.36), and make no exception for pods
with a user namespace of their own (up to 1.34).

Deliberately coarse: a pod template is judged by itself. What the API server refuses for other reasons is not found
here.
"""

from __future__ import annotations

from function.core import Manifest
from function.podspec.security import pod as pods
from function.podspec.security.checks import BY_LEVEL, CHECKS, Check
from function.podspec.security.hardening import hardened
from function.podspec.security.violation import Violation
from function.vocabulary.pod_security import LEVELS, Level

__all__ = ["CHECKS", "Check", "Violation", "hardened", "strictest", "violations"]


def violations(template: Manifest, level: Level) -> tuple[Violation, ...]:
    """Return what keeps a level from admitting a pod template; nothing if the level admits it.

    A template has the fields `metadata` and `spec`. Violations are in the order of Kubernetes' messages.
    """
    pod = pods.read(template)
    return tuple(found for check in BY_LEVEL[level] for found in check.violations(pod))


def strictest(template: Manifest) -> Level:
    """Return the strictest level that admits a pod template."""
    return next(level for level in reversed(LEVELS) if not violations(template, level))
