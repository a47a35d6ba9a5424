"""Taints repel and evict by Kubernetes' rules."""

from __future__ import annotations

import pytest

from function.scheduling import Taint, Toleration
from function.scheduling.taints import untolerated

BUSY = Taint("busy", "yes", "NoSchedule")
DRAIN = Taint("drain", "", "NoExecute")


@pytest.mark.parametrize(
    ("why", "tolerations", "want"),
    [
        ("nothing tolerates", (), BUSY),
        ("key, value and effect", (Toleration("busy", "Equal", "yes", "NoSchedule"),), None),
        ("an empty effect is every effect", (Toleration("busy", "Equal", "yes"),), None),
        ("another value", (Toleration("busy", "Equal", "no"),), BUSY),
        ("Exists takes any value", (Toleration("busy", "Exists"),), None),
        ("a NoExecute toleration does not cover NoSchedule", (Toleration("busy", "Exists", "", "NoExecute"),), BUSY),
        ("an empty key with Exists is every taint", (Toleration("", "Exists"),), None),
        ("an empty key with Equal is none", (Toleration("", "Equal"),), BUSY),
        ("one of several is enough", (Toleration("drain", "Exists"), Toleration("busy", "Exists")), None),
    ],
)
def test_tolerations(why: str, tolerations: tuple[Toleration, ...], want: Taint | None) -> None:
    assert untolerated([BUSY], tolerations, "NoSchedule", "NoExecute") == want, why


def test_a_second_taint_still_repels() -> None:
    assert untolerated([BUSY, DRAIN], (Toleration("busy", "Exists"),), "NoSchedule", "NoExecute") == DRAIN


def test_only_the_effects_that_are_asked_about_count() -> None:
    assert untolerated([BUSY], (), "NoExecute") is None


def test_a_noschedule_toleration_does_not_cover_noexecute() -> None:
    assert untolerated([DRAIN], (Toleration("drain", "Exists", "", "NoSchedule"),), "NoExecute") == DRAIN
