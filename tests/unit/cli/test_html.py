"""`--html`: where the page goes, what else is printed, and what `--all` adds to the data."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from function.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
SPARE = str(EXAMPLES / "spare")
SHARED = str(EXAMPLES / "shared-nodes")
COMMANDS = {
    "plan": ("plan", SPARE),
    "what-if": ("what-if", SPARE, "--drain", "iowa"),
    "n-1": ("what-if", SPARE, "--lose", "any", "--jobs", "1"),
    "explain": ("explain", SPARE, "md/ml-team/qwen3-8b"),
    "explain another kind": ("explain", SPARE, "InferenceCluster/iowa"),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_report_and_the_exit_code_are_as_without_the_option(name: str, tmp_path: Path) -> None:
    file = tmp_path / "fleet.html"
    want, got = run(*COMMANDS[name]), run(*COMMANDS[name], "--html", str(file))

    assert (got.stdout, got.stderr, got.exit_code) == (want.stdout, want.stderr, want.exit_code)
    assert file.read_text().startswith("<!doctype html>\n")
    assert title(file.read_text()).endswith(got.stdout.splitlines()[0])


def title(html: str) -> str:
    return re.findall("<title>(.*?)</title>", html)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan", "what-if", "explain"])
def test_a_page_on_standard_output_is_alone_there(name: str) -> None:
    want, got = run(*COMMANDS[name]), run(*COMMANDS[name], "--html", "-")

    assert (got.stdout[:15], got.stdout[-8:]) == ("<!doctype html>", "</html>\n")
    assert want.stdout in got.stderr
    assert got.exit_code == want.exit_code


@pytest.mark.parametrize("form", ["json", "yaml", "markdown"])
def test_a_page_and_data_cannot_both_be_on_standard_output(form: str) -> None:
    got = run(*COMMANDS["plan"], "--html", "-", "-o", form)

    assert f"--html - and -o {form} both write to standard output: name a file for one of them" in got.output
    assert got.exit_code != 0


@pytest.mark.slow
def test_data_and_failures_are_as_without_the_option(tmp_path: Path) -> None:
    arguments = (*COMMANDS["plan"], "-o", "json", "--fail-on", "change")
    want, got = run(*arguments), run(*arguments, "--html", str(tmp_path / "fleet.html"))

    assert (got.stdout, got.stderr, got.exit_code) == (want.stdout, want.stderr, 2)


@pytest.mark.slow
def test_the_same_input_gives_the_same_page(tmp_path: Path) -> None:
    texts = []
    for name in ("one.html", "two.html"):
        run(*COMMANDS["what-if"], "--html", str(tmp_path / name))
        texts.append((tmp_path / name).read_text())

    assert texts[0] == texts[1]


# Files that cannot be written


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    got = run(*COMMANDS["plan"], "--html", str(tmp_path))

    assert (got.exit_code, got.stdout) == (1, "")
    assert f"--html {tmp_path}: cannot be written: it is a folder; name a file in it" in got.stderr


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    got = run(*COMMANDS["plan"], "--html", str(tmp_path / "no/fleet.html"))

    assert (got.exit_code, got.stdout) == (1, "")
    assert f"cannot be written: there is no folder {tmp_path / 'no'}" in got.stderr


def test_an_error_with_json_is_a_document(tmp_path: Path) -> None:
    got = run(*COMMANDS["plan"], "--html", str(tmp_path), "-o", "json")

    assert (got.exit_code, "cannot be written" in json.dumps(json.loads(got.stdout))) == (1, True)


def test_a_device_without_room_is_an_error_that_names_it() -> None:
    got = run(*COMMANDS["plan"], "--html", "/dev/full")

    assert (got.exit_code, got.stdout) == (1, "")
    assert "--html /dev/full: cannot be written: No space left on device" in got.stderr


def test_a_page_replaces_the_one_before_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "fleet.html"
    file.write_text("old")
    run(*COMMANDS["plan"], "--html", str(file))

    assert (file.read_text()[:15], os.listdir(tmp_path)) == ("<!doctype html>", ["fleet.html"])  # noqa: PTH208


# The fleet as data


def fleet(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--all", "-o", "json").stdout)["fleet"]
    return found


def taken(side: dict[str, Any]) -> dict[str, list[str]]:
    return {c["name"]: [o["deployment"] for p in c["pools"] for o in p["occupants"]] for c in side["clusters"]}


def test_all_adds_the_fleet_before_and_after() -> None:
    got = fleet(*COMMANDS["what-if"])

    assert taken(got["before"])["iowa"] == ["qwen3-8b", "gemma-3-4b"]
    assert taken(got["after"])["iowa"] == []
    [iowa, *_] = got["after"]["clusters"]
    assert iowa["taints"] == ["modelplane.ai/drain:NoExecute"]


def test_the_data_has_no_fleet_unless_it_is_asked_for() -> None:
    assert "fleet" not in json.loads(run(*COMMANDS["what-if"], "-o", "json").stdout)


def test_a_shared_pool_counts_devices() -> None:
    [cluster] = fleet("plan", SHARED)["after"]["clusters"]
    [pool] = cluster["pools"]

    shown = {key: pool[key] for key in ("name", "className", "slots", "sharing", "nodes", "free")}
    assert shown == {
        "name": "h100", "className": "h100-8x", "slots": 8, "sharing": "Devices", "nodes": 1, "free": 0,
    }  # fmt: skip
    assert [(o["pods"], o["devices"]) for o in pool["occupants"]] == [(1, 1)] * 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan", "n-1", "explain", "explain another kind"])
def test_every_command_has_the_fleet(name: str) -> None:
    assert [c["name"] for c in fleet(*COMMANDS[name])["after"]["clusters"]] == ["iowa", "oregon", "taiwan"]


def test_a_replica_that_moves_names_the_one_that_it_replaces() -> None:
    got = json.loads(run(*COMMANDS["what-if"], "--all", "-o", "json").stdout)

    before = {o["replica"] for c in got["fleet"]["before"]["clusters"] for p in c["pools"] for o in p["occupants"]}
    assert {one["replaces"] for one in got["replicas"]} <= before
    assert all(one["replaces"] != one["name"] for one in got["replicas"])
