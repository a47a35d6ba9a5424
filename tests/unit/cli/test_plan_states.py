"""`modelplane plan BASE --to HEAD` and `--base REV`: stories of pull requests, and dumps of live fleets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from function.cli import files, states, yaml_text
from function.core import plain
from function.main import main
from function.planning import stubs
from function.planning.control_plane import ControlPlane

EXAMPLES = Path(__file__).parents[3] / "examples"
FLEET, DEPLOYMENT = EXAMPLES / "bad-edit/fleet.yaml", EXAMPLES / "tour/deployment.yaml"
NOTHING, ERROR, LOST, CHANGED = 0, 1, 2, 3
GONE = "0 of 0 replicas serve on 0 clusters; 1 gone."


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)], input=stdin)


def told(got: Result) -> tuple[int, str]:
    """The exit code, and the plan in a sentence."""
    return got.exit_code, (got.stdout.splitlines() or [""])[0]


def folder(at: Path) -> Path:
    """A folder with two nodes and a deployment that takes one."""
    at.mkdir(parents=True)
    shutil.copy(FLEET, at / "fleet.yaml")
    shutil.copy(DEPLOYMENT, at / "deployment.yaml")
    return at


def substitute(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@cache
def settled() -> tuple[dict[str, Any], ...]:
    """Everything that is on the control cluster of such a folder."""
    control = ControlPlane()
    manifests = [one.manifest for one in files.load([FLEET, DEPLOYMENT])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return tuple(plain(m) for m in control.store.all())


def live(at: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """A dump of a live fleet, as `kubectl get -o yaml` prints it."""
    objects = plain(list(settled()))
    for found in objects:
        change(found)
    at.write_text(yaml_text.documents([{"apiVersion": "v1", "kind": "List", "items": objects}]))
    return at


# Two folders


def deletes(head: Path) -> None:
    (head / "deployment.yaml").unlink()


def changes_an_image(head: Path) -> None:
    substitute(head / "deployment.yaml", "image: vllm/", "image: mirror.example.org/vllm/")


def moves_to_another_file(head: Path) -> None:
    (head / "teams").mkdir()
    (head / "deployment.yaml").rename(head / "teams/a.yml")


def renames(head: Path) -> None:
    substitute(head / "deployment.yaml", "name: qwen3-8b\n", "name: qwen3-8c\n")


def edits_a_comment(head: Path) -> None:
    (head / "deployment.yaml").write_text("# Why it is there.\n" + (head / "deployment.yaml").read_text())


def states_a_default(head: Path) -> None:
    substitute(head / "deployment.yaml", "  - name: vllm\n", "  - name: vllm\n    copies: 1\n")


def adds_one(head: Path) -> None:
    text = (head / "deployment.yaml").read_text().replace("name: qwen3-8b\n", "name: qwen3-8c\n")
    (head / "another.yaml").write_text(text)


STORIES: Mapping[Callable[[Path], None], tuple[int, str]] = {
    deletes: (LOST, GONE),
    changes_an_image: (CHANGED, "1 of 1 replica serves on 1 cluster; 1 updated."),
    moves_to_another_file: (NOTHING, "1 of 1 replica serves on 1 cluster; no replica changes."),
    renames: (LOST, "1 of 1 replica serves on 1 cluster; 1 new, 1 gone."),
    edits_a_comment: (NOTHING, "1 of 1 replica serves on 1 cluster; no replica changes."),
    states_a_default: (NOTHING, "1 of 1 replica serves on 1 cluster; no replica changes."),
    adds_one: (CHANGED, "2 of 2 replicas serve on 1 cluster; 1 new, 1 kept."),
}
each_story = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)


@each_story
def test_what_differs_between_two_folders_is_planned(tmp_path: Path, story: Callable[[Path], None]) -> None:
    base, head = folder(tmp_path / "base"), folder(tmp_path / "head")
    story(head)

    assert told(run(base, "--to", head)) == STORIES[story]


@pytest.mark.slow
@each_story
def test_a_dump_of_a_live_fleet_is_compared_by_what_users_wrote(tmp_path: Path, story: Callable[[Path], None]) -> None:
    """Its status, its replicas and all that Crossplane composed are no difference."""
    head = folder(tmp_path / "head")
    story(head)

    assert told(run(live(tmp_path / "live.yaml"), "--to", head)) == STORIES[story]


def test_both_states_may_be_in_several_places(tmp_path: Path) -> None:
    got = run(FLEET, DEPLOYMENT, "--to", FLEET, "--to", DEPLOYMENT)

    assert told(got) == (NOTHING, "1 of 1 replica serves on 1 cluster; no replica changes.")


def test_a_state_may_come_from_standard_input(tmp_path: Path) -> None:
    got = run(folder(tmp_path / "base"), "--to", "-", stdin=FLEET.read_text())

    assert told(got) == (LOST, GONE)


@pytest.mark.slow
def test_tools_leave_labels_and_annotations_on_a_live_fleet(tmp_path: Path) -> None:
    def deploy(manifest: dict[str, Any]) -> None:
        if manifest["kind"] in ("ModelDeployment", "InferenceCluster"):
            metadata = manifest["metadata"]
            metadata["labels"] = {**metadata.get("labels", {}), "kustomize.toolkit.fluxcd.io/name": "fleet"}
            metadata["annotations"] = {
                "kubectl.kubernetes.io/last-applied-configuration": "{}", "argocd.argoproj.io/tracking-id": "a"
            }  # fmt: skip

    got = run(live(tmp_path / "live.yaml", deploy), "--to", folder(tmp_path / "head"))

    assert told(got) == (NOTHING, "1 of 1 replica serves on 1 cluster; no replica changes.")


@pytest.mark.slow
def test_two_dumps_are_compared_by_what_users_wrote(tmp_path: Path) -> None:
    """HEAD's own status, uids and replicas are not what anyone asks for."""

    def scale(manifest: dict[str, Any]) -> None:
        if manifest["kind"] == "ModelDeployment":
            manifest["spec"]["replicas"] = 2

    got = run(live(tmp_path / "live.yaml"), "--to", live(tmp_path / "later.yaml", scale))

    assert told(got) == (CHANGED, "2 of 2 replicas serve on 1 cluster; 1 new, 1 kept.")


def test_replicas_in_head_are_not_what_anyone_asks_for(tmp_path: Path) -> None:
    """A dump of a fleet with another replica than this one has: it would take a node."""
    head = folder(tmp_path / "head")
    (replica,) = [plain(m) for m in settled() if m["kind"] == "ModelReplica"]
    replica["metadata"] |= {"name": "qwen3-8b-other", "uid": "other"}
    (head / "replica.yaml").write_text(yaml_text.documents([replica]))

    assert states.difference(files.load([FLEET, DEPLOYMENT]), files.load([head])) == []


def test_what_only_head_contains_is_created_without_its_status(tmp_path: Path) -> None:
    """A cluster that was ready elsewhere is not ready here before it is made."""
    base = tmp_path / "base.yaml"
    shutil.copy(EXAMPLES / "tour/classes.yaml", base)

    got = run(base, "--to", live(tmp_path / "live.yaml"))

    assert told(got) == (CHANGED, "1 of 1 replica serves on 1 cluster; 1 new.")


def test_a_class_a_cluster_and_a_deployment_are_created_in_one_step(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    shutil.copy(EXAMPLES / "hardware/mig/class.yaml", base)

    got = run(base, "--to", base, "--to", folder(tmp_path / "head"))

    assert (got.exit_code, got.stdout.splitlines()[0].endswith("; 1 new.")) == (CHANGED, True)


def test_a_cluster_and_its_class_are_deleted_as_far_as_replicas_can_leave(tmp_path: Path) -> None:
    """What can move has moved first; what cannot keeps the cluster, whose class is gone at once."""
    base, head = (tmp_path / name for name in ("base", "head"))
    for state in (base, head):
        shutil.copytree(EXAMPLES / "tour", state, ignore=shutil.ignore_patterns("two-regions.yaml"))
    for name, gone in {"clusters": "name: starter\n", "classes": "name: gke-l4-1x-g2\n"}.items():
        documents = (head / f"{name}.yaml").read_text().split("---\n")
        (head / f"{name}.yaml").write_text("---\n".join(text for text in documents if gone not in text))

    got = run(base, "--to", head)

    want = "3 of 4 replicas serve on 2 clusters; 1 not placed; 1 moved, 2 kept."
    assert (got.exit_code, got.stdout.splitlines()[0]) == (CHANGED, want)
    assert "must move (its cluster is being deleted)" in got.stdout


def test_a_secret_that_is_missing_in_head_is_not_deleted(tmp_path: Path) -> None:
    """A plan assumes that what a fleet references exists."""
    base, head = folder(tmp_path / "base"), folder(tmp_path / "head")
    (base / "secret.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: starter-kubeconfig, namespace: modelplane-system}\n"
        "stringData: {kubeconfig: a}\n"
    )

    assert told(run(base, "--to", head)) == (NOTHING, "1 of 1 replica serves on 1 cluster; no replica changes.")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--change", "--to"])
def test_an_object_without_a_namespace_may_be_one_that_is_there(tmp_path: Path, option: str) -> None:
    """kubectl would know from the user's context. Nothing is planned that deletes one and creates the other."""
    head = folder(tmp_path / "head")
    substitute(head / "deployment.yaml", "  namespace: ml-team\n", "")

    got = run(live(tmp_path / "live.yaml"), option, head)

    want = (
        f"Error: {head}/deployment.yaml:5:3: ModelDeployment qwen3-8b has no namespace, and there is one in namespace "
    )
    assert (got.exit_code, got.stdout, got.stderr.startswith(f"{want}ml-team (")) == (ERROR, "", True), got.stderr


def test_objects_without_a_namespace_on_both_sides_are_the_same(tmp_path: Path) -> None:
    base, head = folder(tmp_path / "base"), folder(tmp_path / "head")
    for state in (base, head):
        substitute(state / "deployment.yaml", "  namespace: ml-team\n", "")
    adds_one(head)

    assert told(run(base, "--to", head)) == (CHANGED, "2 of 2 replicas serve on 1 cluster; 1 new, 1 kept.")


# Stubs


def stub(at: Path, name: str, kind: str = "ModelDeployment", more: str = "") -> Path:
    at.write_text(
        f"apiVersion: modelplane.ai/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: ml-team\n"
        f"  deletionTimestamp: 2026-01-01T00:00:00Z\n{more}"
    )
    return at


@pytest.mark.parametrize("option", ["--change", "--to"])
@pytest.mark.parametrize("more", ["", "spec: {engines: []}\n"])
def test_metadata_is_enough_to_delete(tmp_path: Path, option: str, more: str) -> None:
    gone = stub(tmp_path / "gone.yaml", "qwen3-8b", more=more)
    rest = ["--to", FLEET] if option == "--to" else []

    assert told(run(FLEET, DEPLOYMENT, option, gone, *rest)) == (LOST, GONE)


@pytest.mark.parametrize(
    ("name", "hint"), [("qwen3-8", "did you mean ml-team/qwen3-8b?"), ("zzz", "known: ml-team/qwen3-8b")]
)
@pytest.mark.parametrize("option", ["--change", "--to"])
def test_what_is_not_there_cannot_be_deleted(tmp_path: Path, option: str, name: str, hint: str) -> None:
    gone = stub(tmp_path / "gone.yaml", name)
    rest = ["--to", FLEET, "--to", DEPLOYMENT] if option == "--to" else []

    got = run(FLEET, DEPLOYMENT, option, gone, *rest)

    want = f"Error: {gone}:4:9: nothing to delete: ModelDeployment ml-team/{name} not found; {hint}\n"
    assert (got.exit_code, got.stdout, got.stderr) == (ERROR, "", want)


def test_a_stub_of_a_kind_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    got = run(FLEET, "--change", stub(tmp_path / "gone.yaml", "a", "ModelDeploymint"))

    assert (got.exit_code, "did you mean ModelDeployment?" in got.stderr) == (ERROR, True)


def test_a_stub_is_no_fleet(tmp_path: Path) -> None:
    got = run(FLEET, stub(tmp_path / "gone.yaml", "qwen3-8b"))

    assert (got.exit_code, "gone.yaml:1:1: error: spec" in got.stderr) == (ERROR, True), got.stderr


# Revisions


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """git as it is for nobody in particular."""
    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}.items():
        monkeypatch.setenv(name, value)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.org")


def git(at: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", at, *arguments], check=True, capture_output=True)


def committed(at: Path) -> Path:
    """Commit all files of a folder. Returns it."""
    git(at, "init", "--quiet", "--initial-branch=main")
    git(at, "add", "--all")
    git(at, "commit", "--quiet", "--message=a")
    return at


@each_story
def test_what_differs_from_a_revision_is_planned(tmp_path: Path, story: Callable[[Path], None]) -> None:
    head = committed(folder(tmp_path / "fleet"))
    story(head)

    assert told(run(head, "--base", "main")) == STORIES[story]


@pytest.mark.slow
def test_paths_are_relative_to_where_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path / "repository/fleet")
    top = committed(tmp_path / "repository")
    substitute(top / "fleet/deployment.yaml", "replicas: 1", "replicas: 2")
    monkeypatch.chdir(top / "fleet")

    got = [told(run(*paths, "--base", "HEAD")) for paths in ([".."], ["."], ["fleet.yaml", "../fleet/deployment.yaml"])]

    assert got == [(CHANGED, "2 of 2 replicas serve on 1 cluster; 1 new, 1 kept.")] * 3


def test_a_path_that_did_not_exist_had_nothing(tmp_path: Path) -> None:
    top = committed(folder(tmp_path / "repository"))
    folder(top / "new")
    substitute(top / "new/deployment.yaml", "name: qwen3-8b\n", "name: qwen3-8c\n")
    (top / "new/fleet.yaml").unlink()

    got = run(top / "fleet.yaml", top / "new", "--base", "main")

    assert told(got) == (CHANGED, "1 of 1 replica serves on 1 cluster; 1 new.")


def test_an_object_that_was_invalid_is_not_in_the_base(tmp_path: Path) -> None:
    """Else nobody could mend it."""
    head = folder(tmp_path / "fleet")
    substitute(head / "deployment.yaml", "replicas: 1", "replicas: many")
    committed(head)
    shutil.copy(DEPLOYMENT, head / "deployment.yaml")

    got = run(head, "--base", "main")

    said = got.stderr.splitlines()
    assert told(got) == (CHANGED, "1 of 1 replica serves on 1 cluster; 1 new.")
    assert len(said) == 1
    assert said[0].startswith(f"main:{head}/deployment.yaml:8:13: warning: spec.replicas: must be a whole number")
    assert said[0].endswith("; left out")


def test_a_file_that_was_broken_is_not_in_the_base(tmp_path: Path) -> None:
    head = folder(tmp_path / "fleet")
    (head / "deployment.yaml").write_text(f"{DEPLOYMENT.read_text()}oops: [\n")
    committed(head)
    shutil.copy(DEPLOYMENT, head / "deployment.yaml")

    got = run(head, "--base", "main")

    assert told(got) == (CHANGED, "1 of 1 replica serves on 1 cluster; 1 new.")
    assert got.stderr.startswith(f"main:{head}/deployment.yaml:")
    assert ": warning: " in got.stderr
    assert "error" not in got.stderr


def test_links_are_followed_in_a_revision_too(tmp_path: Path) -> None:
    """One within the folder names a file twice, which is read once; one that leads out of it is read; one that leads to
    a folder is not."""
    shared = folder(tmp_path / "repository/shared")
    (tmp_path / "repository/fleet").mkdir()
    links = {"a": "../shared/fleet.yaml", "b": "../shared/deployment.yaml", "c": "b.yaml", "e": "../shared"}
    for name, target in links.items():
        (tmp_path / f"repository/fleet/{name}.yaml").symlink_to(target)
    top = committed(tmp_path / "repository")
    substitute(shared / "deployment.yaml", "replicas: 1", "replicas: 2")

    got = run(top / "fleet", "--base", "main")

    assert (told(got), got.stderr) == ((CHANGED, "2 of 2 replicas serve on 1 cluster; 1 new, 1 kept."), "")


def test_names_of_files_may_be_odd(tmp_path: Path) -> None:
    """Such as one that means something to git."""
    top = folder(tmp_path / "fleet")
    (top / "deployment.yaml").rename(top / ":(top) späte *.yaml")
    committed(top)
    substitute(top / ":(top) späte *.yaml", "replicas: 1", "replicas: 2")

    got = [told(run(*paths, "--base", "main")) for paths in ([top], [top / "fleet.yaml", top / ":(top) späte *.yaml"])]

    assert got == [(CHANGED, "2 of 2 replicas serve on 1 cluster; 1 new, 1 kept.")] * 2


def test_a_submodule_is_passed_over(tmp_path: Path) -> None:
    top = committed(folder(tmp_path / "fleet"))
    git(top, "clone", "--quiet", str(top), "other.yaml")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=b")
    shutil.rmtree(top / "other.yaml")

    got = run(top, "--base", "main")

    assert (got.exit_code, got.stderr) == (NOTHING, "")


def test_a_name_with_a_line_break_is_an_error(tmp_path: Path) -> None:
    head = folder(tmp_path / "fleet")
    shutil.copy(DEPLOYMENT, head / "odd\n.yaml")
    committed(head)
    (head / "odd\n.yaml").unlink()

    got = run(head, "--base", "main")

    assert (got.exit_code, r"git cannot be asked for 'odd\n.yaml'" in got.stderr) == (ERROR, True), got.stderr


def test_a_revision_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    top = committed(folder(tmp_path / "fleet"))
    git(top, "update-ref", "refs/remotes/origin/release", "main")

    got = [run(top, "--base", revision) for revision in ("mian", "release", "--help", "main:fleet.yaml")]

    at = f"there is no such revision in {top}"
    assert [(one.exit_code, one.stderr) for one in got] == [
        (ERROR, f"Error: --base mian: {at}; did you mean main?\n"),
        (ERROR, f"Error: --base release: {at}; did you mean origin/release?\n"),
        (ERROR, f"Error: --base --help: {at}\n"),
        (ERROR, f"Error: --base main:fleet.yaml: {at}\n"),
    ]


def test_a_shallow_clone_says_what_to_fetch(tmp_path: Path) -> None:
    top = committed(folder(tmp_path / "fleet"))
    git(top, "commit", "--quiet", "--allow-empty", "--message=b")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{top}", "clone")

    one, other = (run(tmp_path / "clone", "--base", revision) for revision in ("origin/release", "HEAD~1"))

    assert (one.exit_code, "git fetch --depth=1 origin release and use --base FETCH_HEAD" in one.stderr) == (
        ERROR,
        True,
    )
    assert (other.exit_code, "FETCH_HEAD" in other.stderr, "fetch-depth: 0" in other.stderr) == (ERROR, False, True)


def test_a_folder_outside_of_a_repository_is_an_error(tmp_path: Path) -> None:
    got = run(folder(tmp_path / "fleet"), "--base", "main")

    want = f"Error: --base: {tmp_path}/fleet is not in a git repository that can be read: fatal: not a"
    assert (got.exit_code, got.stderr.startswith(want)) == (ERROR, True), got.stderr


def test_without_git_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    got = run(folder(tmp_path / "fleet"), "--base", "main")

    assert (got.exit_code, got.stderr) == (ERROR, "Error: --base needs git, which is not installed\n")


def test_a_hook_may_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git tells its hooks where they are, relative to another folder."""
    head = committed(folder(tmp_path / "fleet"))
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")

    assert run(head, "--base", "main").exit_code == NOTHING


def test_standard_input_has_no_revision() -> None:
    got = run("-", "--base", "main", stdin="")

    assert (got.exit_code, "standard input has no revision" in got.stderr) == (ERROR, True)


# Options


@pytest.mark.parametrize(
    "given", [("--to", "a", "--change", "b"), ("--base", "a", "--to", "b"), ("--base", "a", "--change", "b")]
)
def test_only_one_option_says_what_the_fleet_changes_to(given: tuple[str, ...]) -> None:
    got = run(FLEET, *given)

    assert (got.exit_code, "cannot be combined: each says what the fleet changes to" in got.stderr) == (ERROR, True)


@pytest.mark.parametrize(
    "given", [("-", "-"), ("-", "--to", "-"), ("-", "--change", "-"), (FLEET, "--to", "-", "--to", "-")]
)
def test_standard_input_is_read_once(given: tuple[str | Path, ...]) -> None:
    """What is read again is empty, and everything would be deleted."""
    got = run(*given, stdin=FLEET.read_text())

    assert (got.exit_code, "- can be given once" in got.stderr) == (ERROR, True), got.stderr


def test_machines_get_the_same_exit_code(tmp_path: Path) -> None:
    got = run(folder(tmp_path / "base"), "--to", FLEET, "-o", "json")

    assert (json.loads(got.stdout)["exitCode"], json.loads(got.stdout)["errors"]) == (got.exit_code, [])
