"""Who may write what, as the API server decides: our roles and admission policies, tried by a table of requests."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from function.publish import admission
from function.vocabulary import versions
from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import CONTROLLERS, CROSSPLANE, TOKENS, Api, Object, Refused
from tests.e2e.objects import changed
from tests.e2e.team import title
from tests.e2e.waiting import until

ANNA = "anna"
"""Of an ML team: she has Kubernetes' own role `edit` in her namespace and, by somebody's mistake, in kube-system."""
ADMIN = "admin"
RESERVED = "kube-system"
KIND = "ModelDeployment"
POLICY = "ValidatingAdmissionPolicy"
NO_NAMESPACE = "must be a namespace that the infrastructure does not use, not"
ONLY_CROSSPLANE = "only Crossplane may write a "
NO_RIGHT = "cannot create resource"
IMAGE = "spec.engines.0.members.0.template.spec.containers.0.image"

OWNER = {"apiVersion": objects.GROUP, "kind": KIND, "name": "qwen", "uid": "d-1", "controller": True}


def owned(manifest: Object, owner: Object = OWNER) -> Object:
    return changed(manifest, "metadata.ownerReferences", [owner])


def inside(manifest: Object, namespace: str) -> Object:
    return changed(manifest, "metadata.namespace", namespace)


DEPLOYMENT = objects.deployment("policies")
CACHE = objects.cache("policies")
ENDPOINT = objects.endpoint("policies")
SERVICE = objects.service("policies", model="qwen")
COMPOSED_ENDPOINT = owned(changed(ENDPOINT, "metadata.labels", {"modelplane.ai/deployment": "qwen"}))
REPLICA = owned(
    objects.of(
        "ModelReplica",
        "policies",
        objects.TEAM,
        clusterName="west",
        engines=[
            {
                "name": "main",
                "members": [{"nodePoolName": "west-l4", "template": objects.template()}],
            }
        ],
    )
)
STACK = {
    "apiVersion": versions.INFRASTRUCTURE,
    "kind": "ServingStack",
    "metadata": {"name": "policies", "namespace": objects.SYSTEM},
    "spec": {"clusterName": "west", "source": "Existing", "providerConfigRef": {"name": "west"}},
}

CREATED = {
    "a team's deployment": (ANNA, DEPLOYMENT, ""),
    "a team's cache": (ANNA, CACHE, ""),
    "a team's endpoint": (ANNA, ENDPOINT, ""),
    "a team's service": (ANNA, SERVICE, ""),
    "a team's replica": (ANNA, REPLICA, NO_RIGHT),
    "a team's stack": (ANNA, inside(STACK, objects.TEAM), NO_RIGHT),
    "a team's deployment where it has no rights": (ANNA, inside(DEPLOYMENT, "default"), NO_RIGHT),
    "a team's deployment in kube-system": (ANNA, inside(DEPLOYMENT, RESERVED), f"{NO_NAMESPACE} {RESERVED}"),
    "a team's cache in kube-system": (ANNA, inside(CACHE, RESERVED), f"{NO_NAMESPACE} {RESERVED}"),
    "a team's endpoint in kube-system": (ANNA, inside(ENDPOINT, RESERVED), f"{NO_NAMESPACE} {RESERVED}"),
    "a service in kube-system, which runs nothing": (ANNA, inside(SERVICE, RESERVED), ""),
    "an administrator's deployment in default": (ADMIN, inside(DEPLOYMENT, "default"), f"{NO_NAMESPACE} default"),
    "an administrator's endpoint in our namespace": (
        ADMIN,
        inside(ENDPOINT, objects.SYSTEM),
        f"{NO_NAMESPACE} {objects.SYSTEM}",
    ),
    "an administrator's replica": (ADMIN, REPLICA, f"{ONLY_CROSSPLANE}ModelReplica, not admin"),
    "an administrator's stack": (ADMIN, STACK, f"{ONLY_CROSSPLANE}ServingStack, not admin"),
    "a forged label": (
        ANNA,
        changed(ENDPOINT, "metadata.labels", {"modelplane.ai/deployment": "qwen"}),
        f"{ONLY_CROSSPLANE}ModelEndpoint",
    ),
    "a forged owner": (ANNA, owned(ENDPOINT), f"{ONLY_CROSSPLANE}ModelEndpoint"),
    "what a team says that was composed": (
        ANNA,
        changed(ENDPOINT, "spec.crossplane", {"resourceRefs": [{"apiVersion": "v1", "kind": "Secret", "name": "x"}]}),
        "only Crossplane may add what a ModelEndpoint is composed of",
    ),
    "a team's choice of a revision": (
        ANNA,
        changed(ENDPOINT, "spec.crossplane", {"compositionUpdatePolicy": "Manual"}),
        "",
    ),
    "an owner of another's kind": (ANNA, owned(ENDPOINT, OWNER | {"apiVersion": "example.org/v1"}), ""),
    "Crossplane's replica": (CROSSPLANE, REPLICA, ""),
    "Crossplane's stack": (CROSSPLANE, STACK, ""),
    "Crossplane's endpoint": (CROSSPLANE, COMPOSED_ENDPOINT, ""),
}


@dataclass(frozen=True, slots=True)
class Door:
    """The API server of a control cluster, by user."""

    control: Control

    def of(self, user: str) -> Api:
        api = self.control.api
        return api.as_user(TOKENS[user]) if user in TOKENS else api.impersonating(user)


@pytest.fixture(scope="module")
def door(crossplane: Control) -> Iterator[Door]:
    """With what Crossplane composed, and what runs in kube-system since before it was reserved."""
    door = Door(crossplane)
    crossplane.api.apply(objects.namespace(objects.SYSTEM), *(binding(name) for name in (objects.TEAM, RESERVED)))
    [owner] = crossplane.api.apply(paused(DEPLOYMENT))  # the garbage collector looks for it
    owner_now = OWNER | {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    composed = [owned(one, owner_now) for one in (REPLICA, COMPOSED_ENDPOINT)]
    before = inside(DEPLOYMENT, RESERVED)
    door.of(CROSSPLANE).apply(*map(paused, [*composed, before]))
    await_answer(functools.partial(door.of(ADMIN).create, another(STACK), dryRun="All"), ONLY_CROSSPLANE)
    await_answer(functools.partial(door.of(ANNA).create, another(ENDPOINT), dryRun="All"), "")  # roles are aggregated
    yield door
    for one in (before, DEPLOYMENT):
        crossplane.api.delete(one)


def paused(manifest: Object) -> Object:
    """Left alone by Crossplane."""
    return changed(manifest, "metadata.annotations", {"crossplane.io/paused": "true"})


def binding(namespace: str) -> Object:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    anna = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ANNA}
    metadata = {"name": ANNA, "namespace": namespace}
    return {
        "apiVersion": versions.RBAC,
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": role,
        "subjects": [anna],
    }


def said(request: Callable[[], object]) -> str:
    """Why a request was refused; empty where it was not."""
    try:
        request()
    except Refused as refused:
        return str(refused)
    return ""


def await_answer(request: Callable[[], object], want: str) -> None:
    """Wait until a request is refused in some words, or not refused where there are none."""
    until(functools.partial(said, request), want or "no refusal", holds=functools.partial(agrees, want=want))


def another(manifest: Object) -> Object:
    return changed(manifest, "metadata.name", "another")


def agrees(got: str, want: str) -> bool:
    return want in got if want else not got


@pytest.mark.parametrize("reason", CREATED)
def test_who_may_create_what(door: Door, reason: str) -> None:
    user, manifest, want = CREATED[reason]

    got = said(lambda: door.of(user).create(another(manifest), dryRun="All"))

    assert agrees(got, want), got


COMPOSED = {
    "a replica's spec": (ADMIN, REPLICA, {"spec": {"modelCacheRef": {"name": "a"}}}, "", ONLY_CROSSPLANE),
    "a replica's labels": (ADMIN, REPLICA, {"metadata": {"labels": {"a": "b"}}}, "", ONLY_CROSSPLANE),
    "a replica's status": (ADMIN, REPLICA, {"status": {"served": True}}, "status", ONLY_CROSSPLANE),
    "its status, by Crossplane": (CROSSPLANE, REPLICA, {"status": {"served": True}}, "status", ""),
    "finalizers": (CONTROLLERS, REPLICA, {"metadata": {"finalizers": ["example.org/a"]}}, "", ""),
    "an endpoint": (ANNA, COMPOSED_ENDPOINT, {"spec": {"url": "http://192.0.2.1"}}, "", ONLY_CROSSPLANE),
    "its owner": (
        ANNA,
        COMPOSED_ENDPOINT,
        {"metadata": {"labels": None, "ownerReferences": None}},
        "",
        ONLY_CROSSPLANE,
    ),
    "it, by Crossplane": (CROSSPLANE, COMPOSED_ENDPOINT, {"spec": {"url": "http://192.0.2.1"}}, "", ""),
}


@pytest.mark.parametrize("reason", COMPOSED)
def test_who_may_change_what_crossplane_composed(door: Door, reason: str) -> None:
    user, target, change, below, want = COMPOSED[reason]

    got = said(functools.partial(patch, door.of(user), target, change, below))

    assert agrees(got, want), got


@pytest.mark.parametrize(
    ("change", "below", "want"),
    [
        ({"spec": {"replicas": 1}}, "", ""),
        ({"spec": {"replicas": 0}}, "", ""),
        ({"spec": {"replicas": 3}}, "", NO_NAMESPACE),
        ({"spec": {"tolerations": [{"operator": "Exists"}]}}, "", NO_NAMESPACE),
        ({"spec": {"replicas": 1, "serving": {"mode": "PrefillDecode"}}}, "", "serving mode PrefillDecode needs"),
        ({"spec": {"modelCacheRef": {"name": "a"}}}, "", NO_NAMESPACE),
        ({"spec": {"crossplane": {"compositionUpdatePolicy": "Manual"}}}, "", ""),
        ({"metadata": {"labels": {"team": "a"}}}, "", ""),
        ({"metadata": {"finalizers": ["example.org/a"]}}, "", ""),
        ({"status": {"selector": "a=b"}}, "status", ""),
        ({"spec": {"replicas": 1}}, "scale", ""),
        ({"spec": {"replicas": 3}}, "scale", NO_NAMESPACE),
    ],
)
def test_what_runs_in_a_reserved_namespace_can_only_shrink(door: Door, change: Object, below: str, want: str) -> None:
    """Of an administrator too."""
    got = said(functools.partial(patch, door.of(ADMIN), inside(DEPLOYMENT, RESERVED), change, below))

    assert agrees(got, want), got


@pytest.mark.parametrize("target", [REPLICA, COMPOSED_ENDPOINT, inside(DEPLOYMENT, RESERVED)], ids=title)
def test_anything_can_be_deleted(door: Door, target: Object) -> None:
    assert said(lambda: door.of(ADMIN).delete(target, dryRun="All")) == ""


def test_an_image_cannot_be_changed_in_a_reserved_namespace(door: Door) -> None:
    edited = changed(inside(DEPLOYMENT, RESERVED), IMAGE, "evil/image:v1")

    got = said(lambda: door.of(ADMIN).apply(edited, dryRun="All"))

    assert NO_NAMESPACE in got


def test_operators_change_the_list_and_the_writers(door: Door) -> None:
    admin, infra = door.of(ADMIN), "team-infra"
    admin.apply(objects.namespace(infra))
    try:
        admin.apply(admission.settings(reserved=f"+{infra}, -default", writers=f"{CROSSPLANE},{ANNA}"))

        requests = (
            (ADMIN, inside(DEPLOYMENT, infra), f"{NO_NAMESPACE} {infra}"),
            (ADMIN, inside(DEPLOYMENT, "default"), ""),
            (ADMIN, inside(CACHE, RESERVED), f"{NO_NAMESPACE} {RESERVED}"),
            (ANNA, owned(ENDPOINT), ""),
        )
        for user, manifest, want in requests:
            await_answer(functools.partial(door.of(user).create, another(manifest), dryRun="All"), want)
    finally:
        admin.apply(admission.settings())
        await_answer(functools.partial(admin.create, another(inside(DEPLOYMENT, infra)), dryRun="All"), "")


def test_without_its_settings_a_policy_denies_rather_than_passes(door: Door) -> None:
    admin = door.of(ADMIN)
    request = functools.partial(door.of(ANNA).create, another(DEPLOYMENT), dryRun="All")
    try:
        admin.delete(admission.settings())

        await_answer(request, "no params found")
    finally:
        admin.apply(admission.settings())
        await_answer(request, "")


def test_the_expressions_fit_the_types_of_our_kinds(door: Door) -> None:
    """Kubernetes' own controller checks them, and writes what it doubts into the status."""
    policies = [one for one in admission.manifests() if one["kind"] == POLICY]
    for policy in policies:
        found = until(
            functools.partial(door.control.api.current, policy),
            f"{policy['metadata']['name']} to be checked",
            holds=lambda seen: "observedGeneration" in (seen or {}).get("status", {}),
        )
        assert found["status"].get("typeChecking", {}).get("expressionWarnings", []) == []


def patch(api: Api, target: Object, change: Object, below: str) -> Object:
    path = "/".join(filter(None, (api.address(target), below)))
    return api.send("PATCH", path, change, "application/merge-patch+json", dryRun="All")
