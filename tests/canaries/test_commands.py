"""No command that reads manifests shows a canary, in any format, in messages, in progress, or in a picture.

The commands and their formats are those of the program: a new command fails a test until it is listed here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from function.main import main
from tests.support import canary_places, live_fleets
from tests.support.canaries import Canary, Leak, search

Object = dict[str, Any]
EXAMPLE = "tiers"
FLEET, EDITS, BROKEN, XR, HTML = "{fleet}", "{edits}", "{broken}", "{xr}", "{html}"
DRIVEN: dict[str, list[tuple[str, ...]]] = {
    "plan": [(FLEET, "--all"), (FLEET, "--change", EDITS, "--all", "--html", HTML), (BROKEN,)],
    "what-if": [
        (FLEET, "--lose", "any", "--all"),
        (FLEET, "--drain", "{cluster}", "--html", HTML),
        (BROKEN, "--lose", "any"),
    ],
    "explain": [(FLEET, "{deployment}", "--html", HTML), (FLEET, "{endpoint}"), (FLEET, "InferenceCluster/{cluster}")],
    "top": [(FLEET,), (BROKEN,)],
    "manifests": [(FLEET,), (BROKEN,)],
    "simulate": [(FLEET, "--steps", "5"), (BROKEN, "--steps", "5")],
    "render": [(XR, "-e", FLEET, "-r"), (XR, "-e", BROKEN, "-r"), (BROKEN, "-e", FLEET)],
    "validate": [(FLEET, "--strict"), (BROKEN,)],
    "convert": [(FLEET,), (BROKEN,), (FLEET, "--classes", BROKEN)],
}
"""Arguments of each command that reads manifests."""
OTHERS = {
    "cel check": "Reads an expression.",
    "cel eval": "Reads an expression and a ResourceSlice.",
    "class from-cluster": "Reads nodes and ResourceSlices.",
    "serve": "tests/canaries/test_served.py",
    "hydrate": "tests/canaries/test_hydrated.py",
    "observe": "Reads a cluster: tests/canaries/test_observed.py",
    "schema": "Reads nothing.",
    "completion": "Reads nothing.",
    "generate": "Reads nothing.",
    "help": "Reads nothing.",
    "version": "Reads nothing.",
}
"""Why no other command is driven here."""


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, f"{path}{name} ")
        else:
            yield f"{path}{name}", found


def formats(command: str) -> list[tuple[str, ...]]:
    """The options that choose each format of a command."""
    params = dict(commands(main))[command].params
    choices = [p.type.choices for p in params if "--output" in p.opts and isinstance(p.type, click.Choice)]
    return [("-o", one) for one in choices[0]] if choices else [()]


def test_every_command_is_listed() -> None:
    assert sorted(name for name, _ in commands(main)) == sorted({*DRIVEN, *OTHERS})


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], list[Canary]]:
    """Files with canaries, by the words for them, and the canaries."""
    folder = tmp_path_factory.mktemp("planted")
    objects = [*copy.deepcopy(live_fleets.settled(EXAMPLE)), _secret()]
    planter = canary_places.Planter(refused=True, words=True)
    planter.everything(objects)
    edits = copy.deepcopy([one for one in objects if one["kind"] in ("ModelDeployment", "ModelEndpoint", "Secret")])
    for edit in edits:
        planter.edit(edit)
    broken = [edited for one in edits for edited in planter.broken(one)]
    named = {kind: next(one for one in objects if one["kind"] == kind) for kind in _NAMED}
    files = {"fleet": objects, "edits": edits, "broken": [*objects, *broken], "xr": [named["ModelEndpoint"]]}
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(content))
    words = {f"{{{name}}}": str(folder / f"{name}.yaml") for name in files}
    return {**words, **{word: _reference(named[kind]) for kind, word in _NAMED.items()}}, [*planter.canaries.values()]


_NAMED = {"ModelDeployment": "{deployment}", "ModelEndpoint": "{endpoint}", "InferenceCluster": "{cluster}"}


def _reference(one: Object) -> str:
    namespace = one["metadata"].get("namespace")
    return f"{one['kind']}/{namespace}/{one['metadata']['name']}" if namespace else str(one["metadata"]["name"])


def _secret() -> Object:
    data = {"token": "eA==", "kubeconfig": "eA==", "credentials.json": "eA==", "tls.key": "eA=="}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "more", "namespace": "ml-team"}, "data": data}


RUNS = [(name, run, form) for name in DRIVEN for run in DRIVEN[name] for form in formats(name)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "run", "form"), RUNS, ids=lambda one: one if isinstance(one, str) else " ".join(one))
def test_no_command_shows_a_canary(
    name: str, run: tuple[str, ...], form: tuple[str, ...], planted: tuple[dict[str, str], list[Canary]], tmp_path: Path
) -> None:
    words, canaries = planted
    html = tmp_path / "page.html"
    arguments = [_filled(word, {**words, HTML: str(html)}) for word in run]

    got = CliRunner().invoke(main, [name, *arguments, *form], env={"MODELPLANE_TRACEBACK": "1"})

    told = {"stdout": got.stdout, "stderr": got.stderr, "html": html.read_text() if html.exists() else ""}
    assert got.output, got
    assert "a bug in modelplane" not in got.output, got.output
    assert [one for one in search(canaries, told) if not _is_asked_for(name, one)] == []


def _filled(word: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        word = word.replace(name, value)
    return word


def _is_asked_for(command: str, leak: Leak) -> bool:
    """Whether a command writes manifests for a machine, with what a user wrote in clear text into a pod template.

    `convert` also writes fields that it does not change, as they are: its report names those that are wrong.
    """
    written = {"render": ("env ", "args "), "convert": ("env ", "args ", "wrong ")}
    return leak.where == "stdout" and leak.place.startswith(written.get(command, ()))
