"""`modelplane schema`: JSON Schemas that accept what the API server accepts, as far as JSON Schema can tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result
from referencing import Registry, Resource

from function.cli import files
from function.main import main
from function.publish.catalog import BY_KIND, KINDS, Kind

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
POD = {"containers": [{"name": "engine", "image": "vllm:v1"}]}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelDeployment",
    "metadata": {"name": "a"},
    "spec": {"engines": [{"name": "vllm", "members": [{"role": "Standalone", "template": {"spec": POD}}]}]},
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["schema", *arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schemas") / "new"
    got = run("--all", "--to", str(folder))
    assert got.exit_code == 0, got.stderr
    return folder


@pytest.fixture(scope="module")
def validator(folder: Path) -> jsonschema.Draft7Validator:
    """Of files with objects of any kind: it refers to the other files, as an editor reads them."""
    contents = {path.name: json.loads(path.read_text()) for path in folder.iterdir()}
    registry: Registry[Any] = Registry()
    registry = registry.with_resources((name, Resource.from_contents(one)) for name, one in contents.items())
    return jsonschema.Draft7Validator(contents["modelplane.json"], registry=registry)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_schema_is_one(kind: Kind, folder: Path) -> None:
    written = json.loads((folder / f"{kind.kind.lower()}.json").read_text())

    jsonschema.Draft7Validator.check_schema(written)
    printed = [json.loads(run(name).stdout) for name in (kind.kind, kind.plural, *kind.short_names, kind.kind.upper())]
    assert printed == [written] * len(printed)


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    loaded, _ = files.examine([str(EXAMPLES)])
    for one in loaded:
        if one.kind in BY_KIND:
            yield f"{Path(one.source.file).relative_to(EXAMPLES)}:{one.source.line}", dict(one.manifest)


@pytest.mark.parametrize(
    ("place", "manifest"), list(objects()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_example_is_accepted(place: str, manifest: dict[str, Any], validator: jsonschema.Draft7Validator) -> None:
    assert [f"{place}: {error.json_path}: {error.message}" for error in validator.iter_errors(manifest)] == []


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({"spce": {}}, "$"),
        ({"spec": {"replcas": 1}}, "$.spec"),
        ({"spec": {**DEPLOYMENT["spec"], "replicas": "one"}}, "$.spec.replicas"),
        ({"metadata": {}}, "$.metadata"),
        ({"spec": None}, "$.spec"),
    ],
)
def test_a_fault_is_found_where_it_is(edit: dict[str, Any], path: str, validator: jsonschema.Draft7Validator) -> None:
    found = [error.json_path for error in validator.iter_errors({**DEPLOYMENT, **edit})]

    assert path in found
    assert not list(validator.iter_errors(DEPLOYMENT))


def test_other_objects_pass(validator: jsonschema.Draft7Validator) -> None:
    assert not list(validator.iter_errors({"apiVersion": "v1", "kind": "Secret", "anything": 1}))


def test_a_schema_may_be_yaml() -> None:
    assert yaml.safe_load(run("md", "-o", "yaml").stdout) == json.loads(run("md").stdout)


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        (["ModelDeploymnt"], "ModelDeploymnt is no kind of Modelplane; did you mean ModelDeployment?"),
        (["modelservics"], "modelservics is no kind of Modelplane; did you mean ModelService?"),
        (["qqq"], "qqq is no kind of Modelplane; known: AKSCluster, EKSCluster, "),
        ([], "use either KIND, such as ModelDeployment, or --all with --to DIR"),
        (["--all"], "use either KIND"),
        (["md", "--to", "x"], "use either KIND"),
        (["md", "--all", "--to", "x"], "use either KIND"),
    ],
)
def test_a_wrong_call_says_what_is_right(arguments: list[str], want: str) -> None:
    got = run(*arguments)

    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.splitlines()[-1].startswith(f"Error: {want}")


def test_a_folder_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    got = run("--all", "--to", str(tmp_path / "file/in"))

    assert (got.exit_code, got.stderr) == (1, f"Error: {tmp_path}/file/in: cannot be written: Not a directory\n")
