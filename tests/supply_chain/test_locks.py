"""Nothing is installed that a lock does not name with its hash."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from package import locks

ROOT = locks.ROOT
E2E = ROOT / "tests/e2e/requirements.txt"
INSTALLING = (ROOT / "Makefile", ROOT / "Dockerfile", ROOT / "tests/e2e/builds.py", ROOT / ".ci/run")
OURS = "function-modelplane"
LOCKING = re.compile(r"install --quiet uv$")
"""`make lock` takes the newest uv, which writes hashes and installs nothing."""
OF_OURS = re.compile(r"--no-deps|uninstall")
"""Our own package, or nothing at all."""


@pytest.mark.parametrize("path", [*locks.LOCKS, E2E], ids=lambda path: path.name)
def test_every_requirement_of_a_lock_has_hashes(path: Path) -> None:
    found = locks.read(path)
    assert found
    assert [one.name for one in found if not one.hashes] == []


@pytest.mark.parametrize(
    "line", ["-e .", "example @ https://example.org/example.whl", "example>=1.0", "--index-url https://example.org"]
)
def test_a_lock_with_anything_but_pinned_versions_is_refused(line: str, tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"{line}\n")
    with pytest.raises(ValueError, match="line 1: not a pinned requirement"):
        locks.read(lock)


def test_locks_agree_on_versions() -> None:
    """Where several name a distribution, the checks run with what the image has."""
    versions: dict[str, set[str]] = {}
    for path in (locks.RUNTIME, locks.IMAGE, locks.BUILD):
        for one in locks.read(path):
            versions.setdefault(one.name, set()).add(one.version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_the_image_has_what_the_command_line_needs() -> None:
    image = {(one.name, one.version, one.hashes) for one in locks.read(locks.IMAGE)}
    runtime = {(one.name, one.version, one.hashes) for one in locks.read(locks.RUNTIME)}
    assert runtime <= image


def test_pyproject_names_nothing_that_is_not_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {re.split(r"[\[ ~<>=;]", one)[0] for one in project["dependencies"]}
    assert named <= {one.name for one in locks.read(locks.RUNTIME) if OURS in one.via}


@pytest.mark.parametrize("path", INSTALLING, ids=lambda path: path.name)
def test_pip_installs_with_hashes_only(path: Path) -> None:
    commands = re.findall(r"(?:-m pip |pip\b)[^\n]*\binstall\b[^\n]*", path.read_text().replace('", "', " "))
    loose = [one for one in commands if "--require-hashes" not in one and not OF_OURS.search(one)]
    assert [one for one in loose if not LOCKING.search(one)] == []


def test_actions_are_pinned_to_commits() -> None:
    workflows = [*(ROOT / ".github/workflows").glob("*.yml"), ROOT / "docs/ci/github.yml"]
    used = [line for path in workflows for line in re.findall(r"uses: *(.+)", path.read_text())]
    assert used
    assert [line for line in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_have_only_the_rights_that_a_job_names(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    assert all("permissions" in job for job in workflow["jobs"].values())


def test_sums_of_go_modules_are_checked() -> None:
    """Nothing of ours switches off the database of sums, or lets go.sum be ignored."""
    text = "".join(path.read_text() for path in sorted((ROOT / "tests/e2e").glob("*.py")))
    assert re.findall(r"GONOSUMDB|GONOSUMCHECK|GOINSECURE|GOFLAGS.*-insecure|GOSUMDB.{1,4}off", text) == []
