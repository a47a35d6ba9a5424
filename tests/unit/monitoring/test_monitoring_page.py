"""docs/monitoring.md tells every metric as it is exported, and probes and files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from function.probes import LIVE, READY
from function.server import grpc_server
from tests.support import exported

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/monitoring.md").read_text()


def rows(heading: str) -> list[str]:
    """The rows about metrics of a section."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\| `modelplane_.*$", section, re.MULTILINE)


def test_every_metric_of_the_server_is_told() -> None:
    assert rows("Collect metrics") == exported.rows_of_server()


def test_every_metric_of_objects_is_told() -> None:
    assert rows("Metrics of objects") == exported.rows_of_objects()


def test_probes_lead_to_the_port_of_the_image() -> None:
    (config,) = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]
    (container,) = config["spec"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"]

    probes = {name: probe["httpGet"] for name, probe in container.items() if name.endswith("Probe")}
    assert probes == {
        "livenessProbe": {"path": LIVE, "port": grpc_server.HTTP_PORT},
        "readinessProbe": {"path": READY, "port": grpc_server.HTTP_PORT},
    }
    assert f"HTTP_ADDRESS=:{grpc_server.HTTP_PORT}" in (ROOT / "Dockerfile").read_text()


def test_every_file_is_told() -> None:
    files = {path.name for path in (ROOT / "package/monitoring").iterdir()}

    assert files == set(re.findall(r"package/monitoring/([\w.-]+)", TEXT))
