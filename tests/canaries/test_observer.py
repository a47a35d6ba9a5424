"""What the observer writes and logs of a cluster has no canary, and neither has what is composed of such texts.

Canaries are in everything that the observer reads and does not tell: labels, annotations, managed fields, variables,
arguments and paths of pods, and messages of the kubelet, of controllers and of the API server.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from function import probes, registry
from function.apiserver import client as api
from function.core import dig, plain
from function.main import main
from function.observe import stored, texts, watching
from function.observe.health import Health
from function.observe.kinds import NODES
from function.observe.view import View
from function.probes import READY
from function.sandbox.settle import settle
from function.vocabulary import labels, names
from function.vocabulary.observation import DECLARED_KEY, OBSERVED_KEY, REASONS_KEY
from tests.support import cases
from tests.support.api_server_standin import CORE, DRA, ApiServer, serving
from tests.support.canaries import Canary, search
from tests.support.canary_allowed import forbidden, leaks
from tests.support.canary_places import paths
from tests.support.observed import Object, claim, declared, event, gpus, node, pod, resource_slice, snapshot

SYSTEM = names.SYSTEM_NAMESPACE
PATHS = {"nodes": f"{CORE}/nodes", "slices": f"{DRA}/resourceslices", "claims": f"{DRA}/resourceclaims"}
PATHS |= {"pods": f"{CORE}/pods", "events": f"{CORE}/events", "owners": "/apis/apps/v1/replicasets"}


def told(canary: Canary) -> str:
    """A message with a credential in all forms."""
    one = canary.token
    return (
        f"open /run/hf_{one}/7{one}: cannot GET https://u:{one}@example.org/x?sig={one}: Bearer {one}, token={one}, "
        f'"password": "{one}", \x1b[31mBearer\x1b[0m {one}, --api-key={one}, Invalid value: "{one}"'
    )


def planted() -> tuple[dict[str, list[Object]], list[Canary]]:
    """Objects of a cluster, by the fields of a snapshot, and the canaries in them."""
    canaries: list[Canary] = []

    def one(place: str) -> Canary:
        canaries.append(Canary(place))
        return canaries[-1]

    objects = {
        "nodes": [node("a"), node("b", cordoned=True), node("c", ready=False)],
        "slices": [resource_slice("a", gpus(8)), resource_slice("b", gpus(7, memory="40Gi"))],
        "claims": [claim("c", "a", ["gpu-0"], "llama-0")],
        "pods": [*_pods(one), pod("other", "a")],
        "owners": [_owner(one)],
        "events": [
            event(reason, told(one(f"event {reason}")), "creating", reportingInstance=told(one("source")))
            for reason in ("FailedMount", "Unhealthy", "FailedScaleUp", "FailedCreatePodSandBox")
        ],
    }
    for kind, found in objects.items():
        for each in found:
            _metadata(each, f"{kind} {each['metadata']['name']}", one)
    return objects, canaries


def _pods(one: Callable[[str], Canary]) -> Iterator[Object]:
    """Engine pods, each of which fails in another way, and of its own workload: of one, a few are told."""
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    states: dict[str, Object] = {
        "unschedulable": {"conditions": [{**unscheduled, "message": told(one("the scheduler"))}]},
        "evicted": {"phase": "Failed", "reason": "Evicted", "message": told(one("the eviction"))},
        "creating": {"phase": "Pending"},
        "odd": {"containerStatuses": [{"name": "engine", "state": {"waiting": {"reason": told(one("a reason"))}}}]},
        **{
            reason.lower(): {"containerStatuses": [{"name": "engine", "state": {"waiting": waiting}}]}
            for reason in ("ImagePullBackOff", "CreateContainerConfigError", "PostStartHookError", "InvalidImageName")
            if (waiting := {"reason": reason, "message": told(one(reason))})
        },
        **{
            reason.lower(): {
                "containerStatuses": [{"name": "engine", "restartCount": 3, "state": {"terminated": ended}}]
            }
            for reason in ("StartError", "Error")
            if (ended := {"reason": reason, "exitCode": 1, "message": told(one(reason))})
        },
    }
    for name, status in states.items():
        workload = "creating" if name == "evicted" else name  # a pod that is over is told if another one waits
        made = pod(name, "" if name == "unschedulable" else "a", workload, status=status)
        token = one(f"the template of {name}").token
        (container,) = made["spec"]["containers"]
        container |= {"env": [{"name": "TOKEN", "value": token}], "args": [f"--key={token}"], "command": [token]}
        container |= {"image": f"r/{token}", "volumeMounts": [{"name": "x", "mountPath": f"/{token}"}]}
        made["spec"]["volumes"] = [{"name": "x", "hostPath": {"path": f"/{token}"}}]
        yield made


def _owner(one: Callable[[str], Canary]) -> Object:
    failure = {"type": "ReplicaFailure", "status": "True", "message": told(one("a webhook"))}
    template = {"metadata": {"labels": {labels.WORKLOAD: "llama"}}}
    metadata = {"name": "llama", "namespace": "ml-team"}
    return {
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {"template": template},
        "status": {"conditions": [failure]},
    }


def _metadata(given: Object, name: str, one: Callable[[str], Canary]) -> None:
    """Plant what the observer passes over: labels and annotations of others, and who wrote which field."""
    metadata = given["metadata"]
    label, annotation, manager = (one(f"{what} of {name}").token for what in ("label", "annotation", "manager"))
    metadata["labels"] = {**metadata.get("labels", {}), "example.org/owner": label, label: "x"}
    metadata["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": annotation, annotation: "x"}
    metadata["managedFields"] = [{"manager": manager, "fieldsV1": {f"f:{manager}": {}}}]


def declaration(*, quotes: bool) -> Object:
    return {
        "metadata": {
            "name": names.declared("east"),
            "namespace": SYSTEM,
            "uid": "1",
            "labels": {labels.OBSERVATION: labels.DECLARATION},
        },
        "data": {DECLARED_KEY: json.dumps({**declared(), "terminationMessages": quotes})},
    }


@pytest.mark.parametrize("quotes", [False, True], ids=["no text of engines", "texts of engines"])
def test_config_maps_have_no_canary(quotes: bool) -> None:
    objects, canaries = planted()
    own = stored.read(declaration(quotes=quotes))
    assert own is not None

    got = texts.wanted(snapshot(**objects), [own], [], SYSTEM)

    assert {key for one in got for key in one["data"]} == {OBSERVED_KEY, REASONS_KEY}
    engines = [one["metadata"]["name"] for one in objects["pods"] if labels.WORKLOAD in one["metadata"]["labels"]]
    assert [name for name in engines if name not in json.dumps(got)] == []
    assert search(canaries, {one["metadata"]["name"]: json.dumps(one, ensure_ascii=False) for one in got}) == []


@pytest.mark.parametrize("form", ["text", "json", "yaml"])
def test_an_observation_for_people_has_no_canary(form: str, tmp_path: Path) -> None:
    objects, canaries = planted()
    with serving(ApiServer()) as api:
        for kind, path in PATHS.items():
            api.serve(path, *objects[kind])
        config = api.kubeconfig(tmp_path / "kubeconfig")
        got = CliRunner().invoke(main, ["observe", "--kubeconfig", str(config), "-o", form])

    assert (got.exit_code, search(canaries, {"stdout": got.stdout, "stderr": got.stderr})) == (0, [])


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 410, 422, 429, 500, 503])
@pytest.mark.parametrize("lead", [0, 180, 200, 220, 240, 250])
def test_neither_the_log_nor_a_probe_repeats_an_answer(code: int, lead: int) -> None:
    """A refusal is also in `missing` of each observation. The answer is cut at any place."""
    canary = Canary("answer")
    body = {"kind": "Status", "code": code, "message": f"{'.' * lead} {told(canary)}"}
    said: list[str] = []
    view = View(NODES, lambda: None, lambda: 0.0)

    async def answers(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(code, json=body)

    async def story() -> None:
        client = httpx2.AsyncClient(base_url="http://x", transport=httpx2.MockTransport(answers))
        following = asyncio.create_task(watching.follow(client, view, said.append, watching.Pace(first=0, again=60)))
        while not (said or view.refusal or code == 410):  # noqa: ASYNC110  (410 is told nowhere)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        following.cancel()

    asyncio.run(story())

    health = Health(lambda: 0.0, [view], vital=view, silence=-1.0)
    health.wrote({"east": asyncio.run(_refusal(answers))})
    told_by_probe = probes.page(READY, health.ready)(probes.Question({}, "")).body.decode()

    assert "cannot write east" in told_by_probe
    assert search([canary], {"log": "\n".join(said), "refusal": view.refusal, "probe": told_by_probe}) == []
    assert all("\x1b" not in line and "\n" not in line for line in said)


async def _refusal(answers: Callable[[httpx2.Request], Awaitable[httpx2.Response]]) -> str:
    """Return why a ConfigMap cannot be written."""
    client = httpx2.AsyncClient(base_url="http://x", transport=httpx2.MockTransport(answers))
    faults = (api.KindRefused, api.NoAnswer, api.VersionGone)
    with pytest.raises(faults) as refused:
        await api.write(client, NODES, {"metadata": {"name": "east"}}, is_new=True)
    return str(refused.value)


# What is composed of the texts


WITH_TEXTS = [
    case
    for case in cases.CASES
    if any(
        key in (case / name).read_text()
        for key in (OBSERVED_KEY, REASONS_KEY)
        for name in ("observed.yaml", "required.yaml")
        if (case / name).exists()
    )
]
_TIMES = 2
"""How often a field of a text is spoiled, in other cases each time."""


def spoiled() -> Iterator[tuple[str, Path, str, tuple[str | int, ...]]]:
    """Each field of the texts in golden cases: a name for it, the case, the key of the text, and the field's path."""
    seen: Counter[str] = Counter()
    for case in WITH_TEXTS:
        for key, text in _texts(case):
            for path in paths(text):
                name = f"{case.parent.name} {key} {'.'.join('*' if isinstance(step, int) else step for step in path)}"
                if seen[name] < _TIMES:
                    seen[name] += 1
                    yield name, case, key, path


def _texts(case: Path) -> Iterator[tuple[str, Any]]:
    given, objects = cases.load(case)
    for manifest in (*given.observed.values(), *objects):
        for key, text in _data(manifest).items():
            try:
                yield key, json.loads(text)
            except (ValueError, TypeError):
                continue


def _data(manifest: Any) -> dict[str, Any]:
    data = dig(manifest, "status", "atProvider", "manifest", "data")
    return {key: data[key] for key in (OBSERVED_KEY, REASONS_KEY) if key in data} if isinstance(data, dict) else {}


SPOILT: dict[str, Callable[[str, Any], Any]] = {
    "a text": lambda said, _: said,
    "a key": lambda said, was: {said: was},
    "a list": lambda said, _: [said],
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SPOILT)
def test_a_text_of_an_observer_is_not_trusted(shape: str) -> None:
    canary, leaked = Canary("text of an observer"), {}

    for name, case, key, path in spoiled():
        given, objects = cases.load(case)
        observed, there = plain(given.observed), plain(objects)
        for manifest in (*observed.values(), *there):
            _spoil(manifest, key, path, lambda was: SPOILT[shape](told(canary), was))
        got = settle(registry.compose, type(given)(xr=given.xr, observed=observed), there)
        if found := forbidden(leaks(got, [canary])):
            leaked[name] = found

    assert leaked == {}


def _spoil(manifest: Any, key: str, path: tuple[str | int, ...], change: Callable[[Any], Any]) -> None:
    try:
        text = json.loads(_data(manifest)[key])
        inner = text
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = change(inner[path[-1]])
    except (ValueError, KeyError, IndexError, TypeError):
        return
    manifest["status"]["atProvider"]["manifest"]["data"][key] = json.dumps(text)
