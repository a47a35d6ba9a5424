"""Copies of this repository to which a folder and a line of a table are added, and programs that run in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SUPPORT = Path(__file__).parent
_COPIED = ("function", "package", "xrds", "compositions", "docs/reference", "docs/runbooks")


def extended(tree: Path, package: str, folder: Path) -> Path:
    """Return a copy of the repository in which `folder` is in `package` and its name is the last of its table."""
    for name in _COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(folder, tree / package / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    table = tree / package / "__init__.py"
    before, start, after = table.read_text().partition("_FOLDERS = (\n")
    entries, end, rest = after.partition(")\n")
    table.write_text(f'{before}{start}{entries}    "{folder.name}",\n{end}{rest}')
    return tree


def run(tree: Path, *arguments: str) -> str:
    """Return what Python prints that finds `function` in the copy, and `tests` here."""
    environment = {**os.environ, "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def told(tree: Path, module: str) -> dict[str, Any]:
    """Return the JSON object that a module prints."""
    found = json.loads(run(tree, "-m", module))
    assert isinstance(found, dict)
    return found


def generated(tree: Path) -> list[str]:
    """Brings the generated files up to date. Returns the paths of those that were not."""
    return sorted(run(tree, "-m", "function", "generate").splitlines())
