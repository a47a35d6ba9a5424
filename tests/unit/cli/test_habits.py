"""What users of other command lines expect: help, version, the nearest name, --quiet, errors as JSON, pipes, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from function.cli import parameters
from function.cli.terminal import is_coloured
from function.main import main
from function.publish.catalog import KINDS
from tests.unit.cli.test_main import paths

ROOT = Path(__file__).parents[3]
TOUR = str(ROOT / "examples/tour")
PROGRAM = [sys.executable, "-m", "function"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def command(path: tuple[str, ...]) -> click.Command:
    found: click.Command = main
    for word in path:
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None
        found = inner
    return found


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_help_is_the_help_of_the_command(path: tuple[str, ...]) -> None:
    assert run("help", *path).stdout == run(*path, "--help").stdout


def test_help_alone_lists_the_commands() -> None:
    assert run("help").stdout == run("--help").stdout


def test_help_of_a_command_of_a_command_that_has_none_is_an_error() -> None:
    got = run("help", "plan", "x")
    assert (got.exit_code, got.stderr.splitlines()[-1]) == (2, "Error: main plan has no commands of its own")


def test_version_tells_what_it_works_with() -> None:
    got = json.loads(run("version", "-o", "json").stdout)

    assert set(got) == {"modelplane", "python", "apiVersions", "crossplane"}
    assert set(got["apiVersions"]) == {kind.api_version for kind in KINDS}


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["plna", "x"], "'plan'"),
        (["help", "plna"], "'plan'"),
        (["whatif", "x"], "'what-if'"),
        (["cel", "chekc", "x"], "'check'"),
        (["plan", "x", "--chnage", "y"], "'--change'"),
        (["plan", "x", "-o", "jsn"], "'json'"),
        (["schema", "ModelDeploymnt"], "ModelDeployment"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(arguments: list[str], meant: str) -> None:
    got = run(*arguments)

    told = got.stderr.splitlines()[-1]
    assert (got.exit_code in (1, 2), "did you mean" in told.lower(), meant in told) == (True, True, True), told


def test_a_value_that_is_near_to_none_has_no_hint() -> None:
    assert "mean" not in run("plan", "x", "-o", "qqqqqq").stderr


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_every_command_takes_quiet(path: tuple[str, ...]) -> None:
    assert [param.opts for param in command(path).params].count(["--quiet", "-q"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["-q", "plan", TOUR], ["plan", "-q", TOUR], ["plan", TOUR, "--quiet"]])
def test_quiet_leaves_out_hints_and_nothing_else(arguments: list[str]) -> None:
    loud, quiet = run("plan", TOUR), run(*arguments)

    assert (quiet.exit_code, "\nNext\n" in loud.stdout) == (loud.exit_code, True)
    assert quiet.stdout == loud.stdout.partition("\nNext\n")[0]


def test_quiet_keeps_errors() -> None:
    assert run("-q", "plan", "nowhere").stderr == run("plan", "nowhere").stderr != ""


def asking_for_json() -> list[tuple[tuple[str, ...], list[str]]]:
    """Every command that can print JSON, and how it is asked."""
    found = []
    for path in paths():
        for param in command(path).params:
            if isinstance(param.type, click.Choice) and "json" in param.type.choices:
                found += [(path, [name, "json"]) for name in param.opts]
            elif "--json" in param.opts:
                found.append((path, ["--json"]))
    return found


@pytest.mark.parametrize(("path", "asking"), asking_for_json(), ids=str)
def test_an_error_is_one_json_document_where_json_is_asked_for(path: tuple[str, ...], asking: list[str]) -> None:
    got = run(*path, *asking, "--no-such-option", "x")
    if "ignore_unknown_options" in command(path).context_settings:  # the expression of cel may begin with a minus
        got = run(*path, *asking)

    document = json.loads(got.stdout)["error"]
    assert (document["exitCode"], document["findings"]) == (got.exit_code, [])
    assert (got.exit_code > 0, got.stderr.endswith(f"Error: {document['message']}\n")) == (True, True)


@pytest.mark.parametrize("asking", [["-ojson"], ["--output=json"], ["-o", "json"]])
def test_errors_in_files_are_in_the_document(asking: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: modelplane.ai/v1alpha1\nkind: ModelDeployment\nmetadata: {name: a}\n")

    got = run("plan", str(tmp_path), *asking)

    document = json.loads(got.stdout)["error"]
    assert (got.exit_code, document["exitCode"], document["message"]) == (1, 1, "1 error; nothing was planned")
    assert [(one["file"], one["line"]) for one in document["findings"]] == [(f"{tmp_path}/a.yaml", 1)]


def test_only_errors_count_as_errors() -> None:
    """What could not be checked for them is only noted."""
    document = json.loads(run("plan", "nowhere", "-o", "json").stdout)["error"]

    assert document["message"] == "1 error; nothing was planned"
    assert [one["code"] for one in document["findings"]] == ["unreadable"]


def test_text_is_asked_for_with_no_json_anywhere() -> None:
    got = run("plan", "nowhere")
    assert (got.stdout, got.exit_code) == ("", 1)


def test_a_bug_is_a_json_document_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("hf_secret")

    monkeypatch.setattr("function.cli.plan.checked", broken)
    got = run("plan", "x", "-o", "json")

    assert json.loads(got.stdout)["error"]["message"].startswith("a bug in modelplane at ")
    assert "hf_secret" not in got.output


def test_ctrl_c_ends_with_the_code_of_its_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("function.cli.plan.checked", interrupted)
    got = run("plan", "x")

    assert (got.exit_code, got.output) == (130, "Error: interrupted\n")


@pytest.mark.slow
def test_ctrl_c_while_input_is_read_is_no_traceback() -> None:
    process = subprocess.Popen(
        [*PROGRAM, "plan", "-"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not is_reading_stdin(process.pid):
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)

    assert (process.returncode, told) == (130, b"Error: interrupted\n")


@pytest.mark.parametrize("module", ["function.main", "function.planning", "asyncio.coroutines"])
def test_ctrl_c_while_the_program_is_imported_is_no_traceback(module: str) -> None:
    program = """
import os, signal, sys
import function.__main__ as entry

class Interrupting:
    def find_spec(self, name, *_):
        if name == MODULE:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["plan", "-"]
entry.run()
""".replace("MODULE", repr(module))
    got = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False, input=b"")

    assert (got.returncode, got.stdout, got.stderr) == (-signal.SIGINT, b"", b"")


def is_reading_stdin(pid: int) -> bool:
    """Whether a process waits in the system call `read` of file 0: number 0 on x86-64, and 63 on ARM."""
    words = Path(f"/proc/{pid}/syscall").read_text().split()
    return words[0] in ("0", "63") and words[1] == "0x0"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["plan", TOUR], ["validate", TOUR], ["plan", "nowhere", "-o", "json"], ["help"]])
def test_a_reader_that_has_gone_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    got = subprocess.run([*PROGRAM, *arguments], cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert (got.returncode, b"Traceback" in got.stderr, b"Exception" in got.stderr) == (141, False, False), got.stderr


def test_a_full_disk_is_a_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        got = subprocess.run([*PROGRAM, "version"], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)

    assert (got.returncode, got.stderr) == (1, b"Error: the output cannot be written: No space left on device\n")


def test_a_closed_output_is_no_error() -> None:
    got = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m function version >&-"], cwd=ROOT, stderr=subprocess.PIPE, check=False
    )
    assert (got.returncode, got.stderr) == (0, b"")


class Stream:
    def __init__(self, *, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "environment", "want"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": ""}, False),
        (True, {"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_when_there_are_colours(
    terminal: bool, environment: dict[str, str], want: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream: Any = Stream(terminal=terminal)

    assert is_coloured(stream) is want


def test_the_rules_of_colours_stand_in_one_module() -> None:
    names = re.compile(r"\"(NO_COLOR|FORCE_COLOR|TERM)\"")

    found = [path.name for path in (ROOT / "function").rglob("*.py") if names.search(path.read_text())]

    assert found == ["terminal.py"]


@pytest.mark.slow
def test_forced_colours_are_in_the_output_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run("plan", TOUR).stdout
    monkeypatch.delenv("FORCE_COLOR")

    assert ("\x1b[32mnew" in coloured, click.unstyle(coloured)) == (True, run("plan", TOUR).stdout)


def test_shared_parameters_are_added_once() -> None:
    plan = command(("plan",))
    before = len(plan.params)
    parameters.shared(plan)

    assert len(plan.params) == before
