"""A gang that does not start is asked about, once for its templates; no pod that asks gets traffic or is Ready."""

from __future__ import annotations

from typing import Any

from function.core import Request, Result
from tests.support import arrivals, replicas
from tests.support.replicas import manifests, said

REFUSED = 'pods "x" is forbidden: exceeded quota: team'


def nothing_runs(_: dict[str, Any]) -> dict[str, Any]:
    return {}


def first() -> tuple[Request, Result]:
    request = Request(xr=replicas.replica(replicas.gang()))
    return request, replicas.compose(request)


def asks(result: Result) -> list[str]:
    return sorted(key for key in result.resources if key.startswith("admission-"))


def on(request: Request, result: Result, status: Any = nothing_runs) -> tuple[Request, Result]:
    following = arrivals.again(request, result, status)
    return following, replicas.compose(following)


def test_a_gang_on_the_cluster_without_a_group_is_asked_about() -> None:
    members = replicas.member(role="Leader"), replicas.member(role="Worker", nodes=1)
    for one in members:
        one["template"]["metadata"] = {"labels": {"team": "ml"}}
    request = Request(xr=replicas.replica(replicas.engine("qwen", *members)))
    result = replicas.compose(request)
    assert asks(result) == []

    _, result = on(request, result)
    assert [key[:-9] for key in asks(result)] == [
        "admission-leaderworkerset-qwen-leader",
        "admission-leaderworkerset-qwen-worker",
    ]
    for key in asks(result):
        pod = manifests(result)[key]
        assert pod["kind"] == "Pod"
        assert pod["spec"]["schedulingGates"] == [{"name": "modelplane.ai/admission"}]
        assert "resourceClaims" not in pod["spec"]
        assert "claims" not in pod["spec"]["containers"][0].get("resources", {})
        assert pod["metadata"]["labels"] == {"team": "ml"}, "the user's labels, and none by which pods are found"
        assert not result.resources[key].ready


def test_a_gang_that_serves_is_not_asked_about() -> None:
    request, result = first()
    _, result = on(request, result, arrivals.running)
    assert asks(result) == []
    assert result.ready


def test_admitted_pods_go_and_are_not_asked_about_again() -> None:
    request, result = on(*first())
    request, result = on(request, result)
    assert asks(result) == []

    request, result = on(request, result)
    assert asks(result) == []


def test_other_templates_are_asked_about_again() -> None:
    request, result = on(*on(*first()))
    changed = replicas.replica(
        replicas.engine("qwen", replicas.member("--x", role="Leader"), replicas.member(role="Worker", nodes=1))
    )
    request = arrivals.edited(request, changed)
    request, result = on(request, replicas.compose(request))
    assert len(asks(result)) == 2


def test_pods_of_other_templates_have_other_keys() -> None:
    """Crossplane keeps the name that a key has, and a pod cannot change."""
    request, before = on(*first())
    changed = replicas.replica(
        replicas.engine("qwen", replicas.member("--x", role="Leader"), replicas.member(role="Worker", nodes=1))
    )
    request = arrivals.edited(request, changed)
    _, after = on(request, replicas.compose(request))
    assert len(asks(before)) == len(asks(after)) == 2
    assert set(asks(before)).isdisjoint(asks(after))


def test_a_refusal_of_earlier_templates_is_not_quoted() -> None:
    request, result = on(*first())
    request = arrivals.again(request, result, nothing_runs)
    synced = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": REFUSED}
    request.observed[asks(result)[0]]["status"] = {"conditions": [synced]}  # type: ignore[index]
    changed = replicas.replica(
        replicas.engine("qwen", replicas.member("--x", role="Leader"), replicas.member("--x", role="Worker", nodes=1))
    )
    assert REFUSED in said(replicas.compose(request), "ModelReady")
    assert REFUSED not in said(replicas.compose(arrivals.edited(request, changed)), "ModelReady")


def test_pods_that_ask_make_no_volumes() -> None:
    """The claim of an ephemeral volume is made as soon as its pod exists, even if the pod is never scheduled."""
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}}
    volumes = [
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": size}}},
        {"name": "tmp", "emptyDir": {}},
    ]
    leader, worker = replicas.member(role="Leader"), replicas.member(role="Worker", nodes=1)
    leader["template"]["spec"]["volumes"] = volumes
    request = Request(xr=replicas.replica(replicas.engine("qwen", leader, worker)))
    _, result = on(request, replicas.compose(request))
    got = manifests(result)[asks(result)[0]]["spec"]["volumes"]
    assert [next(iter(set(volume) - {"name"})) for volume in got[-2:]] == ["persistentVolumeClaim", "emptyDir"]


def test_a_refusal_is_quoted_and_the_pods_stay() -> None:
    request, result = on(*first())
    request = arrivals.again(request, result, nothing_runs)
    key = asks(result)[1]
    synced = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": REFUSED}
    request.observed[key]["status"] = {"conditions": [synced]}  # type: ignore[index]
    result = replicas.compose(request)

    assert f"the cluster refuses its worker pod: {REFUSED}" in said(result, "ModelReady")
    assert key in asks(result)


def test_a_gang_that_started_meanwhile_needs_no_answer() -> None:
    request, result = on(*first())
    _, result = on(request, result, arrivals.running)
    assert asks(result) == []
    assert result.ready
