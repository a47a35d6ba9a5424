"""`modelplane observe --kubeconfig` prints a cluster that is not in the fleet, and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from function.main import main
from tests.support.api_server_standin import CORE, DRA, ApiServer, serving
from tests.support.observed import claim, gpus, node, pod, resource_slice


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving(ApiServer()) as server:
        server.serve(f"{CORE}/nodes", node("a"), node("b", cordoned=True), node("cpu-1", None))
        server.serve(f"{DRA}/resourceslices", resource_slice("a", gpus(8)), resource_slice("b", gpus(8)))
        server.serve(f"{DRA}/resourceclaims", claim("c", "a", ["gpu-0", "gpu-1"], "llama-0"))
        server.serve(f"{DRA}/deviceclasses")
        server.serve(f"{CORE}/pods", pod("llama-0", "a", "llama"), pod("ds", "a", owner="DaemonSet"))
        yield server


def run(api: ApiServer, tmp_path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["observe", "--kubeconfig", str(api.kubeconfig(tmp_path / "config")), *arguments])


def observed(api: ApiServer, tmp_path: Path) -> dict[str, Any]:
    got = run(api, tmp_path, "-o", "json")
    assert (got.exit_code, got.stderr) == (0, "")
    return dict(json.loads(got.stdout))


def test_nodes_are_shown_by_pool_with_what_holds_their_devices(api: ApiServer, tmp_path: Path) -> None:
    got = observed(api, tmp_path)

    a, b = got["pools"]["h100"]["nodes"]
    assert (a["names"], a["state"], a["devices"], a["ours"]) == (
        ["a"], "Ready", {"gpu": 8}, {"ml-team/llama": {"gpu": 2}},
    )  # fmt: skip
    assert (b["names"], b["state"], b["devices"]) == (["b"], "Cordoned", {"gpu": 8})
    assert got["without"] == 1


def test_nothing_is_written(api: ApiServer, tmp_path: Path) -> None:
    run(api, tmp_path)

    assert {method for method, _, _ in api.requests} == {"GET"}


@pytest.mark.parametrize("path", [f"{DRA}/resourceclaims", f"{CORE}/pods"])
def test_a_forbidden_kind_is_named_and_the_others_are_shown(api: ApiServer, tmp_path: Path, path: str) -> None:
    api.refuses[path] = 403

    got = observed(api, tmp_path)

    plural = path.rpartition("/")[2]
    assert got["missing"] == [f"{plural}: forbidden: {path} is refused"]
    assert got["pools"]["h100"]["nodes"][0]["devices"] == {"gpu": 8}


def test_a_cluster_without_dra_is_shown_with_its_nodes(api: ApiServer, tmp_path: Path) -> None:
    del api.objects[f"{DRA}/resourceslices"]

    got = observed(api, tmp_path)

    assert got["missing"] == [
        "resourceslices: the cluster does not have this API (/apis/resource.k8s.io/v1/resourceslices)"
    ]
    assert [record["devices"] for record in got["pools"]["h100"]["nodes"]] == [{}, {}]


def test_the_table_names_nodes_states_and_holders(api: ApiServer, tmp_path: Path) -> None:
    got = run(api, tmp_path)

    assert got.exit_code == 0
    assert "Pool h100 (2 nodes)" in got.stdout
    assert "2 gpu by ml-team/llama" in got.stdout
    assert "1 node without devices and without a pool" in got.stdout
