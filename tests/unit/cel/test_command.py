"""`modelplane cel` tells people and machines the same."""

import json

import pytest
from click.testing import CliRunner

from function.cli.cel import cel as command

CLASS = """
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: h100}
spec:
  devices:
  - {name: gpu, driver: gpu.nvidia.com, attributes: {architecture: {string: Hopper}}, capacity: {memory: {value: 80Gi}}}
  - {name: nic, driver: nic.nvidia.com}
"""
SLICE = """
apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata: {name: node-1}
  spec:
    driver: gpu.nvidia.com
    devices:
    - {name: gpu-0, attributes: {driverVersion: {version: 550.54.15}}}
    - {name: gpu-1, attributes: {driverVersion: {version: "550"}}}
"""
COUNTS = "counts 200 of the 100,000 units that all selectors of a deployment can cost"


def run(*arguments, stdin=None):
    return CliRunner().invoke(command, [*arguments], input=stdin)


def test_a_valid_selector_is_told_with_its_cost():
    got = run("check", 'device.driver == "a"')
    assert (got.exit_code, got.output) == (0, f"valid; costs at most 3 of 1,000,000 units per evaluation; {COUNTS}\n")


def test_what_it_counts_among_the_selectors_of_a_deployment_is_told_to_machines():
    got = json.loads(run("check", "--json", "lists.range(9000).all(x, x >= 0)").output)
    assert (got["cost"], got["together"]) == (54_012, {"counts": 20_000, "limit": 100_000})


def test_what_fails_on_every_device_is_a_warning():
    """Kubernetes accepts it: a call is evaluated on devices only, and there it fails."""
    text = 'device.driver == "a" && quantity("80GB").isInteger()'
    problem = '"80GB" is no quantity: a number is wanted with a suffix such as Gi, M, m or e3'
    problem += ", so it fails on every device"
    want = f"valid; costs at most 5 of 1,000,000 units per evaluation; {COUNTS}\n"
    want += f"warning: line 1, column 25: {problem}\n  {text}\n  {' ' * 24}^\n"
    assert (run("check", text).exit_code, run("check", text).output) == (0, want)
    got = json.loads(run("check", "--json", text).output)["warnings"]
    assert got == [{"problem": problem, "position": 24, "line": 1, "column": 25}]


def test_an_expression_may_begin_with_a_minus():
    assert run("check", "-1 < 2").exit_code == 0
    assert run("eval", "-(1) < 2", "--device", "-", stdin="{driver: a}").output == "-  match\n"


def test_an_invalid_selector_is_shown_with_a_mark_below_the_place():
    got = run("check", "-", stdin='true\n  && devices.driver == "a"')
    want = 'line 2, column 6: undeclared reference "devices"; did you mean "device"?\n'
    want += '    && devices.driver == "a"\n       ^\n'
    assert (got.exit_code, got.output) == (1, want)


def test_a_machine_gets_the_same_as_fields():
    got = run("check", "--json", 'device.drivr == "a"')
    want = {
        "valid": False, "problem": 'a device has no field "drivr"', "position": 7, "line": 1, "column": 8,
        "suggestion": '"driver"',
    }  # fmt: skip
    assert (got.exit_code, json.loads(got.output)) == (1, want)


@pytest.mark.parametrize(
    ("text", "code", "want"),
    [
        ('device.driver == "gpu.nvidia.com"', 0, ["match", "no match"]),
        ('device.driver == "x"', 1, ["no match", "no match"]),
        ('device.attributes["gpu.nvidia.com"].architecture == "Hopper"', 0, ["match", "error"]),
    ],
)
def test_each_device_of_a_class_has_its_outcome(tmp_path, text, code, want):
    file = tmp_path / "class.yaml"
    file.write_text(CLASS)
    got = run("eval", text, "--class", str(file), "--json")
    assert (got.exit_code, [one["outcome"] for one in json.loads(got.output)]) == (code, want)


def test_devices_of_a_cluster_are_read_as_kubectl_prints_them():
    got = run("eval", 'device.driver == "gpu.nvidia.com"', "--device", "-", stdin=SLICE)
    want = "node-1/gpu-0  match\n"
    want += (
        'node-1/gpu-1  attribute driverVersion: "550" is no semantic version: three numbers are wanted, as in 1.2.3\n'
    )
    assert (got.exit_code, got.output) == (0, want)


def test_a_selector_that_does_not_compile_is_no_mismatch(tmp_path):
    file = tmp_path / "class.yaml"
    file.write_text(CLASS)
    assert run("eval", "device.x", "--class", str(file)).exit_code == 2
    assert run("eval", "true", "--class", str(tmp_path / "missing.yaml")).exit_code == 2


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("{driver: a, attributes: [1]}", "-: attributes must be a map"),
        ("{driver: a, attributes: {x: 5}}", "-: attribute x must have exactly one of string, version, bool and int"),
        ("{driver: a, capacity: {m: {}}}", "-: capacity m must have a value, such as 80Gi"),
        ("{driver: 5}", "-: driver is missing"),
        ("5", "-: not a device: 5"),
        ("{items: 5}", "-: not a device: 5"),
        (
            "{kind: ResourceSlice, metadata: {name: n}, spec: {devices: x}}",
            "-: spec.devices of n must be a list of devices",
        ),
        ("a: [", "<stdin>:2:1: a value is missing here"),
    ],
)
def test_what_is_no_device_says_what_is_wrong_with_it(text, want):
    got = run("eval", "true", "--device", "-", stdin=f"{text}\n")
    assert (got.exit_code, got.stdout, got.stderr) == (2, "", f"Error: {want}\n")


def test_a_class_of_another_shape_says_so():
    text = CLASS.partition("  devices:")[0] + "  devices: none\n"
    got = run("eval", "true", "--class", "-", stdin=text)
    assert (got.exit_code, got.stderr) == (2, "Error: <stdin>: spec.devices must be a list of devices\n")


def test_devices_may_stand_in_a_folder(tmp_path):
    (tmp_path / "a.yaml").write_text("{name: a, driver: a}")
    (tmp_path / "b.json").write_text('{"name": "b", "driver": "b"}')
    got = run("eval", "device.driver == 'b'", "--device", str(tmp_path))
    assert (got.exit_code, got.output) == (0, "a  no match\nb  match\n")


@pytest.mark.slow
def test_a_comparison_marks_the_devices_on_which_cel_python_reads_something_else():
    text = 'device.attributes["gpu.nvidia.com"].?architecture.orValue("") == "Hopper"'

    got = run("eval", text, "--class", "-", "--compare", stdin=CLASS)
    same = run("eval", 'device.driver == "gpu.nvidia.com"', "--class", "-", "--compare", "--json", stdin=CLASS)

    assert got.exit_code == 0
    assert got.stdout.splitlines() == [
        "DEVICE    KUBERNETES  CEL-PYTHON",
        "h100/gpu  match       refused     differs",
        "h100/nic  no match    refused     differs",
    ]
    assert json.loads(same.stdout) == [
        {"device": "h100/gpu", "kubernetes": "match", "celPython": "match", "differs": False},
        {"device": "h100/nic", "kubernetes": "no match", "celPython": "no match", "differs": False},
    ]


def test_a_comparison_tells_what_cel_python_makes_of_a_selector_that_kubernetes_refuses():
    text = 'has(device.attributes["gpu.nvidia.com"])'
    refused = (
        "line 1, column 22: has() wants a field, as in has(device.attributes.domain): what is written here is none"
    )

    got = run("eval", text, "--class", "-", "--compare", stdin=CLASS)
    told = run("eval", text, "--class", "-", "--compare", "--json", stdin=CLASS)

    assert (got.exit_code, got.stdout.splitlines()[1]) == (2, "h100/gpu  refused     match       differs")
    assert got.stderr.splitlines()[0] == refused
    first = json.loads(told.stdout)[0]
    assert first == {
        "device": "h100/gpu", "kubernetes": "refused", "celPython": "match", "error": refused, "differs": True,
    }  # fmt: skip
