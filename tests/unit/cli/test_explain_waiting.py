"""Why a replica that is placed does not serve, as `modelplane explain` tells it from what a dump has."""

from __future__ import annotations

from typing import Any

import pytest

from function.cli.explain import waiting

WHY = "engine main: 0 of 1 copies are available: pod a: ImagePullBackOff: not found"


def replica(namespace: str = "chat", deployment: str = "qwen", status: str = "False", **more: Any) -> dict[str, Any]:
    ready = {"type": "ModelReady", "status": status, "reason": "ModelStarting", "message": WHY}
    return {
        "kind": "ModelReplica",
        "metadata": {"name": "qwen-1", "namespace": namespace, "labels": {"modelplane.ai/deployment": deployment}},
        "status": {"conditions": [ready]},
        **more,
    }


def test_a_pods_own_reason_is_told():
    assert list(waiting([replica()], "chat", "qwen")) == [("qwen-1", f"ModelStarting: {WHY}")]


@pytest.mark.parametrize(
    "other",
    [
        replica(namespace="search"),
        replica(deployment="llama"),
        replica(status="True"),
        replica(kind="ModelEndpoint"),
        replica(status=None),
        {"kind": "ModelReplica"},
        {"kind": "ModelReplica", "metadata": {"name": "a", "namespace": "chat"}},
    ],
)
def test_what_serves_and_what_is_of_others_is_not(other):
    assert list(waiting([other], "chat", "qwen")) == []
