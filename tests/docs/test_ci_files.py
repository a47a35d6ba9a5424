"""What the page for CI offers to copy: workflows and the hook for pre-commit call our commands rightly."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.docs.running import parsed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/ci"
GITHUB = yaml.safe_load((FOLDER / "github.yml").read_text())
GITLAB = yaml.safe_load((FOLDER / "gitlab.yml").read_text())["modelplane"]
[HOOK] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
STEPS = [step for job in GITHUB["jobs"].values() for step in job["steps"]]
BROKEN = "apiVersion: modelplane.ai/v1alpha1\nkind: ModelDeployment\nmetadata: {name: a}\n"
OPERATORS = {"|", "||", "&&", ";", ">", ">>", "<"}


def scripts() -> list[str]:
    return [*(step["run"] for step in STEPS if "run" in step), *GITLAB["script"]]


def calls(script: str) -> list[list[str]]:
    """The calls of modelplane in a script, each with its arguments up to a redirection or an operator."""
    found = []
    for line in script.splitlines():
        if line.startswith("modelplane "):
            words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
            end = next((i for i, word in enumerate(words) if word in OPERATORS), len(words))
            found.append(words[1:end])
    return found


CALLS = [call for script in scripts() for call in calls(script)]
WHOLE = [*CALLS, [*HOOK["entry"].split()[1:], *HOOK["args"]]]


@pytest.mark.parametrize("arguments", WHOLE, ids=" ".join)
def test_every_command_line_is_right(arguments: list[str]) -> None:
    assert parsed(arguments).params


def test_a_wrong_command_line_would_be_found() -> None:
    with pytest.raises(click.UsageError):
        parsed(["plan", "fleet/", "--no-such-option"])


def test_both_validate_and_plan() -> None:
    assert [call[0] for call in CALLS] == ["validate", "plan", "validate", "plan"]


def test_every_action_is_pinned_to_a_commit_and_names_its_version() -> None:
    text = (FOLDER / "github.yml").read_text()
    used = re.findall(r"uses: (\S+)(.*)", text)

    assert used
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", "".join(one))] == []


def test_every_job_has_the_permissions_that_it_needs_and_no_others() -> None:
    got = {name: job["permissions"] for name, job in GITHUB["jobs"].items()}

    assert GITHUB["permissions"] == {}
    assert got == {
        "validate": {"contents": "read", "security-events": "write"},
        "plan": {"contents": "read", "pull-requests": "write"},
    }
    assert [step["with"]["persist-credentials"] for step in STEPS if "checkout" in step.get("uses", "")] == [False] * 2
    assert "pull_request_target" not in GITHUB[True]  # YAML reads `on` as a boolean


def test_no_expression_stands_in_a_script() -> None:
    """The name of a branch could run as a command."""
    assert [script for script in scripts() if "${{" in script] == []


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A folder with a fleet, and with `modelplane` on the path."""
    program = tmp_path / "bin/modelplane"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m function "$@"\n')
    program.chmod(0o755)
    (tmp_path / "fleet").mkdir()
    shutil.copy(ROOT / "examples/tour/classes.yaml", tmp_path / "fleet")
    commit(tmp_path)
    shutil.copytree(ROOT / "examples/tour", tmp_path / "fleet", dirs_exist_ok=True)
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    """Commit the fleet, as a pull request does."""
    for command in ("init --quiet", "add fleet", "commit --quiet --message x"):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *command.split()], cwd=folder, check=True)


def execute(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "FLEET": "fleet/",
        "GITHUB_OUTPUT": f"{folder}/output", "GITHUB_STEP_SUMMARY": f"{folder}/summary",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD^", **variables,
    }  # fmt: skip
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def plan_step() -> Any:
    return next(step for step in STEPS if step.get("id") == "plan")


def test_the_plan_is_in_the_summary_and_its_code_in_the_output(shell: Path) -> None:
    got = execute(plan_step()["run"], shell)

    assert (got.returncode, (shell / "output").read_text()) == (0, "code=3\n"), got.stderr
    assert (shell / "summary").read_text() == (shell / "plan.md").read_text() != ""


def test_an_error_of_the_plan_is_on_standard_error(shell: Path) -> None:
    (shell / "fleet/broken.yaml").write_text(BROKEN)
    got = execute(plan_step()["run"], shell)

    assert ((shell / "output").read_text(), "broken.yaml:" in got.stderr) == ("code=1\n", True)


@pytest.mark.parametrize(("code", "want"), [("0", 0), ("3", 0), ("1", 1), ("2", 2)])
def test_the_job_fails_for_errors_and_losses(code: str, want: int, shell: Path) -> None:
    last = GITHUB["jobs"]["plan"]["steps"][-1]["run"]

    assert execute(last, shell, CODE=code).returncode == want


@pytest.mark.parametrize(("broken", "want"), [(False, 0), (True, 1)])
def test_the_job_of_gitlab_passes_and_fails(broken: bool, want: int, shell: Path) -> None:
    if broken:
        (shell / "fleet/broken.yaml").write_text(BROKEN)
    script = "\n".join(line for line in GITLAB["script"] if not line.startswith("pip "))
    got = execute(script, shell)

    assert (got.returncode, "serve on 3 clusters" in got.stdout) == (want, not broken), got.stderr


def test_the_hook_runs_a_program_that_the_package_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert HOOK["entry"].split()[0] in project["scripts"]
    assert (HOOK["language"], HOOK["pass_filenames"]) == ("python", False)


@pytest.mark.parametrize(
    ("path", "want"),
    [("fleet/a.yaml", True), ("a.yml", True), ("fleet/a.json", True), ("README.md", False), ("a.yaml.txt", False)],
)
def test_the_hook_runs_when_a_manifest_changes(path: str, want: bool) -> None:
    assert bool(re.search(HOOK["files"], path)) is want
