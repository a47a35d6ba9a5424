"""Documents of the data of commands: what is beside the picture, and what is said of clusters."""

from __future__ import annotations

from typing import Any

import pytest

from function import picture
from tests.support import pictures


def what_if(*replicas: dict[str, Any], **more: Any) -> dict[str, Any]:
    fleet = {"before": {"clusters": []}, "after": {"clusters": []}}
    own = {"summary": "drain east.", "exitCode": 2, "holds": False, "short": [], "services": [], "staging": []}
    return own | {"replicas": list(replicas), "fleet": fleet} | more


def moved(change: str, target: str | None) -> dict[str, Any]:
    return {
        "change": change, "namespace": "ml", "deployment": "chat", "name": "chat-2", "replaces": None,
        "from": "east", "to": target, "why": "Full",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "target", "title", "told"),
    [
        ("stays", "east", "Lost or stuck", "chat-2 cannot leave east. Full"),
        ("lost", None, "Lost", "chat-2 is lost with east. Full"),
        ("stops", "east", "Lost", "chat-2 stops on east. Full"),
    ],
)
def test_a_what_if_names_what_is_lost(change: str, target: str | None, title: str, told: str) -> None:
    [section] = picture.of_what_if(what_if(moved(change, target))).sections

    assert (section.title, section.tone, section.entries[0].text) == (title, "lost", told)


@pytest.mark.parametrize(
    ("code", "more", "want"),
    [
        (0, {}, ("Nothing changes", "good")),
        (3, {}, ("Something changes", "near")),
        (2, {}, ("--fail-on names what happens", "bad")),
        (2, {"silenced": ["ml/chat"]}, ("Something that serves would be lost", "bad")),
        (1, {"errors": [{"object": "ModelDeployment ml/chat", "message": "no"}]}, ("Refused", "bad")),
    ],
)
def test_the_exit_code_is_told_in_words(code: int, more: dict[str, Any], want: tuple[str, str]) -> None:
    got = picture.of_plan(pictures.plan([], [], exitCode=code, **more))

    assert (got.outcome, got.tone) == want


def test_clusters_that_reject_for_the_same_reason_are_told_together() -> None:
    rejections = tuple({"cluster": name, "reason": "Full", "message": "no node"} for name in ("a", "b"))
    data = pictures.plan([], [], deployments=[pictures.deployment("ml/chat", why="waits", rejections=rejections)])
    [section] = picture.of_plan(data).sections

    [reason] = section.entries[0].reasons
    assert (section.title, reason.label, reason.clusters) == ("Waits", "Full", ("a", "b"))


def test_a_section_is_cut_and_counts_the_rest() -> None:
    data = pictures.plan([], [], silenced=[f"ml/service-{n}" for n in range(100)])
    [section] = picture.of_plan(data).sections

    assert (len(section.entries), section.entries[-1].name) == (61, "40 more")


def test_an_explanation_has_the_nearest_misses_before_other_rejections() -> None:
    def cluster(name: str, group: int, *, helps: bool) -> dict[str, Any]:
        remedy = {"changes": ["add 1 node"], "tried": True, "helps": helps, "why": ""}
        return {
            "name": name, "reason": "Full", "message": "no node", "pools": [], "conditions": [],
            "remedies": [remedy], "group": group,
        }  # fmt: skip

    data = {
        "placed": 0, "cause": [], "conditions": [], "fleet": {"after": {"clusters": []}},
        "clusters": [cluster("far", 0, helps=False), cluster("near", 1, helps=True)],
    }  # fmt: skip
    got = picture.of_explanation(data, ["chat: 0 of 1 replicas are placed."], is_complete=False)

    assert [(s.title, s.entries[0].name) for s in got.sections] == [("Nearest misses", "near"), ("Rejected", "far")]
    assert {name: (v.tone, v.text) for name, v in got.verdicts.items()} == {
        "far": ("bad", "no node"),
        "near": ("near", "would help: add 1 node"),
    }
