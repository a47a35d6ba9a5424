"""Secrets and config maps go to the cluster cut to what is named of them, and nowhere else."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

from function import registry
from function.core import Request, plain
from tests.support import arrivals, replicas

CANARY = base64.b64encode(b"canary-7f3a").decode()


def env(name: str, key: str = "token", field: str = "secretKeyRef", **more: Any) -> dict[str, Any]:
    return {"name": f"{name}_{key}".upper(), "valueFrom": {field: {"name": name, "key": key, **more}}}


def replica(*variables: Any, **fields: Any) -> Any:
    return replicas.replica(replicas.engine("qwen", replicas.member("m", env=list(variables), **fields)))


def carried(result: Any, kind: str = "Secret") -> list[dict[str, Any]]:
    return [m for m in replicas.manifests(result).values() if m["kind"] == kind]


def test_only_the_keys_that_are_named_are_carried() -> None:
    hub = replicas.secret("hub", token=CANARY, other="c2VjcmV0")
    (got,) = carried(replicas.compose(replica(env("hub")), hub))
    assert (got["data"], got["type"], got["immutable"]) == ({"token": CANARY}, "Opaque", True)


def test_a_value_is_nowhere_but_in_the_object_that_carries_it() -> None:
    """Not in a name, a status, a condition, another object, or what an error repeats."""
    xr, hub = replica(env("hub"), imagePullSecrets=[{"name": "pull"}]), replicas.secret("hub", token=CANARY)
    pull = replicas.secret("pull", type_="kubernetes.io/dockerconfigjson", **{".dockerconfigjson": CANARY})
    request = arrivals.again(Request(xr=xr), replicas.compose(xr, hub, pull), arrivals.starting)
    for manifest in request.observed.values():
        refused = {"type": "Synced", "status": "False", "message": f"refused: {CANARY}"}
        if manifest["spec"]["forProvider"]["manifest"]["kind"] == "Secret":
            manifest["status"] = {"conditions": [refused]}
    result = replicas.compose(request, hub, pull)
    holders = {k for k, r in result.resources.items() if CANARY in json.dumps(plain(r.manifest))}
    assert holders == {k for k in result.resources if k.startswith("secret-")}
    assert len(holders) == 2
    assert CANARY not in json.dumps([c.message for c in result.conditions]) + json.dumps(plain(result.status))
    assert "not applied" in replicas.said(result, "ModelAccepted")


def test_a_rotated_value_rolls_the_pods_and_the_old_one_stays_until_they_did() -> None:
    xr, old, new = replica(env("hub")), replicas.secret("hub", token=CANARY), replicas.secret("hub", token="bmV3")
    request = arrivals.again(Request(xr=xr), replicas.compose(xr, old), arrivals.running)
    rolling = replicas.compose(request, new)
    assert len(carried(rolling)) == 2
    assert _reference(rolling) == next(m["metadata"]["name"] for m in carried(rolling) if m["data"]["token"] == "bmV3")

    done = replicas.compose(arrivals.again(request, rolling, arrivals.running), new)
    assert [m["data"]["token"] for m in carried(done)] == ["bmV3"]
    assert done.ready


def test_what_is_not_named_may_change_without_a_roll() -> None:
    one = replicas.compose(replica(env("hub")), replicas.secret("hub", token=CANARY, other="YQ=="))
    two = replicas.compose(replica(env("hub")), replicas.secret("hub", token=CANARY, other="Yg=="))
    assert one.resources == two.resources


def test_what_vanishes_is_held() -> None:
    xr, hub = replica(env("hub")), replicas.secret("hub", token=CANARY)
    request = arrivals.again(Request(xr=xr), replicas.compose(xr, hub), arrivals.running)
    result = replicas.compose(request)
    assert result.resources.keys() == request.observed.keys()
    assert replicas.said(result, "ModelAccepted").startswith("False Deploying: Waiting for Secret hub in namespace ml")
    assert replicas.said(result, "ModelReady") == "True Serving: Every engine serves"


def test_what_is_optional_may_be_absent() -> None:
    result = replicas.compose(replica(env("hub", optional=True)))
    assert carried(result) == []
    assert _reference(result).startswith("qwen-1a2b3c4d-secret-hub-absent-")


def test_not_looked_up_is_not_absent() -> None:
    """Pods would roll to a variable that is unset, and back a moment later."""
    xr, hub = replica(env("hub", optional=True)), replicas.secret("hub", token=CANARY)
    request = arrivals.again(Request(xr=xr), replicas.compose(xr, hub), arrivals.running)
    unanswered = replace(request, required={"cluster": (replicas.cluster(),)})
    assert registry.compose(unanswered).resources.keys() == request.observed.keys()
    assert _reference(registry.compose(unanswered)) == _reference(replicas.compose(xr, hub))


def test_an_optional_key_of_a_secret_that_is_there_may_be_absent() -> None:
    result = replicas.compose(replica(env("hub"), env("hub", "k", optional=True)), replicas.secret("hub", token=CANARY))
    assert [m["data"] for m in carried(result)] == [{"token": CANARY}]


def test_another_tenants_secret_of_the_same_name_is_not_ours() -> None:
    result = replicas.compose(replica(env("hub")), replicas.secret("hub", "other", token=CANARY))
    assert replicas.said(result, "ModelAccepted").startswith("False Deploying: Waiting for Secret hub in namespace ml")


def test_a_config_map_goes_the_same_way() -> None:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "conf", "namespace": "ml"},
        "data": {"a.yaml": "x", "b": "y"},
    }
    (got,) = carried(replicas.compose(replica(env("conf", "a.yaml", "configMapKeyRef")), config), "ConfigMap")
    assert (got["data"], got["immutable"]) == ({"a.yaml": "x"}, True)


def _reference(result: Any) -> str:
    container = replicas.manifests(result)["deployment-qwen"]["spec"]["template"]["spec"]["containers"][0]
    return str(container["env"][1]["valueFrom"]["secretKeyRef"]["name"])
