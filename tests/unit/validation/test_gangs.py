"""What `modelplane validate` says of gangs whose pods get no requests, never start, or are set in the wrong place."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation.validate import validate
from tests.support.samples import DEPLOYMENT, edited

GANG = "spec.engines.1"
WORKER = f"{GANG}.members.1"
CONTAINER = f"{WORKER}.template.spec.containers.0"
AT_WORKER = "spec.engines[1].members[1]"


def said(xr: dict[str, Any], *codes: str) -> list[tuple[str, str]]:
    return [(found.field, found.message) for found in validate([xr]) if found.code in codes]


def worker(*args: str, serves: bool | None = None) -> dict[str, Any]:
    xr = edited(DEPLOYMENT, f"{CONTAINER}.args", ["--port=8000", *args])
    return xr if serves is None else edited(xr, f"{WORKER}.worker.serves", serves)


SILENT = [
    (worker("--data-parallel-hybrid-lb"), "--data-parallel-hybrid-lb"),
    (worker("--data_parallel_hybrid_lb"), "--data-parallel-hybrid-lb"),
    (worker("--data-parallel-external-lb"), "--data-parallel-external-lb"),
    (worker("--data-parallel-rank=1"), "--data-parallel-rank"),
    (worker("--data-parallel-hybrid-lb", serves=False), "--data-parallel-hybrid-lb"),
]


@pytest.mark.parametrize(("xr", "flag"), SILENT)
def test_workers_that_take_requests_and_get_none_are_named(xr: dict[str, Any], flag: str) -> None:
    want = f"is not set, but with {flag} every pod takes requests, and those of the workers get none; set it to true"
    assert said(xr, "silent-workers") == [(f"{AT_WORKER}.worker.serves", want)]


@pytest.mark.parametrize(
    "xr",
    [
        worker(),
        worker("--data-parallel-size=4", "--headless"),
        worker("--data-parallel-hybrid-lb", "--headless"),
        worker("--data-parallel-hybrid-lb", serves=True),
        edited(DEPLOYMENT, f"{GANG}.members.0.template.spec.containers.0.args", ["--data-parallel-hybrid-lb"]),
    ],
)
def test_other_workers_are_not(xr: dict[str, Any]) -> None:
    assert said(xr, "silent-workers") == []


def test_a_worker_that_serves_and_listens_nowhere_is_named() -> None:
    [(field, message)] = said(worker("--headless", serves=True), "unreachable")
    assert field == f"{AT_WORKER}.template.spec.containers[0]"
    assert message == "is not reached on port 8000 as it is: vLLM listens on no port with --headless"
    assert said(worker("--headless"), "unreachable") == []


def test_a_leader_that_workers_wait_for_is_named() -> None:
    for policy, fields in (
        ("LeaderReady", ["spec.engines[1].leaderWorkerSet.startupPolicy"]),
        ("LeaderCreated", []),
    ):
        xr = edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", {"startupPolicy": policy})
        assert [field for field, _ in said(xr, "dead-lock")] == fields


KEYS = [
    ("labels", "kueue.x-k8s.io/queue-name"),
    ("annotations", "leaderworkerset.sigs.k8s.io/exclusive-topology"),
    ("annotations", "scheduling.volcano.sh/queue-name"),
]


@pytest.mark.parametrize(("field", "key"), KEYS)
def test_settings_of_a_workload_on_the_deployment_are_named(field: str, key: str) -> None:
    xr = {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], field: {key: "x", "team": "a"}}}
    want = f"is not passed on to the pods' controller; it belongs in spec.engines[].leaderWorkerSet.{field}"
    assert said(xr, "ignored") == [(f'metadata.{field}["{key}"]', want)]


def test_without_a_gang_they_belong_on_the_pods() -> None:
    alone = edited(DEPLOYMENT, "spec.engines", DEPLOYMENT["spec"]["engines"][:1])
    xr = {**alone, "metadata": {**alone["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "x"}}}
    [(_, message)] = said(xr, "ignored")
    assert message.endswith("it belongs in spec.engines[].members[].template.metadata.labels")


@pytest.mark.slow
def test_at_their_place_nothing_is_said_of_them() -> None:
    settings = {
        "labels": {"kueue.x-k8s.io/queue-name": "serving"},
        "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "topology.example.com/rack"},
        "restartPolicy": "RecreateGroupAfterStart",
    }
    assert validate([edited(DEPLOYMENT, f"{GANG}.leaderWorkerSet", settings)]) == []
