"""What docs/clouds.md says that each cloud can do is what its source declares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from function import clouds
from function.clouds import Source
from function.main import main
from tests.support import cloud_samples

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/clouds.md").read_text()
SOURCES = [source for source in clouds.BY_NAME.values() if source.provisioner]


def table() -> dict[str, dict[str, str]]:
    """The cells of the table by row and cloud."""
    text = PAGE.partition("### What each cloud can do\n")[2].partition("\n\nA minimum")[0].strip()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def can(*, does: bool) -> str:
    return "yes" if does else "no"


def section(source: Source) -> str:
    return PAGE.partition(f"\n## {source.name}\n")[2].partition("\n## ")[0]


def test_every_cloud_has_a_section_and_a_column() -> None:
    assert all(section(source) for source in SOURCES)
    assert {*table()["`zones` of a pool"]} == {source.name for source in SOURCES} == {*cloud_samples.SAMPLES} - {"Toy"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_the_table_says_what_the_source_can_do(source: Source) -> None:
    assert source.provisioner
    said = {row: cells[source.name] for row, cells in table().items()}

    assert said["least `minNodeCount`, and its default"] == ("0" if source.provisioner.scales_from_zero else "1")
    assert said["`zones` of a pool"] == can(does=source.zones)
    assert said["`capacityBlock`"] == can(does=source.capacity_blocks)
    assert said["`fabric.type`"] == (", ".join(f"`{name}`" for name in sorted(source.fabrics)) or "none")
    assert (said["ModelCaches"] == "no") == bool(source.no_storage)
    assert said["`servingStack.gateway.internal`"] == can(does=source.internal_load_balancer is not None)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_section_tells_all_that_a_platform_team_must_know(source: Source) -> None:
    headings = re.findall(r"^### (.*)$", section(source), re.MULTILINE)

    assert headings == [
        "What is made", "What it needs", "Options", "What it costs while idle", "Delete it", "What it cannot do"
    ]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_option_of_the_block_is_described(source: Source) -> None:
    """Credentials are the same in every cloud, and described once."""
    fields = {*source.cluster.model_fields} - {"credentials"}

    assert {field for field in fields if f"`{source.block}.{field}" not in section(source)} == set()


def test_the_tour_of_clouds_shows_what_validate_says(tmp_path: Path) -> None:
    """Of clusters with zones of another region and a smaller minimum."""
    tour = ROOT / "examples/clouds/tour"
    clusters = (tour / "clusters.yaml").read_text()
    edits = {"    zones: [us-east-1a]": "    zones: [us-west-2a]", "minNodeCount: 1": "minNodeCount: 0"}
    for before, after in edits.items():
        assert before in clusters
        clusters = clusters.replace(before, after, 1)
    (tmp_path / "clusters.yaml").write_text(clusters)
    (tmp_path / "classes.yaml").write_text((tour / "classes.yaml").read_text())
    shown = (ROOT / "examples/clouds/README.md").read_text().partition("```text\n")[2].partition("```")[0]

    said = CliRunner().invoke(main, ["validate", str(tmp_path)]).stdout.replace(f"{tmp_path}/", "")
    assert shown.splitlines() == said.splitlines()[:2]
