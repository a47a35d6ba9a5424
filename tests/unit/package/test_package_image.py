"""The function's image: how it starts, as whom, and that nothing enters it unchecked."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
FINAL = DOCKERFILE.rpartition("\nFROM ")[2]


def instruction(name: str) -> str:
    [value] = re.findall(rf"^{name} (.*)$", FINAL, re.MULTILINE)
    return str(value)


def test_its_entrypoint_is_the_script() -> None:
    """A DeploymentRuntimeConfig that adds `--debug` gives arguments alone."""
    [copied] = re.findall(r"^COPY --chmod=0755 (\S+) /usr/local/bin/(\S+)$", FINAL, re.MULTILINE)

    assert (copied[0], [copied[1]]) == ("package/entrypoint.sh", json.loads(instruction("ENTRYPOINT")))
    assert "\nCMD" not in FINAL


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ([], ["serve"]),
        (["--insecure"], ["serve", "--insecure"]),
        (["-d", "--address", "a b"], ["serve", "-d", "--address", "a b"]),
        (["--help"], ["serve", "--help"]),
        (["plan", "-"], ["plan", "-"]),
        (["version", "-o", "json"], ["version", "-o", "json"]),
        (["serve", "--insecure"], ["serve", "--insecure"]),
    ],
    ids=str,
)
def test_options_alone_serve_and_anything_else_is_a_command(given: list[str], want: list[str], tmp_path: Path) -> None:
    program = tmp_path / "modelplane"
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 3\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    got = subprocess.run(
        ["sh", ROOT / "package/entrypoint.sh", *given], env=environment, capture_output=True, text=True, check=False
    )

    assert (got.stdout.splitlines(), got.returncode, got.stderr) == (want, 3, "")


def test_it_runs_as_crossplane_runs_functions() -> None:
    assert (instruction("USER"), instruction("EXPOSE")) == ("2000:2000", "9443 8080")


def test_every_package_is_checked_against_its_hash() -> None:
    installs = re.findall(r"pip install [^&\n]*", DOCKERFILE)

    assert installs
    assert [i for i in installs if "--require-hashes" not in i and "--no-deps /build/dist/" not in i] == []


def test_memory_that_a_large_request_needed_stays_for_the_next() -> None:
    settings = dict(part.split("=", 1) for part in instruction("ENV").split())

    assert {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"} <= settings.keys()
