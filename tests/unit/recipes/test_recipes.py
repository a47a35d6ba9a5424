"""Every recipe is valid, is placed, serves on the embedded control plane, and is composed as it is written down here.

The recipes are the folders of examples/recipes. `composed/NAME.yaml` has what ModelReplicas of a recipe become on their
clusters, and as comments what Modelplane says of them. UPDATE_GOLDEN=1 writes it anew; then read the diff.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from function import validation
from function.cli import yaml_text
from function.cli.files import load
from function.cli.fleet import settled
from function.core import Manifest, dig
from function.planning import parts
from function.planning.control_plane import ControlPlane
from function.vocabulary import labels

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples/recipes"
RECIPES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
COMPOSED = Path(__file__).parent / "composed"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


@cache
def control(name: str) -> ControlPlane:
    return settled(load([FOLDER / name]))


def of_kind(name: str, kind: str) -> list[Manifest]:
    found = [one for one in control(name).store.all() if one["kind"] == kind]
    return sorted(found, key=lambda one: one["metadata"]["name"])


def remote(name: str, replica: str) -> list[Manifest]:
    """What a ModelReplica is on its cluster, by kind and name."""
    owners = ((one, dig(one, "metadata", "ownerReferences", 0)) for one in of_kind(name, "Object"))
    manifests = [
        one["spec"]["forProvider"]["manifest"]
        for one, owner in owners
        if (dig(owner, "kind"), dig(owner, "name")) == ("ModelReplica", replica)
    ]
    return sorted(manifests, key=lambda one: (one["kind"], one["metadata"]["name"]))


def composed(name: str) -> str:
    """The first replica of each deployment. The others differ only in their names."""
    parts, seen = [], set()
    for replica in of_kind(name, "ModelReplica"):
        deployment = replica["metadata"]["labels"][labels.DEPLOYMENT]
        if deployment in seen:
            continue
        seen.add(deployment)
        said = [
            f"# {condition['type']}: {condition['message']}"
            for condition in replica["status"]["conditions"]
            if condition["type"].startswith("Model") and condition.get("message")
        ]
        called = replica["metadata"]["name"]
        where = replica["spec"]["clusterName"]
        parts += [f"# {called} on {where}", *said, yaml_text.documents(remote(name, called)).rstrip()]
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_valid_without_a_warning(name: str) -> None:
    findings = validation.validate([one.manifest for one in load([FOLDER / name])])

    assert [(finding.field, finding.message) for finding in findings] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_every_replica_of_a_recipe_is_placed_and_serves(name: str) -> None:
    planned = parts.read(control(name).store)

    deployments = [(one.name, one.serving, one.why) for one in planned.deployments]
    assert deployments == [(one.name, one.wanted, "") for one in planned.deployments]
    assert deployments
    assert [one.name for one in planned.services if not one.address or one.ready != one.matched] == []
    assert list(planned.problems) == []


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_composed_as_it_is_written_down(name: str) -> None:
    path = COMPOSED / f"{name}.yaml"
    got = composed(name)
    if UPDATE:
        path.write_text(got)

    assert got == path.read_text()


def test_nothing_is_written_down_without_a_recipe() -> None:
    assert sorted(path.stem for path in COMPOSED.glob("*.yaml")) == RECIPES


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_the_version_of_its_images_and_says_what_was_tried(name: str) -> None:
    text = (FOLDER / name / "model.yaml").read_text()
    images = re.findall(r"image: (\S+)", text)

    assert [image for image in images if not re.search(r":[^:/]*\d", image) or image.endswith(":latest")] == []
    assert images
    assert "# Tried: validated, planned and composed offline. No GPU was at hand.\n" in text
    assert all(f"Image: {image}" in text for image in images)


def test_the_page_lists_every_recipe() -> None:
    page = (FOLDER / "README.md").read_text()

    assert re.findall(r"^\| \[([a-z0-9-]+)\]\(\1\)", page, re.MULTILINE) == RECIPES


@pytest.mark.parametrize("name", RECIPES)
def test_the_page_has_the_images_of_a_recipe(name: str) -> None:
    [row] = [line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith(f"| [{name}](")]
    images = {
        dig(c, "image") for one in yaml.safe_load_all((FOLDER / name / "model.yaml").read_text()) for c in engines(one)
    }

    assert [image for image in images if f"`{image}`" not in row] == []


def engines(manifest: Manifest) -> list[Manifest]:
    """The containers of a ModelDeployment."""
    if manifest["kind"] != "ModelDeployment":
        return []
    members = [member for engine in manifest["spec"]["engines"] for member in engine["members"]]
    return [container for member in members for container in member["template"]["spec"]["containers"]]
