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


@pytest.mark.parametrize("template", GOOD.values(), ids=GOOD)
def test_what_kubernetes_accepts_is_accepted(template: Any) -> None:
    assert faults(template) == []


@pytest.mark.parametrize(("template", "want"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_with_field_value_and_what_is_accepted(template: Any, want: str) -> None:
    assert faults(template) == [want]
