"""A replica has a spec in whatever form an earlier version wrote it, or an API server filled it in."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from function.api import modeldeployment
from function.kinds.modeldeployment import rendering
from function.kinds.modeldeployment.decide import spec_hash

CONTAINER = {
    "name": "engine",
    "image": "vllm/vllm-openai:v0.23.0",
    "args": ["--model=m"],
    "env": [{"name": "LEVEL", "value": "info"}, {"name": "EMPTY", "value": ""}],
    "resources": {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"cpu": "16"}},
    "readinessProbe": {"httpGet": {"path": "/", "port": 8000}},
}
ENGINE = {
    "name": "vllm",
    "members": [{"nodePoolName": "l4", "template": {"spec": {"containers": [CONTAINER]}}}],
}
SPEC: dict[str, Any] = {"clusterName": "east", "engines": [ENGINE]}


def written(
    container: Any = None, member: Any = None, engine: Any = None, pod: Any = None, **spec: Any
) -> dict[str, Any]:
    """The spec of a replica in another form."""
    found = deepcopy(SPEC)
    [one] = found["engines"]
    [only] = one["members"]
    only["template"]["spec"]["containers"][0] |= container or {}
    only |= member or {}
    one |= engine or {}
    return {**found, **spec}


SAME = {
    "as it is": written(),
    "a number of cores": written({"resources": {"requests": {"cpu": 8, "memory": "64Gi"}, "limits": {"cpu": 16}}}),
    "null": written({"command": None, "lifecycle": None}),
    "empty lists": written({"command": [], "ports": []}),
    "the level of Pod Security that its cluster had": written(podSecurity="restricted"),
    "defaults of the API": written(member={"role": "Standalone"}, engine={"copies": 1}, serving={"mode": "Unified"}),
}
OTHER = {
    "image": written({"image": "vllm/vllm-openai:v0.24.0"}),
    "an argument": written({"args": ["--model=n"]}),
    "the order of arguments": written({"args": ["--model=m", "--x"]}),
    "a value that is empty": written({"env": [{"name": "LEVEL", "value": "info"}]}),
    "an amount": written({"resources": {"requests": {"cpu": "9", "memory": "64Gi"}, "limits": {"cpu": "16"}}}),
    "copies": written(engine={"copies": 2}),
    "pool": written(member={"nodePoolName": "h100"}),
}


@pytest.mark.parametrize("form", SAME)
def test_the_same_spec_in_another_form(form: str) -> None:
    assert rendering.has_spec({"spec": SAME[form]}, SPEC)
    assert rendering.has_spec({"spec": SPEC}, SAME[form])


@pytest.mark.parametrize("difference", OTHER)
def test_another_spec(difference: str) -> None:
    assert not rendering.has_spec({"spec": OTHER[difference]}, SPEC)


@pytest.mark.parametrize("spoilt", [None, 7, {}, {"engines": 7}, {"clusterName": "east", "engines": [{}]}])
def test_what_cannot_be_read_is_another_spec(spoilt: Any) -> None:
    assert not rendering.has_spec({"spec": spoilt}, SPEC)


def _deployment(container: dict[str, Any]) -> modeldeployment.Spec:
    devices = [{"name": "gpu", "selectors": [{"cel": "true"}]}]
    template = {"spec": {"containers": [{**CONTAINER, **container}]}}
    member = {"nodeSelector": {"devices": devices}, "template": template}
    return modeldeployment.parse({"metadata": {}, "spec": {"engines": [{"name": "vllm", "members": [member]}]}})


@pytest.mark.parametrize(
    "form",
    [
        {"resources": {"requests": {"cpu": 8, "memory": "64Gi"}, "limits": {"cpu": 16}}},
        {"command": None, "lifecycle": None},
        {"command": [], "ports": []},
    ],
)
def test_the_hash_of_a_spec_does_not_depend_on_its_form(form: dict[str, Any]) -> None:
    assert spec_hash(_deployment(form)) == spec_hash(_deployment({}))
