"""What is kept between calls is bounded by bytes, not only by the number of findings."""

from __future__ import annotations

from function.scheduling import Findings, Progress

_MOST = 1_000


def test_a_deployment_that_found_nothing_takes_no_room() -> None:
    """A long selector that no cluster is there for: each edit of it would stay for ever."""
    progress = Progress(_MOST)
    for i in range(2 * _MOST):
        progress.keep(i, Findings(), under_way=False)
    assert len(progress._entries) == 0


def test_long_selectors_take_the_room_of_many_findings() -> None:
    progress = Progress(_MOST)
    for i in range(_MOST):
        progress.keep(i, Findings({(f"{i:010}" * 1_000, "device"): True}), under_way=False)
    kept = sum(len(text) for entry in progress._entries.values() for text, _ in entry.findings.verdicts)
    assert 10_000 <= kept <= _MOST * 100
