"""What is said of a device selector that asks for what no device of the given classes has."""

from __future__ import annotations

import pytest

from function.validation import report
from tests.support.samples import CLASS, DEPLOYMENT, Object, edited

SELECTOR = "spec.engines.0.members.0.nodeSelector.devices.0.selectors"
GPU = 'device.attributes["gpu.nvidia.com"]'
NOBODY = "which no device of the given InferenceClasses has"


def told(text: str, *classes: Object) -> list[tuple[str, str, str]]:
    """Code, message and marked text of what is found in a selector."""
    asked = edited(DEPLOYMENT, SELECTOR, [{"cel": text}])
    found = [one for one in report([asked, *(classes or (CLASS,))]) if one.code.startswith("unknown-")]
    return [(one.code, one.message, text[slice(*(one.span or (0, 0)))]) for one in found]


@pytest.mark.parametrize(
    "text",
    [
        f'{GPU}.architecture == "Hopper"',
        'device.attributes["resource.kubernetes.io"].pcieRoot == "pci0000:10"',
        f"{GPU}.numa == -1 && !{GPU}.mig",
        'device.driver in ["gpu.amd.com", "gpu.nvidia.com"]',
        f'{GPU}.architecture in ["Blackwell", "Hopper"]',
        f'{GPU}.architecture == "Blackwell" || {GPU}.architecture == "Hopper"',
        f'{GPU}.architecture != "Ampere"',
        f'has({GPU}.vendorOnly) && {GPU}.vendorOnly == "x"',
        'device.driver == "gpu.nvidia.com" || device.attributes["tpu.google.com"].generation == "v5e"',
    ],
)
def test_what_a_device_may_have_is_not_told(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "code", "message", "marked"),
    [
        (f'{GPU}.arch == "Hopper"', "unknown-attribute",
         f"reads attribute arch of gpu.nvidia.com, {NOBODY}; did you mean architecture?", "arch"),
        ('device.capacity["gpu.nvidia.com"].memry.compareTo(quantity("1Gi")) > 0', "unknown-attribute",
         f"reads capacity memry of gpu.nvidia.com, {NOBODY}; did you mean memory?", "memry"),
        ('device.attributes["gpu.nvidea.com"].architecture == "Hopper"', "unknown-attribute",
         f"reads attributes of domain gpu.nvidea.com, {NOBODY}; did you mean gpu.nvidia.com?", '"gpu.nvidea.com"'),
        (f'{GPU}.architecture == "Ampere"', "unknown-value",
         f'asks for architecture "Ampere", {NOBODY}; there is "Hopper"', '"Ampere"'),
        (f'{GPU}.architecture in ["hoper", "Ampere"]', "unknown-value",
         f'asks for architecture "hoper", {NOBODY}; did you mean "Hopper"?', '"hoper"'),
        ('device.driver == "tpu.google.com"', "unknown-value",
         f'asks for driver "tpu.google.com", {NOBODY}; there is "dra.net", "gpu.nvidia.com"', '"tpu.google.com"'),
        (f'{GPU}.mig || {GPU}.archtecture == "Hopper"', "unknown-attribute",
         f"reads attribute archtecture of gpu.nvidia.com, {NOBODY}; did you mean architecture?", "archtecture"),
    ],
)  # fmt: skip
def test_what_no_device_has_is_told_where_it_is_written(text: str, code: str, message: str, marked: str) -> None:
    assert told(text) == [(code, message, marked)]


def test_a_domain_is_told_once() -> None:
    text = 'device.attributes["gpu.nvidea.com"].a == "1" && device.attributes["gpu.nvidea.com"].b == "2"'
    assert len(told(text)) == 1


def test_the_devices_of_all_classes_count() -> None:
    ampere = edited(edited(CLASS, "metadata.name", "a100"), "spec.devices.0.attributes.architecture.string", "Ampere")
    assert told(f'{GPU}.architecture == "Ampere"', CLASS, ampere) == []


def test_without_a_class_it_is_not_known() -> None:
    found = [
        one for one in report([edited(DEPLOYMENT, SELECTOR, [{"cel": f'{GPU}.arch == "x"'}])]) if "cel" in one.field
    ]
    assert [(one.severity, one.code) for one in found] == [("note", "unchecked")]


def test_a_selector_that_does_not_compile_is_told_by_its_error_alone() -> None:
    found = [one.code for one in report([edited(DEPLOYMENT, SELECTOR, [{"cel": f"{GPU}.arch =="}]), CLASS])]
    assert [code for code in found if code in ("selector", "unknown-attribute")] == ["selector"]
