"""The owner of a pod that does not run reads one reason, in the words of Kubernetes, and the same until it changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.observe import reasons
from function.vocabulary.observation import MOST_MESSAGE, MOST_REASONS
from tests.support.observed import Object, event, node, pod, snapshot

UID = "0a1b2c3d-0000-4000-8000-0123456789ab"


def told(*pods: Object, quote: bool = False, **objects: Any) -> dict[str, Any]:
    """The workloads of namespace ml-team."""
    found = reasons.reasons(snapshot(pods=pods, **objects), lambda _: quote)
    return dict(json.loads(reasons.text(found["ml-team"]))["workloads"])


def reason(given: Object, quote: bool = False, **objects: Any) -> dict[str, Any]:
    (only,) = told(given, quote=quote, **objects)["llama"]["pods"]
    return dict(only)


def engine(status: Object, on: str = "a", **more: Any) -> Object:
    """An engine's pod with a status."""
    return pod("llama-0", on, "llama", status=status, **more)


def container(state: Object, *, name: str = "engine", last: Object | None = None, restarts: int = 0) -> Object:
    last_state = {"lastState": {"terminated": last}} if last else {}
    return {"name": name, "ready": False, "restartCount": restarts, "state": state, **last_state}


def running(**more: Any) -> Object:
    return engine({"phase": "Running", "containerStatuses": [container({"running": {}}, **more)]})


def waiting(reason_: str, message: str = "", **more: Any) -> Object:
    state = {"waiting": {"reason": reason_, **({"message": message} if message else {})}}
    return engine({"containerStatuses": [container(state, **more)]})


def crashing(last: Object, restarts: int = 3) -> Object:
    message = f"back-off 5m0s restarting failed container=engine pod=llama-0_ml-team({UID})"
    return waiting("CrashLoopBackOff", message, last=last, restarts=restarts)


ERROR = {"exitCode": 1, "reason": "Error", "message": "Traceback: prompt of a user"}
OOM = {"exitCode": 137, "reason": "OOMKilled"}
PULL = 'failed to resolve reference "registry.example/x:1": not found'
WHERE = {"name": "llama-0", "node": "a", "container": "engine"}


def test_a_pod_without_a_node_has_the_schedulers_message() -> None:
    message = (
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 cannot allocate all claims. "
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}

    assert reason(engine({"conditions": [unscheduled]}, on="")) == {
        "name": "llama-0",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 1 node(s) were unschedulable, 2 cannot allocate all claims",
    }


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (waiting("InvalidImageName", 'Failed to apply default image tag "x:": couldn\'t parse'),
         {"reason": "InvalidImageName", "message": 'Failed to apply default image tag "x:": couldn\'t parse'}),
        (waiting("ErrImagePull", PULL), {"reason": "ImagePullBackOff", "message": PULL}),
        (waiting("ImagePullBackOff", f'Back-off pulling image "registry.example/x:1": ErrImagePull: {PULL}'),
         {"reason": "ImagePullBackOff", "message": PULL}),
        (waiting("CreateContainerConfigError", "couldn't find key TOKEN in Secret ml-team/hf-token"),
         {"reason": "CreateContainerConfigError", "message": "couldn't find key TOKEN in Secret ml-team/hf-token"}),
        (crashing(ERROR), {"reason": "CrashLoopBackOff", "exitCode": 1, "restarts": "2-4"}),
        (crashing({**ERROR, "signal": 11, "exitCode": 139}, 70),
         {"reason": "CrashLoopBackOff", "exitCode": 139, "signal": 11, "restarts": "5+"}),
        (crashing(OOM), {"reason": "OOMKilled", "exitCode": 137, "restarts": "2-4"}),
        (running(last=OOM, restarts=2), {"reason": "OOMKilled", "exitCode": 137, "restarts": "2-4"}),
        (waiting("RunContainerError", 'runc: exec: "vllm": executable file not found in $PATH'),
         {"reason": "RunContainerError", "message": 'runc: exec: "vllm": executable file not found in $PATH'}),
    ],
)  # fmt: skip
def test_a_container_that_does_not_run_has_the_kubelets_reason(given: Object, want: dict[str, Any]) -> None:
    assert reason(given) == {**WHERE, **want}


def test_a_crash_is_the_same_in_each_of_its_states() -> None:
    """A container that crashes is Running, Terminated and CrashLoopBackOff by turns."""
    ended = engine({"containerStatuses": [container({"terminated": ERROR}, last=ERROR, restarts=3)]})

    assert reason(running(last=ERROR, restarts=3)) == reason(ended) == reason(crashing(ERROR))


def test_an_image_that_cannot_be_pulled_is_the_same_in_each_of_its_states() -> None:
    backing_off = waiting("ImagePullBackOff", f'Back-off pulling image "registry.example/x:1": ErrImagePull: {PULL}')

    assert reason(waiting("ErrImagePull", PULL)) == reason(backing_off)


def test_an_init_container_that_fails_is_told_and_not_those_that_wait_for_it() -> None:
    init = container({"terminated": {"exitCode": 2, "reason": "Error"}}, name="fetch", restarts=1)
    waits = container({"waiting": {"reason": "PodInitializing"}})

    got = reason(engine({"initContainerStatuses": [init], "containerStatuses": [waits]}))

    assert got == {**WHERE, "container": "fetch", "reason": "CrashLoopBackOff", "exitCode": 2, "restarts": "1"}


def test_an_init_container_that_ended_well_is_no_reason() -> None:
    done = container({"terminated": {"exitCode": 0, "reason": "Completed"}}, name="fetch")

    waits = container({"waiting": {"reason": "X"}})

    got = reason(engine({"initContainerStatuses": [done], "containerStatuses": [waits]}))

    assert got == {**WHERE, "reason": "X"}


@pytest.mark.parametrize(
    ("name", "message", "want"),
    [
        ("FailedMount", 'MountVolume.SetUp failed for volume "w" : secret "hf" not found', None),
        ("FailedAttachVolume", f'Multi-Attach error for volume "pvc-{UID}"', 'Multi-Attach error for volume "pvc-…"'),
        ("FailedPrepareDynamicResources", "Failed to prepare dynamic resources: no such device", None),
    ],
)
def test_a_pod_that_cannot_be_created_has_the_kubelets_event(name: str, message: str, want: str | None) -> None:
    creating = waiting("ContainerCreating")

    got = reason(creating, events=[event(name, message, "llama-0", involved={"uid": "uid-llama-0"})])

    assert got == {"name": "llama-0", "node": "a", "reason": name, "message": want or message}


def test_events_of_another_pod_of_the_same_name_do_not_count() -> None:
    former = event("FailedMount", "gone", "llama-0", involved={"uid": "uid-of-the-pod-before"})

    assert told(waiting("ContainerCreating"), events=[former]) == {}


def test_events_do_not_count_once_the_pod_is_past_them() -> None:
    mounted = event("FailedMount", "was so before", "llama-0")

    assert told(running(), events=[mounted]) == {}


@pytest.mark.parametrize(
    ("message", "want"),
    [
        ("Readiness probe failed: HTTP probe failed with statuscode: 503",
         "Readiness probe failed: HTTP probe failed with statuscode: 503"),
        (('Startup probe failed: Get "http://10.1.2.3:8000/health?key=abc": dial tcp 10.1.2.3:8000: connect: '
         "connection refused"),
         "Startup probe failed: connection refused"),
        (('Liveness probe failed: Get "http://10.1.2.3/": context deadline exceeded (Client.Timeout exceeded while '
         "awaiting headers)"),
         "Liveness probe failed: context deadline exceeded"),
        ('Readiness probe failed: service unhealthy (responded with "NOT_SERVING")',
         'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")'),
        ("Readiness probe failed: the prompt was: a secret of a user", "Readiness probe failed"),
        ('Readiness probe failed: Get "http://10.1.2.3/": net/http: malformed HTTP response "a secret of a user"',
         "Readiness probe failed"),
        ('Liveness probe errored and resulted in unknown state: command "cat /token" timed out',
         "Liveness probe errored"),
    ],
)  # fmt: skip
def test_a_failed_probe_has_the_kubelets_words_and_not_the_containers(message: str, want: str) -> None:
    about = event("Unhealthy", message, "llama-0", involved={"fieldPath": "spec.containers{engine}"})

    assert reason(running(), events=[about]) == {**WHERE, "reason": "ProbeFailed", "message": want}


def test_the_output_of_a_probe_is_told_where_it_is_allowed() -> None:
    about = event("Unhealthy", "Readiness probe failed: model is loading", "llama-0")

    assert reason(running(), quote=True, events=[about])["message"] == "Readiness probe failed: model is loading"


def test_the_newest_event_counts() -> None:
    old = event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 500", "llama-0")
    new = {**event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", "llama-0"),
           "lastTimestamp": "2026-01-01T00:05:00Z"}  # fmt: skip

    assert reason(running(), events=[new, old])["message"].endswith("503")


def test_a_container_that_a_probe_ended_has_the_probe_as_its_reason() -> None:
    about = event("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", "llama-0")

    got = reason(crashing({"exitCode": 137, "reason": "Error"}), events=[about])

    assert (got["reason"], got["exitCode"], got["restarts"]) == ("ProbeFailed", 137, "2-4")
    assert reason(crashing(OOM), events=[about])["reason"] == "OOMKilled"
    assert reason(crashing(ERROR), events=[about])["reason"] == "CrashLoopBackOff"


def test_a_termination_message_is_told_only_where_it_is_allowed() -> None:
    assert "Traceback" not in json.dumps(told(crashing(ERROR)))
    assert reason(crashing(ERROR), quote=True)["terminated"] == "Traceback: prompt of a user"


def test_the_command_and_the_output_of_a_hook_are_never_told() -> None:
    message = 'Exec lifecycle hook ([sh -c curl -H secret]) for Container "engine" failed - message: "prompt"'

    for quote in (False, True):
        assert reason(waiting("PostStartHookError", message), quote=quote)["message"] == "the postStart hook failed"


@pytest.mark.parametrize(
    ("message", "want"),
    [
        ('exec: "sh -c TOKEN=abc": no such file', 'exec: "…": no such file'),
        ("pull https://user:password@registry.example/v2/x?token=abcdefgh#f failed",
         "pull https://registry.example/v2/x failed"),
        ("Authorization: Bearer abcdefghijkl refused", "Authorization: Bearer … refused"),
        ('env[0].value: Invalid value: "hunter2": must be', "env[0].value: Invalid value: must be"),
        ("password=hunter2 is wrong", "password … is wrong"),
    ],
)  # fmt: skip
def test_what_might_be_secret_is_taken_out(message: str, want: str) -> None:
    assert reason(waiting("CreateContainerError", message))["message"] == want


def test_an_evicted_pod_has_its_reason_beside_those_that_wait() -> None:
    evicted = pod(
        "llama-1",
        "a",
        "llama",
        status={"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory"},
    )

    got = told(waiting("ErrImagePull", PULL), evicted)["llama"]

    assert (got["waiting"], [one["reason"] for one in got["pods"]]) == (1, ["ImagePullBackOff", "Evicted"])


def test_pods_that_failed_are_no_reason_while_all_others_serve() -> None:
    evicted = pod("llama-1", "a", "llama", status={"phase": "Failed", "reason": "Evicted"})
    ready = engine({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})

    assert told(ready, evicted) == {}


def test_a_pod_on_a_lost_node_has_the_node_as_its_reason() -> None:
    got = reason(running(), nodes=[node("a", ready=False)])

    assert (got["reason"], got["message"]) == ("NodeNotReady", "node a is not ready")


def test_a_pod_that_is_being_deleted_is_no_reason_unless_its_node_is_lost() -> None:
    leaving = crashing(ERROR)
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert told(leaving) == {}
    assert reason(leaving, nodes=[node("a", ready=False)])["reason"] == "NodeNotReady"


def test_a_pod_that_starts_is_no_reason() -> None:
    assert told(waiting("ContainerCreating"), running()) == {}


def test_pods_of_others_are_not_told() -> None:
    others = pod("notebook", "a", status={"containerStatuses": [container({"waiting": {"reason": "ErrImagePull"}})]})

    assert reasons.reasons(snapshot(pods=[others])) == {}


# Pods that cannot be made


QUOTA = 'pods "llama-5d9c-x7k2p" is forbidden: exceeded quota: gpus, requested: pods=1, used: pods=4, limited: pods=4'
CLEAN = 'pods "llama-5d9c" is forbidden: exceeded quota: gpus, requested: pods=1, used: pods=4, limited: pods=4'
TEMPLATE = {"metadata": {"labels": {"modelplane.ai/workload": "llama"}}}


def owner(kind: str, name: str = "llama", *, replicas: int = 0, conditions: Any = ()) -> Object:
    spec = {"replicas": 1, "template": TEMPLATE, "leaderWorkerTemplate": {"workerTemplate": TEMPLATE}}
    status = {"replicas": replicas, "conditions": list(conditions)}
    return {"kind": kind, "metadata": {"namespace": "ml-team", "name": name}, "spec": spec, "status": status}


def test_a_replica_set_tells_why_it_makes_no_pod() -> None:
    failing = owner("ReplicaSet", "llama-5d9c", conditions=[
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": QUOTA}])  # fmt: skip

    assert told(owners=[failing]) == {
        "llama": {"waiting": 0, "pods": [{"name": "llama-5d9c", "reason": "FailedCreate", "message": CLEAN}]}
    }


@pytest.mark.parametrize("kind", ["StatefulSet", "LeaderWorkerSet"])
def test_a_set_without_such_a_condition_tells_by_its_events(kind: str) -> None:
    about = event("FailedCreate", f"create Pod llama-0 in StatefulSet llama failed error: {QUOTA}", "llama", kind=kind)

    assert told(owners=[owner(kind)], events=[about])["llama"]["pods"][0]["reason"] == "FailedCreate"
    assert reasons.reasons(snapshot(owners=[owner(kind, replicas=1)], events=[about])) == {}


# Bounds


def test_messages_workloads_and_pods_are_bounded() -> None:
    pods = [
        pod(f"p-{w:02}-{p}", "a", f"w-{w:02}", status={"containerStatuses": [
            container({"waiting": {"reason": "X" * 200, "message": f"{p} " + "é\u202e" * 300}})]})
        for w in range(40)
        for p in range(9)
    ]  # fmt: skip

    text = reasons.text(reasons.reasons(snapshot(pods=pods))["ml-team"])
    got = json.loads(text)

    assert len(text.encode()) <= MOST_REASONS
    assert (len(got["workloads"]), got["more"]) == (32, 8)
    assert all(one["waiting"] == 9 and len(one["pods"]) <= 4 for one in got["workloads"].values())


def test_a_message_has_at_most_so_many_characters_and_one_line() -> None:
    message = reason(waiting("CreateContainerError", "one\ntwo\x1b[31m " + "long " * 1000))["message"]

    assert (len(message) <= MOST_MESSAGE, message.startswith("one two long")) == (True, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("back-off 10s restarting x", "back-off 5m0s restarting x"),
        ("dial tcp 10.0.0.1:443: i/o timeout", "dial tcp 10.9.8.7:8443: i/o timeout"),
        ("dial tcp [fd00::1]:443: refused", "dial tcp [fd00::2:3]:8443: refused"),
        ("failed at 2026-01-01T00:00:00Z", "failed at 2026-02-03T04:05:06.789+02:00"),
        (f"volume {UID} is gone", f"volume {UID[::-1].replace('-', '0')[:8]}-0000-4000-8000-0123456789ab is gone"),
        ("(combined from similar events): no room", "no room"),
        (f"container {'a1' * 32} failed", f"container {'b2' * 32} failed"),
        ("took 1.053s", "took 2.4s"),
    ],
)
def test_what_changes_between_attempts_does_not_change_the_message(one: str, other: str) -> None:
    assert reason(waiting("CreateContainerError", one)) == reason(waiting("CreateContainerError", other))
