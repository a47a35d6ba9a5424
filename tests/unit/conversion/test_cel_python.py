"""cel-python reads a selector as Modelplane v0.3 did, and never takes long or fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from function import cel
from function.conversion import cel_python, selectors
from function.conversion.selectors import ERROR, REFUSED, NamedDevice

DRIVER = "gpu.nvidia.com"
H100 = cel.Device(
    driver=DRIVER,
    attributes=(
        ("architecture", "Hopper"),
        ("cores", 16896),
        ("ecc", True),
        ("cudaComputeCapability", cel.Version("9.0.0")),
        ("resource.kubernetes.io/pcieRoot", "pci0000:00"),
    ),
    capacity=(("memory", "81559Mi"),),
)
BROKEN = cel.Device(driver=DRIVER, attributes=(("driverVersion", cel.Version("550")),))
VECTORS = json.loads((Path(__file__).parents[2] / "data/cel/vectors.json").read_text())
ATTRIBUTES = f'device.attributes["{DRIVER}"]'
MEMORY = f'device.capacity["{DRIVER}"].memory'


def evaluated(text: str, device: cel.Device = H100) -> str:
    program = cel_python.compiled(text)
    return program.evaluate(device) if program else REFUSED


@pytest.mark.parametrize(
    "text",
    [
        f'device.driver == "{DRIVER}"',
        f'{ATTRIBUTES}.architecture == "Hopper"',
        f"{ATTRIBUTES}.ecc",
        f'{MEMORY}.compareTo(quantity("80Gi")) < 0',
        f'{MEMORY}.isGreaterThan(quantity("40Gi"))',
        f'{MEMORY}.sub(quantity("1559Mi")) == quantity("80000Mi")',
        f'{MEMORY}.add(1).isLessThan(quantity("80Gi"))',
        f"{MEMORY}.isInteger() && {MEMORY}.asInteger() > 0 && {MEMORY}.asApproximateFloat() > 1.0",
        'isQuantity("80Gi") && !isQuantity("80GB") && sign(quantity("-1")) == -1',
        f'{ATTRIBUTES}.cudaComputeCapability.compareTo(semver("8.9.0")) > 0',
        f"{ATTRIBUTES}.cudaComputeCapability.major() == 9 && {ATTRIBUTES}.cudaComputeCapability.minor() == 0",
        'semver("v1", true).patch() == 0 && isSemver("1.0.0") && !isSemver("1")',
        'device.attributes["resource.kubernetes.io"].pcieRoot.startsWith("pci")',
        '!("other.example" in device.attributes)',
        f'{ATTRIBUTES}.architecture.matches("^Ho")',
    ],
)
def test_ordinary_selectors_mean_the_same_to_both(text: str) -> None:
    assert (evaluated(text), str(cel.compiled(text).evaluate(H100))) == ("match", "match")


def test_a_domain_that_is_not_published_is_empty_and_an_id_is_an_error() -> None:
    assert evaluated('device.attributes["other.example"].size() == 0') == "match"
    assert evaluated(f'{ATTRIBUTES}.nope == "x"') == ERROR


@pytest.mark.parametrize(
    "text", [f"{ATTRIBUTES}.architecture", f"{MEMORY}.compareTo(1) > 0", 'quantity("80GB") == quantity("1")']
)
def test_what_is_neither_true_nor_false_is_an_error(text: str) -> None:
    assert evaluated(text) == ERROR


def test_every_selector_fails_on_a_device_that_cannot_be_read() -> None:
    assert evaluated(f'device.driver == "{DRIVER}"', BROKEN) == ERROR


def test_an_evaluation_without_end_is_an_error() -> None:
    ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    loops = "".join(f"{ten}.all({name}, " for name in "abcdefgh")

    assert evaluated(f"{loops}true{')' * 8}") == ERROR


def test_a_pattern_that_is_none_is_an_error_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    assert evaluated('device.driver.matches("[")') == ERROR
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_no_selector_makes_it_raise(case: dict) -> None:
    device = cel.Device(
        driver=case["device"]["driver"],
        attributes=tuple((k, cel.attribute(v)) for k, v in case["device"].get("attributes", {}).items()),
        capacity=tuple((k, str(v["value"])) for k, v in case["device"].get("capacity", {}).items()),
    )

    [reading] = selectors.read(case["expression"], [NamedDevice("gpu", device)])

    said = {"match": "match", "nomatch": "no match", "runtime_error": ERROR, "compile_error": REFUSED}
    assert reading.kubernetes == said[case["expect"]]
    assert reading.cel_python in said.values()


@pytest.mark.parametrize(
    ("text", "kubernetes", "theirs"),
    [
        (f'has(device.attributes["{DRIVER}"])', REFUSED, "match"),
        (f"{MEMORY}.sign() > 0", REFUSED, "match"),
        (f"{ATTRIBUTES}.?nope.orValue(true)", "match", REFUSED),
        (f"{ATTRIBUTES}.cores > 16895.5", "match", ERROR),
        (f'{ATTRIBUTES}.architecture.lowerAscii() == "hopper"', "match", ERROR),
        (f"{ATTRIBUTES}.ecc == 1", "no match", "match"),
    ],
)
def test_a_selector_whose_meaning_differs_is_named_with_the_device(text: str, kubernetes: str, theirs: str) -> None:
    devices = [NamedDevice("h100/gpu", H100)]

    found = selectors.differing([text, "true"], devices)

    assert {text: [(one.device, one.kubernetes, one.cel_python) for one in found[text]]} == {
        text: [("h100/gpu", kubernetes, theirs)]
    }
    assert list(found) == [text]


@pytest.mark.slow
def test_the_server_and_the_other_commands_do_not_load_cel_python() -> None:
    """The program's modules, with those that its functions import, but for the two commands that compare."""
    program = (
        "import sys, function.server.process, function.cli.serve, function.cli.plan, function.cli.validate;"
        " import function.cli.cel, function.cli.convert; print('celpy' in sys.modules)"
    )

    got = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert got.stdout == "False\n"
