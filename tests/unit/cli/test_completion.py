"""Completion in a shell: commands, options, values, files, and names of objects in the files on the line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from function.cli import completion, files, reference
from function.main import main
from function.publish.catalog import KINDS
from tests.unit.cli.test_habits import command
from tests.unit.cli.test_main import paths

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())


def completed(line: str) -> list[str]:
    """What a shell is told for a line whose last word is incomplete."""
    words = line.split(" ")
    environment = {"_MODELPLANE_COMPLETE": "bash_complete", "COMP_WORDS": "\n".join(words)}
    environment["COMP_CWORD"] = str(len(words) - 1)
    got = CliRunner(env=environment).invoke(main, prog_name="modelplane")
    assert got.stderr == ""
    return got.stdout.splitlines()


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("modelplane pl", ["plain,plan"]),
        ("modelplane cel ", ["plain,check", "plain,eval"]),
        ("modelplane --qu", ["plain,--quiet"]),
        ("modelplane plan --ch", ["plain,--change"]),
        ("modelplane plan -o m", ["plain,markdown"]),
        ("modelplane plan ex", ["file,ex"]),
        ("modelplane plan --change ex", ["file,ex"]),
        ("modelplane explain ex", ["file,ex"]),
        ("modelplane explain examples/tour ModelServ", ["plain,ModelService/ml-team/qwen"]),
        ("modelplane explain examples/tour examples/sp", ["file,examples/sp"]),
        ("modelplane what-if examples/spare --drain i", ["plain,iowa"]),
        ("modelplane what-if examples/spare --lose t", ["plain,taiwan"]),
        ("modelplane schema ModelD", ["plain,ModelDeployment"]),
        ("modelplane help cel c", ["plain,check"]),
        ("modelplane completion f", ["plain,fish"]),
    ],
)
def test_a_word_is_completed(line: str, want: list[str]) -> None:
    assert completed(line) == want


def test_every_command_is_proposed() -> None:
    assert completed("modelplane ") == [f"plain,{name}" for name in main.list_commands(click.Context(main))]


def test_an_answer_needs_neither_commands_nor_models_nor_yaml() -> None:
    program = (
        "import sys, click.shell_completion as s; from function.main import main;"
        "found = s.BashComplete(main, {}, 'modelplane', '_X').get_completions(['explain', 'examples/tour'], 'ModelD');"
        "print(len(found), *sys.modules)"
    )
    got = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)

    count, *modules = got.stdout.split()
    assert (int(count) > 0, {"pydantic", "grpc", "yaml", "rich"} & set(modules)) == (True, set())


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_the_names_are_those_of_the_objects_in_the_files(folder: Path) -> None:
    loaded, _ = files.examine([str(folder)])
    want = {
        (one.kind[1], one.identity.namespace, one.identity.name)
        for one in loaded
        if one.kind[0] == "modelplane.ai/v1alpha1"
    }
    assert set(completion.named([str(folder)])) == want


def test_a_name_is_not_that_of_a_label(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: 'modelplane.ai/v1alpha1'\nkind: \"ModelService\"\nmetadata:\n"
        "  labels:\n    name: wrong\n  name: right\n  namespace: ml\nspec:\n  name: wrong\n---\n"
        "apiVersion: modelplane.ai/v1alpha1\nkind: ModelService\nmetadata: {name: b, labels: {name: no}}\n"
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: other\n"
    )
    (tmp_path / "broken.yaml").write_bytes(b"\xff\xfe{")
    (tmp_path / "gone.yaml").symlink_to("nowhere")

    got = [tuple(one) for one in completion.named([str(tmp_path)])]

    assert got == [("ModelService", "ml", "right"), ("ModelService", "", "b")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_code_for_a_shell_calls_this_program(shell: str) -> None:
    got = CliRunner().invoke(main, ["completion", shell])

    assert (got.exit_code, f"_MODELPLANE_COMPLETE={shell}_complete" in got.stdout) == (0, True)


def test_bash_takes_its_code_and_completes_with_it(tmp_path: Path) -> None:
    program = tmp_path / "modelplane"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c \'from function.main import main; main(prog_name="modelplane")\' "$@"\n'
    )
    program.chmod(0o755)
    script = (
        "source <(modelplane completion bash); COMP_WORDS=(modelplane explain examples/tour ModelServ); COMP_CWORD=3;"
        "_modelplane_completion modelplane; echo ${COMPREPLY[@]}"
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    got = subprocess.run(["bash", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert (got.stdout, got.stderr) == ("ModelService/ml-team/qwen\n", "")


def parameters() -> dict[str, list[click.Parameter]]:
    """What the help calls the values of parameters, and the parameters."""
    found: dict[str, list[click.Parameter]] = {}
    for path in paths():
        for param in command(path).params:
            if not getattr(param, "is_flag", False) and not isinstance(param.type, (click.Choice, click.Path)):
                found.setdefault(param.make_metavar(click.Context(main)), []).append(param)
    return found


FREE = {
    "CLUSTER/POOL=N", "CONTEXT", "EXPR", "HOST:PORT", "INTEGER", "INTEGER RANGE", "KEY=FILE", "KEY=JSON", "KIND,...",
    "NAME", "NAMESPACE", "NAMESPACE/NAME=N", "ORG/NAME", "PATTERN", "REV", "TEXT",
}  # fmt: skip
"""Values that only the user knows."""


@pytest.mark.parametrize("metavar", sorted(parameters()))
def test_every_value_is_completed_or_free(metavar: str) -> None:
    """A new word for files in a help must be in `completion` too."""
    known = {bool(completion.kind(param)) for param in parameters()[metavar]}

    assert known == {metavar not in FREE}


def test_words_of_a_list_are_completed_one_by_one() -> None:
    option = click.Option(["--fail-on"], metavar="short|lost|change")
    type_ = completion.kind(option)
    assert type_ is not None

    got = [type_.shell_complete(click.Context(main), option, text) for text in ("", "lo", "short,", "short,ch")]

    assert [[item.value for item in items] for items in got] == [
        ["change", "lost", "short"],
        ["lost"],
        ["short,change", "short,lost", "short,short"],
        ["short,change"],
    ]


def test_the_outline_is_that_of_the_commands() -> None:
    """`modelplane generate` writes it."""
    path = ROOT / "function/cli" / completion.OUTLINE

    assert json.loads(path.read_text()) == {
        "commands": reference.outline(main),
        "kinds": sorted(kind.kind for kind in KINDS),
    }
