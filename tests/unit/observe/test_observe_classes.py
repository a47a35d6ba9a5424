"""`modelplane class from-cluster` writes classes that Modelplane accepts, and that match the nodes they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from function.api import inferenceclass
from function.main import main
from function.observe import classes, declaration, inventory, observation, shapes
from function.observe.records import DeviceClass
from tests.support.api_server_standin import CORE, DRA, ApiServer, serving
from tests.support.observed import H100, Object, device, gpus, node, pod, resource_slice, snapshot

A100 = {"productName": "NVIDIA A100-SXM4-40GB", "type": "gpu"}
MIG = {"productName": "NVIDIA A100-SXM4-40GB", "type": "mig", "profile": "1g.5gb"}
_IS = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == "
DEVICE_CLASSES = (
    DeviceClass("everything", ()),
    DeviceClass("gpu.nvidia.com", (f"{_IS}'gpu'",)),
    DeviceClass("mig.nvidia.com", (f"{_IS}'mig'",)),
    DeviceClass("broken", ("device.",)),
)


def written(name: str = "", **objects: Any) -> list[classes.Written]:
    found = shapes.shapes(inventory.of(snapshot(**objects)).places.values())
    return classes.written(found, DEVICE_CLASSES, name)


def only(**objects: Any) -> classes.Written:
    (one,) = written(**objects)
    assert one.fault is None
    return one


def of_one_node(devices: list[Object], driver: str = "gpu.nvidia.com", **more: Any) -> classes.Written:
    return only(nodes=[node("a", None, **more)], slices=[resource_slice("a", devices, driver)])


def test_like_devices_are_one_kind_with_their_common_facts() -> None:
    got = of_one_node(gpus(8))

    assert got.manifest["metadata"] == {"name": "nvidia-h100-80gb-hbm3-8x"}
    assert got.manifest["spec"] == {
        "devices": [
            {
                "name": "gpu",
                "driver": "gpu.nvidia.com",
                "deviceClassName": "gpu.nvidia.com",
                "count": 8,
                "attributes": {key: {"string": value} for key, value in sorted(H100.items())},
                "capacity": {"memory": {"value": "80Gi"}},
            }
        ],
        "node": {"cpu": "190", "memory": "1900Gi", "ephemeral-storage": "1000Gi"},
    }
    assert got.notes == ("1 node: a",)


def test_a_node_has_the_least_of_its_shape_without_what_daemon_sets_request() -> None:
    nodes = [node("a", None), node("b", None, allocatable={"cpu": "189", "memory": "1890Gi"})]
    pods = [
        pod("d-a", "a", cpu="1500m", memory="1Gi", owner="DaemonSet"),
        pod("d-b", "b", cpu="500m", memory="2Gi", owner="DaemonSet"),
        pod("foreign", "a", cpu="30"),
    ]

    got = only(nodes=nodes, slices=[resource_slice(name, gpus(8)) for name in "ab"], pods=pods)

    assert got.manifest["spec"]["node"] == {"cpu": "187500m", "memory": "1888Gi"}


def test_nodes_of_other_shapes_get_classes_of_their_own() -> None:
    large = {"cpu": "380", "memory": "3800Gi"}
    got = written(
        nodes=[node("a", None), node("b", None), node("c", None, allocatable=large), node("d", None), node("e", None)],
        slices=[
            *(resource_slice(name, gpus(8)) for name in "abc"),
            resource_slice("d", gpus(4)),
            resource_slice("e", gpus(8, "40Gi", A100)),
        ],
    )

    assert [(one.manifest["metadata"]["name"], one.notes[0]) for one in got] == [
        ("nvidia-h100-80gb-hbm3-8x", "2 nodes: a, b"),
        ("nvidia-a100-sxm4-40gb-8x", "1 node: e"),
        ("nvidia-h100-80gb-hbm3-4x", "1 node: d"),
        ("nvidia-h100-80gb-hbm3-8x-2", "1 node: c"),
    ]
    assert {one.fault for one in got} == {None}


def test_two_kinds_of_gpus_on_one_node_are_two_devices() -> None:
    mixed = [device("gpu-0", {**H100, "uuid": "1"}), device("gpu-1", {**A100, "uuid": "2"}, "40Gi")]

    got = of_one_node(mixed)

    assert [(one["name"], one["count"]) for one in got.manifest["spec"]["devices"]] == [
        ("gpu-nvidia-a100-sxm4-40gb", 1),
        ("gpu-nvidia-h100-80gb-hbm3", 1),
    ]
    assert got.notes[-1].startswith("2 kinds of devices on one node")


def test_partitions_are_told_as_such() -> None:
    got = of_one_node([device(f"m-{i}", {**MIG, "uuid": f"{i}"}, "4864Mi") for i in range(7)])

    assert got.manifest["metadata"]["name"] == "nvidia-a100-sxm4-40gb-1g-5gb-7x"
    assert got.manifest["spec"]["devices"][0]["deviceClassName"] == "mig.nvidia.com"
    assert got.notes[1].startswith("mig-1g-5gb: partitions of GPUs")


def test_facts_of_single_devices_are_left_out_even_of_a_single_device() -> None:
    own = {"uuid": "GPU-1", "index": {"int": 0}, "resource.kubernetes.io/pcieRoot": "pci0000:00", "pciBusID": "0:1:0"}

    got = of_one_node([device("gpu-0", {**H100, **own})])

    assert set(got.manifest["spec"]["devices"][0]["attributes"]) == set(H100)


def test_a_fact_that_differs_between_devices_is_left_out_and_named() -> None:
    got = of_one_node([device(f"gpu-{i}", {**H100, "firmware": f"{i % 2}"}) for i in range(4)])

    assert "firmware" not in got.manifest["spec"]["devices"][0]["attributes"]
    assert got.notes[1] == "gpu: left out, since it differs between devices: attribute firmware"


def test_a_fact_that_no_class_can_have_is_left_out_and_named() -> None:
    got = of_one_node([device("gpu-0", {**H100, "note": "é" * 40})])

    assert got.notes[1] == "gpu: left out, since a class cannot have it: attribute note"


def test_without_a_matching_device_class_the_driver_is_a_guess() -> None:
    got = of_one_node([device("rdma0", {}, "1")], "dra.net")

    (nic,) = got.manifest["spec"]["devices"]
    assert (nic["name"], nic["deviceClassName"]) == ("nic", "dra.net")
    assert got.notes[1] == "nic: no DeviceClass of the cluster matches its devices; check deviceClassName"


def test_more_devices_than_a_class_can_have_are_told() -> None:
    got = of_one_node(gpus(70))

    assert got.manifest["spec"]["devices"][0]["count"] == 64
    assert got.notes[1] == "gpu: 70 devices on a node, and 64 is the most of a class"


def test_the_nodes_match_the_class_that_they_gave() -> None:
    devices = gpus(8, "81559Mi", {**H100, "cores": {"int": 132}, "ecc": {"bool": True}, "driver": {"version": "5.8.0"}})
    objects = {"nodes": [node("a"), node("b")], "slices": [resource_slice(name, devices) for name in "ab"]}
    spec = only(**objects).manifest["spec"]
    declared = declaration.of({"version": 1, "cluster": "east", "pools": {"h100": {"devices": spec["devices"]}}})

    got = observation.observed(inventory.of(snapshot(**objects)), declared)["pools"]["h100"]

    assert (got["differs"], got["counts"], got["unknown"]) == ([], [], [])
    assert [record["devices"] for record in got["nodes"]] == [{"gpu": 8}]


# The command


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving(ApiServer()) as server:
        server.serve(f"{CORE}/nodes", node("a"), node("b", None, labels={"gpu": "a100"}), node("cpu", None))
        server.serve(f"{DRA}/resourceslices", resource_slice("a", gpus(8)), resource_slice("b", gpus(4, "40Gi", A100)))
        server.serve(f"{DRA}/resourceclaims")
        expressions = {one.name: one.selectors for one in DEVICE_CLASSES}
        server.serve(
            f"{DRA}/deviceclasses",
            *(
                {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": text}} for text in texts]}}
                for name, texts in expressions.items()
            ),
        )
        server.serve(f"{CORE}/pods")
        yield server


def run(api: ApiServer, tmp_path: Path, *arguments: str) -> Result:
    config = str(api.kubeconfig(tmp_path / "config"))
    return CliRunner().invoke(main, ["class", "from-cluster", "--kubeconfig", config, *arguments])


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ([], ["nvidia-a100-sxm4-40gb-4x", "nvidia-h100-80gb-hbm3-8x"]),
        (["--pool", "h100"], ["nvidia-h100-80gb-hbm3-8x"]),
        (["--selector", "gpu=a100"], ["nvidia-a100-sxm4-40gb-4x"]),
        (["--selector", "gpu=a100", "--name", "a100"], ["a100"]),
        (["--name", "all"], ["all-1", "all-2"]),
    ],
)
def test_classes_are_written_that_modelplane_accepts(
    api: ApiServer, tmp_path: Path, arguments: list[str], want: list[str]
) -> None:
    got = run(api, tmp_path, *arguments)

    documents = list(yaml.safe_load_all(got.stdout))
    assert (got.exit_code, got.stderr) == (0, "")
    assert [one["metadata"]["name"] for one in documents] == want
    assert [inferenceclass.parse(one).devices[0].deviceClassName for one in documents] == ["gpu.nvidia.com"] * len(want)


def test_what_could_not_be_read_is_told_beside_the_classes(api: ApiServer, tmp_path: Path) -> None:
    api.refuses[f"{DRA}/deviceclasses"] = 403

    got = run(api, tmp_path, "--pool", "h100")

    assert got.exit_code == 0
    assert got.stderr == f"not read: deviceclasses: forbidden: {DRA}/deviceclasses is refused\n"
    assert "# gpu: no DeviceClass of the cluster matches its devices; check deviceClassName\n" in got.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "want"),
    [
        (["--pool", "none"], 1, "no node publishes devices in ResourceSlices"),
        (["--pool", "h100", "--selector", "a=b"], 2, "Set either --pool or --selector."),
    ],
)
def test_what_leads_to_no_class_is_an_error(
    api: ApiServer, tmp_path: Path, arguments: list[str], code: int, want: str
) -> None:
    got = run(api, tmp_path, *arguments)

    assert (got.exit_code, want in got.output) == (code, True)
