"""Taints and tolerations, by Kubernetes' rules (k8s.io/api v0.36, core/v1 Toleration.ToleratesTaint)."""

from __future__ import annotations

from collections.abc import Iterable

from function.scheduling.fleet import Taint
from function.scheduling.job import Toleration


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...], *effects: str) -> Taint | None:
    """Return the first taint, in sorted order, that has one of `effects` and that no toleration covers; else None."""
    return next(
        (t for t in sorted(taints) if t.effect in effects and not any(_tolerates(by, t) for by in tolerations)), None
    )


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value
