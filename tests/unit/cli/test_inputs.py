"""What commands read: nothing is green if nothing was checked, and what is not Modelplane's is skipped and counted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.main import main

ENDPOINT = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: outside, namespace: ml-team}
spec: {url: "https://api.example.org"}
"""
FOREIGN = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
EXPECTED = "expected YAML or JSON with objects of modelplane.ai/v1alpha1, such as a ModelDeployment"


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


# Nothing of ours

COMMANDS = (("plan", "-"), ("what-if", "-", "--drain", "a"), ("explain", "-", "md/a/b"), ("validate", "-"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("stdin", "found"),
    [
        ("", "1 file, which is empty"),
        ("# a comment\n", "1 file, which is empty"),
        ('{"apiVersion": "v1", "kind": "List", "items": []}', "1 file"),
        (f"{FOREIGN}---\n{FOREIGN}", "1 file; skipped: Deployment (2)"),
        ("kind: Secret\napiVersion: v1\nmetadata: {name: a}", "1 file; skipped: Secret (1)"),
        ("a: b", "1 file; skipped: files without Kubernetes objects (1)"),
    ],
)
def test_nothing_of_ours_is_an_error(command: tuple[str, ...], stdin: str, found: str) -> None:
    got = run(*command, stdin=stdin)

    assert (got.exit_code, f"no object of Modelplane in {found}; {EXPECTED}" in got.output) == (1, True), got.output


@pytest.mark.parametrize("form", ["json", "sarif", "github", "text"])
def test_nothing_to_validate_is_an_error_in_every_format(form: str) -> None:
    got = run("validate", "-", "--format", form, stdin=FOREIGN)

    if form in ("json", "sarif"):
        json.loads(got.output)
    assert (got.exit_code, "no object of Modelplane in 1 file" in got.output, got.stderr) == (1, True, "")


def test_nothing_to_validate_is_no_error_if_that_is_allowed() -> None:
    """Such as for the changed files of a commit."""
    got = run("validate", "-", "--allow-empty", stdin=FOREIGN)

    assert (got.exit_code, got.output) == (0, "0 objects: 0 errors, 0 warnings; skipped: Deployment (1)\n")


def test_a_broken_file_stays_an_error_where_nothing_is_allowed() -> None:
    assert run("validate", "-", "--allow-empty", stdin="a: [").exit_code == 1


# What is not ours

OTHERS: dict[str, str | bytes] = {
    "crd.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: 5}\n",
    "binary.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {generateName: a-}\ndata: {a: !!binary aGk=}\n",
    "twice.yaml": "apiVersion: v1\nkind: Pod\nkind: Pod\n",
    "list.yaml": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}, 7, null, {a: b}]\n",
    "no-list.yaml": "apiVersion: v1\nkind: List\nitems: 5\n",
    "odd.yaml": "apiVersion: example.org/v1\nkind: Release\nmetadata: {name: a, ownerReferences: [x]}\n",
    "values.yaml": "a: 1\n---\nb: 2\n",
    "mkdocs.yml": "x: !!python/name:os.system 1\n",
    "playbook.yml": "- hosts: all\n  tasks: []\n",
    "tsconfig.json": '{ // a comment\n "a": [1,],\n}\n',
    "package.json": '{"name": "a"}',
    "array.json": "[1, 2]",
    "latin.yaml": b"a: \xfc\n",
    "utf16.yaml": "a: b".encode("utf-16"),
    "nul.yaml": b"\0\0",
    "broken.yaml": "a: [\n",
    "numbers.yaml": f"apiVersion: 1\nkind: 2\na: {'9' * 6000}\n",
    "text.yaml": "just a text",
    "empty.yaml": "",
    ".github/workflows/ci.yaml": "a: [",
    "node_modules/x/y.yaml": "a: [",
}


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_what_is_not_ours_is_skipped_and_counted(tmp_path: Path, command: str) -> None:
    write(tmp_path, {**OTHERS, "ours.yaml": ENDPOINT})

    got = run(command, str(tmp_path))

    skipped = (
        "Pod (2), CustomResourceDefinition (1), List (1), Release (1), Secret (1),"
        f" files without Kubernetes objects (7), files that are not valid YAML (5, such as {tmp_path}/broken.yaml:2:1)"
    )
    assert (got.exit_code, f"skipped: {skipped}\n" in got.output) == (0, True), got.output


def test_programs_get_the_counts(tmp_path: Path) -> None:
    write(tmp_path, {**OTHERS, "ours.yaml": ENDPOINT})

    got = json.loads(run("validate", str(tmp_path), "-o", "json").output)

    kinds = {"CustomResourceDefinition": 1, "List": 1, "Pod": 2, "Release": 1, "Secret": 1}
    assert got["skipped"].pop("notYAML")[0] == f"{tmp_path}/broken.yaml:2:1: a value is missing here"
    want = {"kinds": kinds, "notKubernetes": 7, "excluded": 0, "templates": 0, "patches": 0, "notes": []}
    assert (got["objects"], got["skipped"]) == (1, want)


def test_a_plan_for_programs_has_them_too(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": FOREIGN, "ours.yaml": ENDPOINT})

    got, without = (run("plan", str(tmp_path / name), "-o", "json") for name in ("", "ours.yaml"))

    assert (json.loads(got.stdout)["skipped"]["kinds"], got.stderr) == ({"Deployment": 1}, "skipped: Deployment (1)\n")
    assert ("skipped" in json.loads(without.stdout), without.stderr) == (False, "")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("apiVersion: modelplane.ai/v1alpha1\nkind: [\n", "a value is missing here"),
        ("apiVersion: modelplane.ai/v1alpha1\nkind: ModelCache\nmetadata: {}\n", "metadata is missing"),
        ("kind: ModelCache\nmetadata: {name: a}\n", "apiVersion is missing"),
        ("apiVersion: modelplane.ai/v1alpha1\nmetadata: {name: a}\n", "kind is missing"),
        ("apiVersion: modelplane.ai/v1alpha1\nkind: A\nkind: B\n", 'field "kind" appears twice'),
        ("apiVersion: v1\nkind: List\nitems: [{kind: ModelCache, metadata: {name: a}}]\n", "apiVersion is missing"),
        ("apiVersion: modelplane.ai/v1alpha1\nkind: ModelCach\nmetadata: {name: a}\n", "did you mean ModelCache?"),
        (
            "apiVersion: modelplan.ai/v1alpha1\nkind: ModelCache\nmetadata: {name: a}\n",
            "must be modelplane.ai/v1alpha1",
        ),
        ("apiVersion: modelplane.ai/v1alpha1\nx: !!python/name:os 1\n", "has no meaning in a manifest"),
    ],
)
def test_what_is_meant_as_ours_and_broken_is_an_error(tmp_path: Path, text: str, want: str) -> None:
    write(tmp_path, {"a.yaml": text})

    got = run("validate", str(tmp_path))

    assert (got.exit_code, want in got.output) == (1, True), got.output


def test_a_broken_file_that_is_named_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "a: [\n", "values.yaml": "a: b\n", "ours.yaml": ENDPOINT})

    got = run("validate", *(str(tmp_path / name) for name in ("a.yaml", "values.yaml", "ours.yaml")))

    want = f"{tmp_path}/a.yaml:2:1: error: a value is missing here [unreadable]\n"
    assert (got.exit_code, got.output.startswith(want)) == (1, True), got.output


def test_one_foreign_object_in_two_folders_is_no_fault(tmp_path: Path) -> None:
    write(tmp_path, {"dev/a.yaml": FOREIGN, "prod/a.yaml": FOREIGN, "ours.yaml": ENDPOINT})

    assert [run(command, str(tmp_path)).exit_code for command in ("plan", "validate")] == [0, 0]


def test_no_value_of_a_secret_is_shown(tmp_path: Path) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: hunter2}\n"
    write(tmp_path, {"a.yaml": secret, "b.yaml": f"{secret}  b: hunter2: x\n", "c.yaml": ENDPOINT})

    got = [run("validate", str(tmp_path), "-o", form).output for form in ("text", "json", "sarif", "github")]
    named = run("validate", str(tmp_path / "b.yaml"))

    assert ("hunter2" in "".join(got), "hunter2" in named.output, named.exit_code) == (False, False, 1)


# Paths


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("fleat/a.yaml", "no such file or folder; did you mean {}/fleet?"),
        ("fleet/b.yaml", "no such file or folder; did you mean {}/fleet/a.yaml?"),
        ("fleet/zzz", "no such file or folder"),
        ("fleet/a.yaml/b", "no such file or folder; did you mean {}/fleet/a.yaml?"),
        ("loop", "a link that leads back to itself"),
        ("dangling", "a link to nowhere, which does not exist"),
        ("a\0b", "not a path: it contains a NUL character"),
        ("../../../../../../../../dev/zero", "a device, not a file"),
    ],
)
def test_a_path_that_cannot_be_read_says_why(tmp_path: Path, path: str, want: str) -> None:
    write(tmp_path, {"fleet/a.yaml": ENDPOINT})
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")

    got = run("validate", f"{tmp_path}/{path}")

    assert (got.exit_code, f"error: {want.format(tmp_path)} [unreadable]\n" in got.output) == (1, True), got.output


def test_links_and_pipes_in_a_folder_stop_nothing(tmp_path: Path) -> None:
    """A link to a folder is not followed, so a loop is none; a pipe is no file. A link to nothing is a fault."""
    write(tmp_path, {"fleet/a.yaml": ENDPOINT})
    (tmp_path / "fleet/up").symlink_to("..")
    (tmp_path / "fleet/again.yaml").symlink_to("a.yaml")
    os.mkfifo(tmp_path / "fleet/pipe.yaml")
    sound = run("validate", str(tmp_path))
    (tmp_path / "fleet/loop.yaml").symlink_to("loop.yaml")

    assert (sound.exit_code, sound.output) == (0, "1 object: 0 errors, 0 warnings\n")
    assert "loop.yaml:1:1: error: a link that leads back to itself" in run("validate", str(tmp_path)).output


def test_an_unreadable_folder_or_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user who is not root."""
    write(tmp_path, {"fleet/a.yaml": ENDPOINT, "closed/b.yaml": ENDPOINT, "c.yaml": ENDPOINT})
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    def checked(descriptor: int, file: str) -> None:
        if file.endswith("c.yaml"):
            raise PermissionError(13, "Permission denied", file)

    monkeypatch.setattr(os, "scandir", refusing)
    monkeypatch.setattr("function.cli.content._check_device", checked)

    got = run("validate", str(tmp_path))

    want = [f"{tmp_path}/{name}:1:1: error: cannot be read: Permission denied" for name in ("c.yaml", "closed")]
    errors = [line.removesuffix(" [unreadable]") for line in got.output.splitlines() if ": error: " in line]
    assert (got.exit_code, errors) == (1, want)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_name_that_is_not_utf_8_is_escaped(tmp_path: Path, form: str) -> None:
    (tmp_path / os.fsdecode(b"a\xff.yaml")).write_text("apiVersion: modelplane.ai/v1alpha1\n")

    for path in (str(tmp_path), os.fsdecode(b"gone\xff.yaml")):
        got = run("validate", path, "-o", form)

        shown = got.output.replace("\\\\", "\\").replace("%5C", "\\")  # in JSON, and in a URI
        assert (got.exit_code, "\\xff.yaml" in shown) == (1, True), got.output
