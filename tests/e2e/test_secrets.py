"""Where the values of a tenant's Secrets go, and that they go nowhere else."""

import base64
import json
import secrets
from collections.abc import Iterator
from typing import Any

from tests.e2e import objects
from tests.e2e.kube import Api, Object
from tests.e2e.programs import Site
from tests.e2e.team import Team, identities, title
from tests.e2e.waiting import until

CARRIED = "spec.forProvider.manifest.data"
PULL = ".dockerconfigjson"

Place = tuple[str, str, str]  # namespace, an object's kind and name, the path of a field


def test_a_value_is_only_in_its_secret_in_what_carries_it_and_in_its_copy(team: Team, site: Site) -> None:
    """Looked for in every object of every kind on both clusters, events included, and in the log of every program."""
    token, password = canary(), canary()
    registry = json.dumps({"auths": {"registry.example.org": {"auth": encoded(f"robot:{password}")}}})
    team.api.apply(opaque(team, token), pull_secret(team, registry))

    team.serving(replicas=1, engines=[engine("registry")])

    for value, name, key in ((token, "hub", "token"), (registry, "registry", PULL)):
        carrier, copy = carried(team, name)
        where = team.namespace
        assert places(team.api, value) == {
            (where, f"Secret {name}", f"data.{key}"),
            (where, carrier, f"{CARRIED}.{key}"),
        }
        assert places(team.cluster, value) == {(where, copy, f"data.{key}")}
    for value in (token, password, registry, f"robot:{password}"):
        assert told_by(site, value) == []


def test_a_rotated_value_rolls_the_pods_and_the_old_one_is_gone_from_both_clusters(team: Team, site: Site) -> None:
    """Pods of the new value take over before the copy of the old one goes, and what nobody names is not carried."""
    old, new, other = canary(), canary(), canary()
    team.api.apply(opaque(team, old, unnamed=other))
    deployment = team.serving(replicas=1, engines=[engine(copies=2)])
    before = identities(*team.pods())
    [workload] = team.workloads()

    team.api.apply(opaque(team, new, unnamed=other))
    notice(team)
    until(
        lambda: (*places(team.cluster, old), *objects_with(team, old)),
        "the old value to go",
        holds=lambda seen: not seen,
    )
    team.await_ready(deployment)

    assert identities(*team.workloads()) == identities(workload)
    assert not identities(*team.pods()) & before
    carrier, copy = carried(team, "hub")
    assert places(team.cluster, new) == {(team.namespace, copy, "data.token")}
    assert objects_with(team, new) == [carrier]
    assert {one["spec"]["containers"][0]["env"][-1]["valueFrom"]["secretKeyRef"]["name"] for one in team.pods()} == {
        copy.removeprefix("Secret ")
    }
    assert places(team.api, other) == {(team.namespace, "Secret hub", "data.unnamed")}
    assert places(team.cluster, other) == set()
    assert [told_by(site, value) for value in (old, new, other)] == [[], [], []]


def test_a_providers_key_is_only_in_its_secret(team: Team, site: Site) -> None:
    """Its proxy mounts the Secret: our function never reads it, so that nothing carries it and nothing repeats it."""
    key = canary()
    team.api.apply(objects.secret("provider", team.namespace, token=key))
    auth = {"secretRef": {"name": "provider", "key": "token"}}
    endpoint = objects.endpoint("outside", team.namespace, url="https://api.example.org/v1", auth=auth)
    team.api.apply(endpoint)
    team.await_condition(endpoint, "RoutingReady", "WaitingForBackend")
    until(lambda: proxies(team), "its proxy to be composed")

    [proxy] = proxies(team)
    [mounted] = [one["secret"] for one in proxy["spec"]["template"]["spec"]["volumes"] if "secret" in one]
    assert mounted["secretName"] == "provider"
    assert places(team.api, key) == {(team.namespace, "Secret provider", "data.token")}
    assert places(team.cluster, key) == set()
    assert told_by(site, key) == []
    team.api.delete(endpoint)


def proxies(team: Team) -> list[Object]:
    """The Deployments of this tenant on the control cluster."""
    return team.api.list("apps/v1", "Deployment", team.namespace)


def test_a_secret_that_is_missing_is_named_and_awaited(team: Team) -> None:
    """Nothing is written that could not start, and the Secret's arrival is all that it takes."""
    deployment = team.deploy(replicas=1, engines=[engine()])
    [replica] = team.await_replicas(1)
    said = team.await_condition(replica, "ModelAccepted", "Deploying")
    assert said["message"] == f"Waiting for Secret hub in namespace {team.namespace}; what runs stays as it is"
    assert team.workloads() == []

    team.api.apply(opaque(team, canary()))
    notice(team)
    team.await_ready(deployment)


# The objects


def opaque(team: Team, token: str, **more: str) -> Object:
    return objects.secret("hub", team.namespace, token=token, **more)


def pull_secret(team: Team, registry: str) -> Object:
    manifest = objects.secret("registry", team.namespace, **{PULL: registry})
    return manifest | {"type": "kubernetes.io/dockerconfigjson"}


def engine(*pull: str, **more: Any) -> Object:
    """One with a variable from a Secret, whose image is pulled with some others."""
    variable = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
    template = objects.template(env=[variable])
    template["spec"]["imagePullSecrets"] = [{"name": name} for name in pull]
    return objects.engine("vllm", objects.member(template=template), **more)


def canary() -> str:
    return f"canary-{secrets.token_hex(16)}"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def notice(team: Team) -> None:
    """Crossplane 2.4 sees by itself that a Secret has changed; before, it looks again within minutes."""
    if not team.control.watches:
        for one in team.replicas():
            team.reconcile(one)


def carried(team: Team, name: str) -> tuple[str, str]:
    """The Object that carries a Secret, and the Secret's copy on the inference cluster."""
    [carrier] = [one for one in team.objects() if is_of(one, name)]
    return title(carrier), f"Secret {carrier['spec']['forProvider']['manifest']['metadata']['name']}"


def is_of(carrier: Object, name: str) -> bool:
    manifest = carrier["spec"]["forProvider"]["manifest"]
    return manifest["kind"] == "Secret" and f"-secret-{name}-" in manifest["metadata"]["name"]


def objects_with(team: Team, value: str) -> list[str]:
    return [title(one) for one in team.objects() if list(paths(one, needles(value)))]


# The search


def places(api: Api, value: str) -> set[Place]:
    """Every field of every object that holds a value, whatever the kind."""
    return {
        (one["metadata"].get("namespace", ""), f"{kind} {one['metadata']['name']}", path)
        for kind, one in everything(api)
        for path in paths(one, needles(value))
    }


def everything(api: Api) -> Iterator[tuple[str, Object]]:
    """All objects that an API server stores, with their kinds."""
    groups = [one["preferredVersion"]["groupVersion"] for one in api.send("GET", "/apis")["groups"]]
    for prefix in ("/api/v1", *(f"/apis/{group}" for group in groups)):
        for resource in api.send("GET", prefix)["resources"]:
            if "list" in resource["verbs"]:
                yield from ((resource["kind"], one) for one in api.send("GET", f"{prefix}/{resource['name']}")["items"])


def needles(value: str) -> tuple[str, ...]:
    """A value as it may be written: itself, within JSON, and in base64, once and twice."""
    return value, json.dumps(value)[1:-1], encoded(value), encoded(encoded(value))


def paths(value: Any, wanted: tuple[str, ...], at: str = "") -> Iterator[str]:
    """Where in an object one of some texts stands, as a key or as a value."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from paths(one, wanted, f"{at}.{key}".removeprefix("."))
            yield from paths(key, wanted, f"{at} key")
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from paths(one, wanted, f"{at}[{i}]")
    elif isinstance(value, str) and any(one in value for one in wanted):
        yield at


def told_by(site: Site, value: str) -> list[str]:
    """The programs in whose logs a value stands."""
    logs = {log.name: log.read_text(errors="replace").splitlines() for log in (site.folder / "log").glob("*.log")}
    assert sum(map(len, logs.values()))
    wanted = needles(value)
    return [name for name, lines in logs.items() if any(one in line for line in lines if told(line) for one in wanted)]


def told(line: str) -> bool:
    """Whether a line is written without `--debug` too. With it the provider writes out whole Objects (v1.2.1)."""
    return "\tDEBUG\tprovider-kubernetes\t" not in line
