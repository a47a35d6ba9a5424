"""The classes in examples/classes are such that anybody can take them as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from function import clouds, registry
from function.core import Manifest, Request

FOLDER = Path(__file__).parents[4] / "examples" / "classes"
CLASSES: list[Manifest] = [
    manifest for path in sorted(FOLDER.glob("*.yaml")) for manifest in yaml.safe_load_all(path.read_text()) if manifest
]
each_class = pytest.mark.parametrize("manifest", CLASSES, ids=lambda m: m["metadata"]["name"])


@each_class
def test_a_ready_made_class_is_available(manifest: Manifest) -> None:
    result = registry.compose(Request(xr=manifest))

    assert [(c.type, c.status) for c in result.conditions] == [("Accepted", "True")]


@each_class
def test_its_name_tells_the_cloud_and_the_number_of_gpus(manifest: Manifest) -> None:
    cloud, *rest = manifest["metadata"]["name"].split("-")
    gpus = next(d["count"] for d in manifest["spec"]["devices"] if d["name"] == "gpu")

    assert manifest["spec"]["provisioning"]["provider"].lower() == cloud
    assert f"{gpus}x" in rest


def test_no_two_have_one_name_and_every_cloud_has_some() -> None:
    names = Counter(m["metadata"]["name"] for m in CLASSES)

    assert [name for name, count in names.items() if count > 1] == []
    assert {m["spec"]["provisioning"]["provider"] for m in CLASSES} == {source.name for source in clouds.PROVISIONED}
