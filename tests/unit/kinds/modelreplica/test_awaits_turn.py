"""What another version of the function composed stays, until the deployment gives the replica its turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from function.core import ComposedResource, Manifest, Request, Result, dig, plain, restate
from function.kinds.modelreplica import earlier, readiness
from function.vocabulary import labels, versions
from tests.support import arrivals, replicas

HUB = replicas.secret("hub", token="YQ==")
TOKEN = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
ALONE = replicas.replica(
    replicas.engine("qwen", replicas.member("m", "--max-model-len=1", env=[TOKEN, {"name": "LEVEL", "value": "info"}]))
)
GANG = replicas.replica(replicas.gang(copies=2, nodes=3))
SPLIT = replicas.replica(**replicas.split())
_ENGINE = replicas.member("m", name="server")
_ENGINE["template"]["spec"]["containers"].append({"name": "metrics", "image": "exporter:v1"})
_ENGINE["template"]["spec"]["initContainers"] = [{"name": "warm", "image": "busybox:1.36", "command": ["true"]}]
BESIDE = replicas.replica(replicas.engine("qwen", _ENGINE))
"""An engine that is renamed, beside another container."""
FORMS = {"alone": ALONE, "gang": GANG, "split": SPLIT, "beside": BESIDE}
OTHERS = (None, "1", str(versions.RENDERING + 1), "x", "")
"""Notes of other versions: none, an earlier one, a later one, and what nobody wrote."""


def noted(xr: Manifest, rendering: str | None) -> dict[str, Any]:
    annotations = {} if rendering is None else {labels.RENDERING: rendering}
    return {**xr, "metadata": {**xr["metadata"], "annotations": annotations}}


def composed_by_another(xr: Manifest, status: arrivals.Status = arrivals.running, *objects: Any) -> Request:
    """A replica of another version: other pods, other claims, and a Service with another port."""
    result = replicas.compose(xr, HUB, *objects)
    other = replace(result, resources={_other_key(k): _other(r) for k, r in result.resources.items()})
    return arrivals.again(Request(xr=noted(xr, None)), other, status)


def _other_key(key: str) -> str:
    return f"{key[:-8]}0therkey" if key.startswith("claims-") else key


def _other(resource: ComposedResource) -> ComposedResource:
    manifest = plain(resource.manifest)
    carried = manifest["spec"]["forProvider"]["manifest"]
    spec = carried.get("spec") or {}
    group = spec.get("leaderWorkerTemplate") or {}
    for template in filter(None, (spec.get("template"), group.get("leaderTemplate"), group.get("workerTemplate"))):
        pod = template["spec"]
        pod["terminationGracePeriodSeconds"] = 7
        pod["containers"][0].setdefault("args", []).append("--of-another-version")
        pod["containers"][0]["env"] = [{"name": "OTHER", "value": "1"}, *pod["containers"][0].get("env", [])]
    carried["metadata"].get("annotations", {}).pop(labels.MANIFEST_HASH, None)
    manifest["spec"]["forProvider"]["manifest"] = readiness.stamped(carried)
    return replace(resource, manifest=manifest)


def edited(request: Request, edit: Callable[[dict[str, Any]], None]) -> Request:
    xr = plain(request.xr)
    edit(xr["spec"])
    return replace(request, xr=xr)


def is_held(request: Request, result: Result) -> bool:
    return {k: plain(r.manifest) for k, r in result.resources.items()} == {
        k: restate(m) for k, m in request.observed.items()
    }


def reason(result: Result) -> str:
    return replicas.said(result, "ModelAccepted").partition(":")[0]


@pytest.mark.parametrize("rendering", OTHERS)
@pytest.mark.parametrize("form", FORMS)
def test_it_repeats_what_is_observed_and_says_that_it_waits(form: str, rendering: str | None) -> None:
    request = composed_by_another(FORMS[form])
    request = replace(request, xr={**noted(request.xr, rendering), "status": request.xr["status"]})
    result = replicas.compose(request, HUB)
    assert is_held(request, result)
    assert (reason(result), result.ready) == ("True AwaitingTurn", True)
    assert replicas.said(result, "ModelReady") == "True Serving: Every engine serves"
    assert (result.status["serving"], result.status["served"]) == (True, True)
    assert all(w["ready"] for w in result.status["workloads"])


@pytest.mark.parametrize("form", FORMS)
def test_with_its_turn_it_is_composed_anew(form: str) -> None:
    request = composed_by_another(FORMS[form])
    turn = replace(request, xr={**request.xr, "metadata": FORMS[form]["metadata"]})
    result = replicas.compose(turn, HUB)
    assert not is_held(turn, result)
    fresh = replicas.compose(FORMS[form], HUB)
    assert {k: plain(result.resources[k].manifest) for k in fresh.resources} == {
        k: plain(r.manifest) for k, r in fresh.resources.items()
    }
    assert (reason(result), result.ready) == ("False Deploying", False)


def test_one_that_lost_a_copy_waits_as_well() -> None:
    request = composed_by_another(GANG, arrivals.one_lost)
    result = replicas.compose(request, HUB)
    assert (is_held(request, result), reason(result), result.ready) == (True, "True AwaitingTurn", False)
    assert result.status["serving"]


def test_what_has_not_arrived_is_told_while_it_waits() -> None:
    request = composed_by_another(ALONE)
    gone = {
        k: {f: v for f, v in m.items() if f != "status"} if k == "route" else m for k, m in request.observed.items()
    }
    gone["route"]["status"] = {"conditions": [{"type": "Synced", "status": "False", "message": "no such cluster"}]}
    said = replicas.said(replicas.compose(replace(request, observed=gone), HUB), "ModelAccepted")
    assert said.startswith("False AwaitingTurn: Waiting for 6 objects to arrive on cluster east; HTTPRoute ")
    assert "no such cluster" in said


def test_a_new_replica_is_composed_whatever_it_notes() -> None:
    result = replicas.compose(noted(ALONE, None), HUB)
    assert result.resources.keys() == replicas.compose(ALONE, HUB).resources.keys()
    assert reason(result) == "False Deploying"


def test_an_input_that_is_missing_is_told_as_ever() -> None:
    request = composed_by_another(ALONE)
    result = replicas.compose(request)
    assert (is_held(request, result), reason(result)) == (True, "False Deploying")


def test_a_spec_that_this_version_refuses_is_refused_and_held() -> None:
    request = edited(composed_by_another(ALONE), lambda spec: spec.update(engines=7))
    result = replicas.compose(request, HUB)
    assert (is_held(request, result), reason(result)) == (True, "False InvalidSpec")


# What is not whole, or not of the spec, is composed by this version


@pytest.mark.parametrize("form", FORMS)
def test_one_of_which_an_object_is_missing_is_composed(form: str) -> None:
    request = composed_by_another(FORMS[form])
    for key in request.observed:
        left = {k: m for k, m in request.observed.items() if k != key}
        result = replicas.compose(replace(request, observed=left), HUB)
        is_waiting = reason(result) == "True AwaitingTurn"
        assert is_waiting == key.startswith("claims-"), key


def test_a_rotated_secret_restarts_the_pods_in_any_case() -> None:
    request = composed_by_another(ALONE)
    result = replicas.compose(request, replicas.secret("hub", token="Yg=="))
    assert not is_held(request, result)
    assert reason(result) == "False Deploying"


def test_weights_that_were_staged_anew_restart_the_pods_in_any_case() -> None:
    xr = replicas.replica(replicas.engine(), modelCacheRef={"name": "weights"})
    request = composed_by_another(xr, arrivals.running, replicas.cache(staged="main-1"))
    assert is_held(request, replicas.compose(request, replicas.cache(staged="main-1")))
    assert not is_held(request, replicas.compose(request, replicas.cache(staged="main-2")))


def _container(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    return found


EDITS: dict[str, Callable[[dict[str, Any]], None]] = {
    "image": lambda spec: _container(spec).update(image="vllm/vllm-openai:v9"),
    "command": lambda spec: _container(spec).update(command=["vllm"]),
    "an argument": lambda spec: _container(spec).update(args=["m", "--max-model-len=2"]),
    "an argument more": lambda spec: _container(spec).update(args=["m", "--max-model-len=1", "--more"]),
    "arguments in another order": lambda spec: _container(spec).update(args=["--max-model-len=1", "m"]),
    "a variable": lambda spec: _container(spec).update(env=[TOKEN, {"name": "LEVEL", "value": "debug"}]),
    "copies": lambda spec: spec["engines"][0].update(copies=2),
    "another engine": lambda spec: spec["engines"].append(replicas.engine("more")),
    "an engine of another name": lambda spec: spec["engines"][0].update(name="other"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_that_came_just_before_the_upgrade_is_composed(edit: str) -> None:
    request = edited(composed_by_another(ALONE), EDITS[edit])
    assert not is_held(request, replicas.compose(request, HUB))


def test_an_init_container_that_was_edited_just_before_the_upgrade_is_composed() -> None:
    def edit(spec: dict[str, Any]) -> None:
        spec["engines"][0]["members"][0]["template"]["spec"]["initContainers"][0]["image"] = "busybox:1.37"

    request = edited(composed_by_another(BESIDE), edit)
    assert not is_held(request, replicas.compose(request, HUB))


def test_pods_that_ask_for_admission_go_and_all_else_stays() -> None:
    """Nothing is asked before the turn."""
    asked = arrivals.again(Request(xr=GANG), replicas.compose(GANG), lambda _: {})
    request = arrivals.again(asked, replicas.compose(asked), lambda _: {})
    asking = {key for key in request.observed if key.startswith("admission-")}
    result = replicas.compose(replace(request, xr=noted(request.xr, "1")))
    assert asking
    assert reason(result) == "True AwaitingTurn"
    assert result.resources.keys() == request.observed.keys() - asking


def test_a_doubt_of_an_earlier_pass_is_forgotten() -> None:
    """Otherwise a look-up that finds nothing much later would be believed at once."""
    request = composed_by_another(ALONE)
    observed = {key: plain(manifest) for key, manifest in request.observed.items()}
    observed["deployment-qwen"]["metadata"]["annotations"][labels.FOUND_NOTHING] = "replicas"
    result = replicas.compose(replace(request, observed=observed), HUB)
    assert reason(result) == "True AwaitingTurn"
    notes = dig(result.resources["deployment-qwen"].manifest, "metadata", "annotations") or {}
    assert labels.FOUND_NOTHING not in notes


def test_a_gang_that_was_resized_just_before_the_upgrade_is_composed() -> None:
    request = edited(
        composed_by_another(GANG), lambda spec: spec["engines"][0]["members"][1].update(worker={"nodes": 2})
    )
    assert not is_held(request, replicas.compose(request, HUB))


def test_an_engine_that_was_taken_out_just_before_the_upgrade_goes() -> None:
    two = replicas.replica(replicas.engine("qwen"), replicas.engine("more"))
    request = edited(composed_by_another(two), lambda spec: spec["engines"].pop())
    assert not is_held(request, replicas.compose(request, HUB))


def test_one_that_was_composed_anew_waits_from_then_on() -> None:
    """It notes another version still, so its deployment gives it a turn, which changes nothing any more."""
    request = edited(composed_by_another(ALONE), EDITS["image"])
    composed = arrivals.again(request, replicas.compose(request, HUB), arrivals.running)
    waiting = replicas.compose(composed, HUB)
    assert (is_held(composed, waiting), reason(waiting)) == (True, "True AwaitingTurn")


def test_no_argument_that_another_version_adds_is_a_difference() -> None:
    """A spec's own arguments are found among more of them, and nothing else of the pods is compared."""
    request = composed_by_another(ALONE)
    args = dig(request.observed["deployment-qwen"], "spec", "forProvider", "manifest", "spec", "template", "spec")
    assert "--of-another-version" in args["containers"][0]["args"]
    keys = replicas.compose(ALONE, HUB).resources
    assert earlier.is_composed(request, keys, None)
