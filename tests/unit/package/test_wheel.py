"""The wheel: it has all files of the program, and its command works without the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from package import build

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make wheel` builds it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in a fresh environment, which borrows the dependencies of this one and nothing else."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", folder / "bin/python", *install], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin/modelplane"


def run(program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_every_file_of_the_package_is_in_it(wheel: Path) -> None:
    here = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "function").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {name for name in names if ".dist-info/" not in name} == here


def test_the_code_is_that_of_the_wheel(program: Path, tmp_path: Path) -> None:
    code = "import function.main as main; print(main.__file__)"
    got = run(program.with_name("python"), "-c", code, folder=tmp_path)

    assert Path(got.stdout.strip()).is_relative_to(program.parents[1]), got.stderr


def test_the_command_works_without_the_repository(program: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/tour", tmp_path / "fleet")

    version = run(program, "version", "-o", "json", folder=tmp_path)
    plan = run(program, "plan", "fleet", folder=tmp_path)
    validate = run(program, "validate", "fleet", folder=tmp_path)
    completion = run(program, "completion", "bash", folder=tmp_path)
    schemas = run(program, "schema", "--all", "--to", "schemas", folder=tmp_path)
    page = run(program, "plan", "fleet", "--html", "fleet.html", folder=tmp_path)

    assert json.loads(version.stdout)["modelplane"] == build.version()
    assert (plan.returncode, plan.stderr) == (3, "")
    assert plan.stdout.startswith("5 of 6 replicas serve on 3 clusters; 1 not placed; 5 new.\n")
    assert (validate.returncode, completion.returncode, schemas.returncode) == (0, 0, 0)
    assert "_MODELPLANE_COMPLETE=bash_complete" in completion.stdout
    assert (page.stdout, page.stderr, page.returncode) == (plan.stdout, "", 3)
    assert (tmp_path / "fleet.html").read_text().startswith("<!doctype html>")
