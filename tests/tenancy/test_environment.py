"""Variables of a tenant: they reach its own containers, and none of those that Modelplane adds or runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from function.core import Manifest, dig
from function.planning.control_plane import ControlPlane
from tests.support.rendered import containers, templates
from tests.tenancy import fleet
from tests.tenancy.fleet import ATTACKER

ENGINE = "engine"
VALUE = "$(TOKEN)-of-the-attacker"
_SECRET = {"secretKeyRef": {"name": "key", "key": "api-key"}}


def _gang(name: str, env: list[dict[str, Any]]) -> dict[str, Any]:
    pods = fleet.template({"command": ["/bin/sh", "-c"], "args": ["vllm serve m"], "env": env})
    member = {"nodeSelector": {"devices": fleet.DEVICES}, "template": pods}
    members = [{"role": "Leader", **member}, {"role": "Worker", "worker": {"nodes": 1}, **member}]
    return fleet.of("ModelDeployment", name, ATTACKER, engines=[{"name": "main", "members": members}])


def _pair(name: str, env: list[dict[str, Any]]) -> dict[str, Any]:
    member = {
        "role": "Standalone",
        "nodeSelector": {"devices": fleet.DEVICES},
        "template": fleet.template({"env": env}),
    }
    phases = [{"name": phase.lower(), "phase": phase, "members": [member]} for phase in ("Prefill", "Decode")]
    return fleet.of("ModelDeployment", name, ATTACKER, serving={"mode": "PrefillDecode"}, engines=phases)


def _all(env: list[dict[str, Any]]) -> tuple[Manifest, ...]:
    pods = fleet.template({"env": env, "args": []})  # no model of a hub, so that the cache is used
    single = fleet.deployment("single", pods=pods, modelCacheRef={"name": "weights"})
    return fleet.cache("weights"), single, _gang("gang", env), _pair("pair", env)


def workloads(control: ControlPlane) -> Iterator[tuple[str, Manifest]]:
    """Every container of the attacker's on the cluster and on the control cluster, by where it is."""
    for manifest in control.store.all():
        if manifest["metadata"].get("namespace") == ATTACKER:
            there = dig(manifest, "spec", "forProvider", "manifest") if manifest["kind"] == "Object" else manifest
            for number, template in enumerate(templates(there or {"kind": ""})):
                for container in containers(template):
                    name = f"{there['metadata']['name']}[{number}].{container['name']}"
                    yield f"{there['kind']} {name}", container


@pytest.fixture(scope="module")
def plain() -> dict[str, Manifest]:
    """The containers when the tenant sets no variable."""
    control, refused = fleet.world(fleet.PLATFORM, _all([]))
    assert refused == {}
    return dict(workloads(control))


def ours(found: Mapping[str, Manifest]) -> list[str]:
    """The names of the variables that Modelplane sets, of every container."""
    return sorted({one["name"] for container in found.values() for one in container.get("env", ())})


@pytest.mark.slow
def test_a_variable_over_ours_changes_the_tenants_own_containers_alone(plain: dict[str, Manifest]) -> None:
    """All names are tried at once: of engines, sidecars, pickers, proxies and of the Job that stages weights."""
    names = ours(plain)
    assert {"MODELPLANE_PORT", "MODELPLANE_RANK", "MODELPLANE_LEADER_ADDRESS", "HF_HUB_OFFLINE"} <= set(names)
    assert {name.rpartition(".")[2] for name in plain} - {ENGINE} >= {"routing-sidecar"}
    env = [{"name": "TOKEN", "valueFrom": _SECRET}, *({"name": name, "value": VALUE} for name in names)]
    without_port = [one for one in env if one["name"] != "MODELPLANE_PORT"]  # a number, or the port is refused

    control, refused = fleet.world(fleet.PLATFORM, _all(without_port))

    assert refused == {}
    found = dict(workloads(control))
    assert {name.rpartition(".")[2] for name in found if VALUE in str(found[name])} == {ENGINE}
    assert all(_named_once(container) for container in found.values())


def _named_once(container: Manifest) -> bool:
    names = [one["name"] for one in container.get("env", ())]
    return len(names) == len(set(names))
