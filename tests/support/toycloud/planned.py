"""What plans and what-ifs say of InferenceClusters of the toy cloud, told as JSON.

It runs in a tree that has the toy cloud, and nowhere else.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from function.cli import yaml_text
from function.main import main as modelplane
from function.planning import edits, parts, stubs
from function.planning.control_plane import ControlPlane
from function.planning.edits import LoseCluster, ResizePool
from function.planning.reader import Reader
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.support.toycloud.story import MACHINE, class_, cluster

FIRST = {"name": "first", "nodeCount": 2}
SECOND = {"name": "second", "nodeCount": 1, "maxNodeCount": 3}


def made(name: str, *pools: Mapping[str, Any]) -> dict[str, Any]:
    found = cluster(name)
    found["spec"]["nodePools"] = [{"className": "toy", **pool} for pool in pools]
    return found


def deployment(replicas: int) -> dict[str, Any]:
    devices = [{"name": "gpu", "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}]
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "args": ["--model=m"]}
    member = {"nodeSelector": {"devices": devices}, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": "m", "namespace": "ml-team"},
        "spec": {"replicas": replicas, "engines": [{"name": "vllm", "members": [member]}]},
    }


FLEET = [class_("toy", provisioning=MACHINE), made("east", FIRST, SECOND), made("west", FIRST), deployment(3)]
CONFIG = {
    "apiVersion": "toy.m.example.org/v1beta1",
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {
        "credentials": {
            "source": "Secret",
            "secretRef": {"namespace": "modelplane-system", "name": "toy-credentials", "key": "token"},
        }
    },
}
"""Names a Secret that no file contains."""
CHANGES = {
    "removed": made("east", SECOND),
    "stuck": made("east", {**SECOND, "nodeCount": 0, "maxNodeCount": 0}),
    "resized": made("east", FIRST, {**SECOND, "maxNodeCount": 5}),
    "deleted": {**made("west", FIRST), "metadata": {"name": "west", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    "impossible": made("east", FIRST, {**SECOND, "minNodeCount": 0}),
}


def written(folder: Path, name: str, objects: Sequence[Any]) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(yaml_text.documents(objects))
    return str(path)


def run(*arguments: str) -> dict[str, Any]:
    got = CliRunner().invoke(modelplane, list(arguments))
    return {"code": got.exit_code, "text": got.stdout, "errors": got.stderr}


def planned() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fleet = written(folder, "fleet", FLEET)
        changes = {what: written(folder, what, [change]) for what, change in CHANGES.items()}
        return {
            "first": run("plan", fleet),
            "with credentials": run("plan", fleet, written(folder, "credentials", [CONFIG])),
            **{what: run("plan", fleet, "--change", change) for what, change in changes.items()},
            "removed as data": run("plan", fleet, "--change", changes["removed"], "-o", "json"),
            "stuck as data": run("plan", fleet, "--change", changes["stuck"], "-o", "json"),
            "as markdown": run("plan", fleet, "--change", changes["removed"], "-o", "markdown"),
            "what if resized": run("what-if", fleet, "--pool", "east/second=5"),
            "what if resized as markdown": run("what-if", fleet, "--pool", "east/second=5", "-o", "markdown"),
            "what if lost": run("what-if", fleet, "--lose", "west"),
            "what if any is lost": run("what-if", fleet, "--lose", "any"),
            "explained": run("explain", fleet, "ModelDeployment/ml-team/m"),
        }


def dumped() -> dict[str, Any]:
    """The plan of a dump of our kinds, without what clouds had made."""
    control = ControlPlane()
    control.loop.load([*FLEET, *stubs.objects(FLEET)])
    control.loop.settle()
    kinds = ("InferenceClass", "InferenceCluster", "ModelDeployment", "ModelReplica", "ModelEndpoint")
    with tempfile.TemporaryDirectory() as folder:
        fleet = [manifest for manifest in control.store.all() if manifest["kind"] in kinds]
        return run("plan", written(Path(folder), "dump", fleet))


def reads_alike() -> list[bool]:
    """Whether what is read after each edit is the same as everything read anew, and on a copy."""
    control = ControlPlane()
    control.loop.load([*FLEET, *stubs.objects(FLEET)])
    reader = Reader(control.store)
    found = []
    steps = (
        lambda: None,
        lambda: edits.apply(control, ResizePool("east", "second", 5)),
        lambda: control.store.delete(Ref(versions.MODELPLANE, "InferenceCluster", "", "west")),
        lambda: edits.apply(control, LoseCluster("east")),
    )
    for step in steps:
        step()
        control.loop.settle()
        copy = reader.copied(control.store)
        read = reader.read().infrastructure
        found.append(read == copy.read().infrastructure == parts.read(control.store).infrastructure)
    return found


def main() -> None:
    print(json.dumps({**planned(), "dumped": dumped(), "reads alike": reads_alike()}))


if __name__ == "__main__":
    main()
