"""The function's image: how it starts, as whom, and that nothing enters it unchecked."""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCKERFILE = (Path(__file__).parents[3] / "Dockerfile").read_text().replace("\\\n", " ")
FINAL = DOCKERFILE.rpartition("\nFROM ")[2]


def instruction(name: str) -> str:
    [value] = re.findall(rf"^{name} (.*)$", FINAL, re.MULTILINE)
    return str(value)


def test_it_serves_and_takes_more_options_as_arguments() -> None:
    """A DeploymentRuntimeConfig that adds `--debug` gives arguments alone."""
    assert json.loads(instruction("ENTRYPOINT")) == ["modelplane", "serve"]
    assert "\nCMD" not in FINAL


def test_it_runs_as_crossplane_runs_functions() -> None:
    assert (instruction("USER"), instruction("EXPOSE")) == ("2000:2000", "9443")


def test_every_package_is_checked_against_its_hash() -> None:
    installs = re.findall(r"pip install [^&\n]*", DOCKERFILE)

    assert installs
    assert [i for i in installs if "--require-hashes" not in i and "--no-deps /build/dist/" not in i] == []


def test_memory_that_a_large_request_needed_stays_for_the_next() -> None:
    settings = dict(part.split("=", 1) for part in instruction("ENV").split())

    assert {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"} <= settings.keys()
