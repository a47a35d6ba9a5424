"""What is read of a template: in one form, or refused with the field, its value and what is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from function import podspec
from function.schema import format_path
from tests.support.samples import TEMPLATE
from tests.support.template_cases import BAD, GOOD

IN = "spec.containers.0"


def faults(template: Any) -> list[str]:
    return [f"{format_path(fault.path)}: {fault.message}" for fault in podspec.read(template).faults]


def test_a_full_template_is_sound() -> None:
    reading = podspec.read(TEMPLATE)

    assert (reading.faults, reading.unknown) == ((), ())


def test_a_whole_double_is_repeated_as_the_user_wrote_it() -> None:
    """JSON in protobuf has only doubles."""
    spread = {"maxSkew": 0.0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}

    [fault] = faults({**TEMPLATE, "spec": {**TEMPLATE["spec"], "topologySpreadConstraints": [spread]}})

    assert fault.endswith("not 0")


@pytest.mark.parametrize("template", GOOD.values(), ids=GOOD)
def test_what_kubernetes_accepts_is_accepted(template: Any) -> None:
    assert faults(template) == []


@pytest.mark.parametrize(("template", "want"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_with_field_value_and_what_is_accepted(template: Any, want: str) -> None:
    assert faults(template) == [want]


_HEADERS = {"port": 8000, "httpHeaders": [{"name": "Authorization: hf_secret", "value": "x"}]}
_PASTED: list[dict[str, Any]] = [
    {"env": [{"name": "HF_TOKEN=hf_secret"}]},
    {"env": [{"name": "A=hf_secret"}, {"name": "A=hf_secret"}]},
    {"env": ["HF_TOKEN=hf_secret"]},
    {"envFrom": [{"prefix": "A=hf_secret", "secretRef": {"name": "x"}}]},
    {"readinessProbe": {"httpGet": _HEADERS}},
]


@pytest.mark.parametrize("fields", _PASTED)
def test_a_value_that_stands_in_a_name_is_not_repeated(fields: dict[str, Any]) -> None:
    faults = podspec.read({"spec": {"containers": [{"name": "engine", "image": "a", **fields}]}}).faults
    assert faults
    assert [fault.message for fault in faults if "hf_secret" in fault.message] == []


def test_the_name_before_it_is() -> None:
    container = {"name": "engine", "image": "a", "env": [{"name": "HF_TOKEN=hf_secret"}]}
    [fault] = podspec.read({"spec": {"containers": [container]}}).faults
    assert fault.message.endswith('not "HF_TOKEN=…"')
