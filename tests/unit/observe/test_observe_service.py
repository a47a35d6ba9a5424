"""The observer follows a cluster through faults, writes what changed, and tells when it must not be believed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from function.apiserver import client as clients
from function.observe import watching
from function.observe.health import Health
from function.observe.service import Settings, run
from function.observe.watching import Pace
from function.vocabulary import labels, names
from function.vocabulary.observation import DECLARED_KEY, OBSERVED_KEY, REASONS_KEY
from tests.support.api_server_standin import CORE, DRA, ApiServer, serving
from tests.support.observed import Object, declared, gpus, node, pod, resource_slice

CONFIG_MAPS = f"{CORE}/configmaps"
SYSTEM = names.SYSTEM_NAMESPACE
OPTIONAL = (
    f"{CORE}/events",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
)
QUICK = Pace(watch=1.0, silence=0.5, again=0.05, first=0.02, most=0.1)
PATIENCE = 20.0


def declaration(text: Any = None, cluster: str = "east") -> Object:
    data = json.dumps(declared(cluster=cluster)) if text is None else text
    return {
        "metadata": {
            "name": names.declared(cluster),
            "namespace": SYSTEM,
            "uid": f"uid-{cluster}",
            "labels": {labels.OBSERVATION: labels.DECLARATION},
        },
        "data": {DECLARED_KEY: data},
    }


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving(ApiServer()) as server:
        server.serve(f"{CORE}/nodes", node("a"))
        server.serve(f"{DRA}/resourceslices", resource_slice("a", gpus(8)))
        server.serve(f"{DRA}/resourceclaims")
        server.serve(f"{CORE}/pods")
        server.serve(CONFIG_MAPS, declaration())
        for path in OPTIONAL:
            server.serve(path)
        yield server


@dataclass
class Observing:
    health: Health
    said: list[str] = field(default_factory=list)


def problems(health: Health) -> list[str]:
    return [check.problem for check in health.ready() if check.problem]


@asynccontextmanager
async def observing(api: ApiServer, pace: Pace = QUICK, silence: float = 180.0) -> AsyncIterator[Observing]:
    health = Health(time.monotonic, silence=silence)
    seen = Observing(health)
    headers = {"Authorization": f"Bearer {api.token}"}
    async with httpx2.AsyncClient(base_url=api.url, headers=headers) as client:
        task = asyncio.ensure_future(run(client, Settings(SYSTEM, rest=0.05, pace=pace), health, seen.said.append))
        try:
            yield seen
            assert not task.done(), task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def until(holds: Callable[[], Any]) -> Any:
    """Wait for something to hold, and return it."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.01)
    return found


def written(api: ApiServer, name: str, key: str) -> Any:
    found = api.objects[CONFIG_MAPS].get(f"{SYSTEM}/{name}")
    return json.loads(found["data"][key]) if found else None


def observed(api: ApiServer, cluster: str = "east") -> Any:
    return written(api, names.observed(cluster), OBSERVED_KEY)


def nodes(api: ApiServer) -> list[tuple[str, str]]:
    found = observed(api)
    records = found["pools"]["h100"]["nodes"] if found else []
    return sorted((name, record["state"]) for record in records for name in record["names"])


@pytest.mark.slow
def test_it_writes_what_the_nodes_have_and_owns_it_by_its_declaration(api: ApiServer) -> None:
    async def story() -> None:
        async with observing(api) as seen:
            got = await until(lambda: observed(api))
            assert got["pools"]["h100"]["nodes"][0]["devices"] == {"gpu": 8}
            await until(lambda: problems(seen.health) == [])

    asyncio.run(story())

    metadata = api.objects[CONFIG_MAPS][f"{SYSTEM}/{names.observed('east')}"]["metadata"]
    assert metadata["labels"] == {labels.OBSERVATION: labels.OBSERVED}
    assert [(owner["name"], owner["uid"]) for owner in metadata["ownerReferences"]] == [
        (names.declared("east"), "uid-east")
    ]


@pytest.mark.slow
def test_it_follows_what_changes(api: ApiServer) -> None:
    async def story() -> None:
        async with observing(api):
            await until(lambda: nodes(api) == [("a", "Ready")])
            api.put(f"{CORE}/nodes", node("b", cordoned=True))
            await until(lambda: nodes(api) == [("a", "Ready"), ("b", "Cordoned")])
            api.delete(f"{CORE}/nodes", "a")
            await until(lambda: nodes(api) == [("b", "Cordoned")])

    asyncio.run(story())


@pytest.mark.slow
def test_it_writes_nothing_while_nothing_changes(api: ApiServer) -> None:
    """A heartbeat of a node is no change, and neither is its own writing."""

    async def story() -> None:
        async with observing(api):
            await until(lambda: nodes(api) == [("a", "Ready")])
            beating = node("a")
            beating["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-01T00:00:00Z"
            api.put(f"{CORE}/nodes", beating)
            api.put(f"{CORE}/nodes", node("b"))
            await until(lambda: nodes(api) == [("a", "Ready"), ("b", "Ready")])

    asyncio.run(story())
    assert api.writes[f"{SYSTEM}/{names.observed('east')}"] == 2


@pytest.mark.slow
def test_what_is_there_already_is_not_written_again(api: ApiServer) -> None:
    async def story() -> None:
        async with observing(api):
            await until(lambda: nodes(api) == [("a", "Ready")])
        async with observing(api) as seen:
            await until(lambda: problems(seen.health) == [])
            api.put(f"{CORE}/nodes", node("b"))
            await until(lambda: nodes(api) == [("a", "Ready"), ("b", "Ready")])

    asyncio.run(story())
    assert api.writes[f"{SYSTEM}/{names.observed('east')}"] == 2


@pytest.mark.slow
def test_what_somebody_deletes_or_spoils_is_written_anew(api: ApiServer) -> None:
    async def story() -> None:
        async with observing(api):
            await until(lambda: nodes(api) == [("a", "Ready")])
            key = f"{SYSTEM}/{names.observed('east')}"
            spoiled = json.loads(json.dumps(api.objects[CONFIG_MAPS][key]))
            spoiled["data"][OBSERVED_KEY] = "{}"
            api.put(CONFIG_MAPS, spoiled)
            await until(lambda: observed(api) and nodes(api) == [("a", "Ready")])
            api.delete(CONFIG_MAPS, key)
            await until(lambda: nodes(api) == [("a", "Ready")])

    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["410", "gone", "cut", "garbage", "silent"])
def test_a_watch_that_breaks_is_taken_up_again(api: ApiServer, fault: str) -> None:
    api.bad_watches[f"{CORE}/nodes"] = [fault, fault, ""]

    async def story() -> None:
        async with observing(api):
            await until(lambda: nodes(api) == [("a", "Ready")])
            api.put(f"{CORE}/nodes", node("b"))
            await until(lambda: nodes(api) == [("a", "Ready"), ("b", "Ready")])

    asyncio.run(story())


@pytest.mark.slow
def test_line_ends_of_unicode_are_part_of_a_text(api: ApiServer) -> None:
    async def story() -> None:
        async with observing(api) as seen:
            await until(lambda: nodes(api) == [("a", "Ready")])
            api.put(f"{CORE}/nodes", node("b", labels={"note": "one\x85two\u2028three"}))
            await until(lambda: nodes(api) == [("a", "Ready"), ("b", "Ready")])
            assert seen.said == []

    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("path", [f"{DRA}/resourceclaims", f"{DRA}/resourceslices", f"{CORE}/events", f"{CORE}/pods"])
def test_a_refused_kind_is_told_and_the_others_are_observed(api: ApiServer, path: str, status: int) -> None:
    api.refuses[path] = status
    plural = path.rpartition("/")[2]

    async def story() -> None:
        async with observing(api) as seen:
            got = await until(lambda: observed(api))
            assert (got["missing"], nodes(api)) == ([plural], [("a", "Ready")])
            assert [line for line in seen.said if plural in line] != []
            assert problems(seen.health) == []
            del api.refuses[path]
            await until(lambda: "missing" not in observed(api))

    asyncio.run(story())


@pytest.mark.slow
def test_one_refusal_of_a_server_that_starts_changes_nothing(api: ApiServer) -> None:
    """The list is refused once, after a watch that ended for good, and what was read stays."""

    async def story() -> None:
        async with observing(api) as seen:
            await until(lambda: nodes(api) == [("a", "Ready")])
            api.refused_once.add(f"{CORE}/nodes")
            api.bad_watches[f"{CORE}/nodes"] = ["gone", ""]
            await until(lambda: not api.refused_once)
            api.put(f"{CORE}/nodes", node("b"))
            await until(lambda: nodes(api) == [("a", "Ready"), ("b", "Ready")])
            assert seen.said == []

    asyncio.run(story())
    assert api.writes[f"{SYSTEM}/{names.observed('east')}"] == 2


def test_a_refusal_is_logged_once(api: ApiServer) -> None:
    api.refuses[f"{CORE}/pods"] = 403

    async def story() -> list[str]:
        async with observing(api) as seen:
            await until(lambda: len([one for one in api.requests if one[1] == f"{CORE}/pods"]) > 3)
            return seen.said

    assert len(asyncio.run(story())) == 1


@pytest.mark.slow
def test_a_malformed_declaration_is_named_and_the_others_are_observed(api: ApiServer) -> None:
    api.put(CONFIG_MAPS, declaration('{"version": 1, "cluster": "west", "pools": {"h100": {}}}', "west"))

    async def story() -> None:
        async with observing(api) as seen:
            await until(lambda: observed(api))
            problem = f"ConfigMap {names.declared('west')} is left out: pools.h100.devices must be a list"
            await until(lambda: [line for line in seen.said if line.startswith(problem)])
            api.put(CONFIG_MAPS, declaration(cluster="west"))
            await until(lambda: observed(api, "west"))

    asyncio.run(story())


@pytest.mark.slow
def test_a_second_declaration_of_a_cluster_is_left_out(api: ApiServer) -> None:
    another = declaration()
    another["metadata"]["name"] = "another"
    api.put(CONFIG_MAPS, another)

    async def story() -> None:
        async with observing(api) as seen:
            await until(lambda: observed(api))
            problem = f"ConfigMap another is left out: the declaration of east must be named {names.declared('east')}"
            assert seen.said == [problem]

    asyncio.run(story())


@pytest.mark.slow
def test_pods_that_wait_are_told_and_their_end_too(api: ApiServer) -> None:
    unscheduled = {
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}
        ]
    }

    async def story() -> None:
        async with observing(api):
            await until(lambda: observed(api))
            assert written(api, names.pod_reasons("ml-team"), REASONS_KEY) is None
            api.put(f"{CORE}/pods", pod("llama-0", workload="llama", status=unscheduled))
            got = await until(lambda: written(api, names.pod_reasons("ml-team"), REASONS_KEY))
            assert got["workloads"]["llama"]["pods"][0]["reason"] == "Unschedulable"
            api.delete(f"{CORE}/pods", "ml-team/llama-0")
            await until(lambda: written(api, names.pod_reasons("ml-team"), REASONS_KEY)["workloads"] == {})

    asyncio.run(story())


@pytest.mark.slow
def test_a_namespace_without_waiting_pods_gets_no_config_map(api: ApiServer) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    api.put(f"{CORE}/pods", pod("llama-0", "a", "llama", status=ready))

    async def story() -> None:
        async with observing(api):
            got = await until(lambda: observed(api))
            assert got["pools"]["h100"]["nodes"][0]["pods"] == {"ml-team/llama": 1}

    asyncio.run(story())
    assert written(api, names.pod_reasons("ml-team"), REASONS_KEY) is None


@pytest.mark.slow
def test_dead_watches_fail_the_readiness_probe(api: ApiServer) -> None:
    """The others are ended by the server each second, as they should be; that of pods is open and says nothing."""
    pace = Pace(watch=1.0, silence=60.0)

    async def story() -> None:
        async with observing(api, pace, silence=5.0) as seen:
            await until(lambda: problems(seen.health) == [])
            api.bad_watches[f"{CORE}/pods"] = ["silent"] * 100
            (problem,) = await until(lambda: problems(seen.health))
            assert problem.startswith("no word about pods for")

    asyncio.run(story())


def test_an_api_server_that_is_gone_fails_the_readiness_probe_and_ends_nothing() -> None:
    async def story() -> None:
        with serving(ApiServer()) as dead:
            url = dead.url
        gone = ApiServer(url=url)
        async with observing(gone, silence=0.2) as seen:
            await until(lambda: len(seen.said) > 3)
            assert any(line.endswith("are not read yet") for line in problems(seen.health))

    asyncio.run(story())


@pytest.mark.slow
def test_what_cannot_be_written_fails_the_readiness_probe_until_it_is_written(api: ApiServer) -> None:
    api.refuses[f"write {CONFIG_MAPS}"] = 403

    async def story() -> None:
        async with observing(api, silence=2.5) as seen:
            name = names.observed("east")
            await until(lambda: [line for line in problems(seen.health) if line.startswith(f"cannot write {name}")])
            del api.refuses[f"write {CONFIG_MAPS}"]
            await until(lambda: observed(api) and not problems(seen.health))

    asyncio.run(story())


@pytest.mark.slow
def test_without_its_own_config_maps_it_is_not_ready(api: ApiServer) -> None:
    api.refuses[CONFIG_MAPS] = 403

    async def story() -> None:
        async with observing(api) as seen:
            problem = f"configmaps {SYSTEM}: forbidden"
            await until(lambda: [line for line in problems(seen.health) if line.startswith(problem)])

    asyncio.run(story())


@pytest.mark.slow
def test_secrets_are_never_asked_for(api: ApiServer) -> None:
    async def story() -> None:
        async with observing(api):
            await until(lambda: observed(api))

    asyncio.run(story())
    assert [path for _, path, _ in api.requests if "secret" in path] == []


@pytest.mark.slow
def test_many_pods_are_read_in_pages(api: ApiServer) -> None:
    for index in range(clients.PAGE + 7):
        api.put(f"{CORE}/pods", pod(f"p-{index}", "a", cpu="1m", memory="1"))

    async def story() -> None:
        async with observing(api):
            got = await until(lambda: observed(api))
            assert got["pools"]["h100"]["nodes"][0]["requested"]["cpu"] == f"{clients.PAGE + 7}m"

    asyncio.run(story())
    lists = [asked for _, path, asked in api.requests if path == f"{CORE}/pods" and "watch" not in asked]
    assert [asked.get("continue") for asked in lists] == [None, str(clients.PAGE)]


@pytest.mark.slow
def test_more_objects_than_it_keeps_are_told(api: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_MOST_RECORDS", 3)
    for index in range(3):
        api.put(f"{CORE}/pods", pod(f"p-{index}", "a"))

    async def story() -> None:
        async with observing(api) as seen:
            await until(lambda: observed(api) and "missing" not in observed(api))
            api.put(f"{CORE}/pods", pod("one-more", "a"))
            await until(lambda: observed(api).get("missing") == ["pods"])
            assert [line for line in seen.said if line == "cannot read pods: there are more than 3"] != []

    asyncio.run(story())
