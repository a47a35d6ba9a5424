"""Every kind has an example in the reference: a fleet that is valid and serves, and what Modelplane composes of it.

UPDATE_GOLDEN=1 writes the examples of the kinds that only Modelplane writes.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import pytest
import yaml

from function import clouds, validation
from function.cli import yaml_text
from function.cli.files import Loaded, load, parse
from function.cli.fleet import settled
from function.core import Manifest, dig
from function.planning.control_plane import ControlPlane
from function.publish import examples
from function.publish.catalog import KINDS, Kind
from function.schema import Audience
from tests.support import cloud_samples

UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
COMPOSED = [kind for kind in KINDS if kind.audience is Audience.INTERNAL]
WRITTEN = [kind for kind in KINDS if kind not in COMPOSED]
_HEAD = "# Composed by Modelplane for {kind} {name}, without conditions. Do not write one yourself.\n"


def test_every_kind_has_an_example_and_every_example_a_kind() -> None:
    got = {path.name for path in examples.FOLDER.glob("*.yaml")}

    assert got == {examples.path(kind).name for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_the_example_is_one_object_of_its_kind(kind: Kind) -> None:
    [one] = yaml.safe_load_all(examples.text(kind))

    assert (one["apiVersion"], one["kind"]) == (kind.api_version, kind.kind)


def test_the_examples_of_users_are_valid_together() -> None:
    """Secrets are not shown in them."""
    findings = validation.validate([one.manifest for one in fleet()])

    assert [f.message for f in findings if "but no Secret is given" not in f.message] == []


def test_the_examples_of_users_are_a_fleet_that_serves() -> None:
    conditions = {
        (one["kind"], condition["type"]): condition["status"]
        for one in control().store.all()
        if one["apiVersion"].endswith("modelplane.ai/v1alpha1")
        for condition in dig(one, "status", "conditions") or ()
    }

    assert conditions
    assert {who for who, status in conditions.items() if status != "True"} == set()


@pytest.mark.parametrize("kind", COMPOSED, ids=lambda kind: kind.kind)
def test_the_example_of_a_composed_kind_is_what_modelplane_composes(kind: Kind) -> None:
    want = composed(kind)
    if UPDATE:
        examples.path(kind).write_text(want)

    assert examples.text(kind) == want


def fleet() -> list[Loaded]:
    return [one for kind in WRITTEN for one in load([examples.path(kind)])]


@cache
def control() -> ControlPlane:
    return settled(fleet())


@cache
def in_clouds() -> ControlPlane:
    """A cluster of each cloud."""
    sources = [source for source in clouds.SOURCES if source.provisioner]
    manifests = [
        manifest
        for source in sources
        for manifest in (
            cloud_samples.inference_class(source),
            cloud_samples.inference_cluster(source, source.block, {"name": "gpu", "nodeCount": 1}),
        )
    ]
    return settled(parse(yaml.safe_dump_all(manifests), "clusters.yaml"))


def composed(kind: Kind) -> str:
    """The example of a kind that Modelplane composes, as YAML."""
    everything: list[Manifest] = [*control().store.all(), *in_clouds().store.all()]
    one = next(one for one in everything if one["kind"] == kind.kind)
    owner = one["metadata"]["ownerReferences"][0]
    shown = {
        "apiVersion": one["apiVersion"],
        "kind": one["kind"],
        "metadata": _metadata(one),
        "spec": {field: value for field, value in one["spec"].items() if field != "crossplane"},
        "status": {field: value for field, value in one["status"].items() if field not in {"conditions", "crossplane"}},
    }
    return _HEAD.format(kind=owner["kind"], name=owner["name"]) + yaml_text.document(shown, is_sorted=False)


def _metadata(one: Manifest) -> dict[str, Any]:
    """What of an object's metadata Modelplane sets."""
    given = one["metadata"]
    owner = {field: given["ownerReferences"][0][field] for field in ("apiVersion", "kind", "name", "controller")}
    return {
        "name": given["name"],
        "namespace": given["namespace"],
        "labels": {key: value for key, value in given["labels"].items() if key.startswith("modelplane.ai/")},
        "ownerReferences": [owner],
    }
