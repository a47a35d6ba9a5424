"""Patterns decide which files are staged, and a pattern that matches none is told with the files that are near."""

from __future__ import annotations

from pathlib import Path

import pytest

from function.hydrate import hub as hubs
from function.hydrate.files import File
from function.hydrate.selection import Nothing, Patterns, selected
from function.hydrate.stage import stage
from function.vocabulary.exit_codes import ExitCode
from tests.support.hub_standin import REPO, Hub, serving

GGUF = ("model-Q4_K_M.gguf", "model-Q8_0.gguf", "model-f16.gguf", "README.md", "config.json")
SAFE = ("config.json", "model.safetensors", "pytorch_model.bin", "original/consolidated.00.pth", "onnx/model.onnx")


def chosen(paths: tuple[str, ...], *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    files = [File(path, 1, "v") for path in paths]
    return [file.path for file in selected(files, Patterns(include, exclude), is_repository=True)]


def refused(paths: tuple[str, ...], **patterns: tuple[str, ...]) -> str:
    with pytest.raises(Nothing) as raised:
        chosen(paths, **patterns)
    return str(raised.value)


@pytest.mark.parametrize(
    ("paths", "include", "exclude", "want"),
    [
        (GGUF, ("*Q4_K_M.gguf",), (), ["model-Q4_K_M.gguf"]),
        (GGUF, ("model-Q8_0.gguf", "config.json"), (), ["config.json", "model-Q8_0.gguf"]),
        (GGUF, ("*.gguf",), ("*f16*", "*Q8*"), ["model-Q4_K_M.gguf"]),
        (SAFE, ("original/",), (), ["original/consolidated.00.pth"]),
        (SAFE, ("onnx/*", "config.json"), (), ["config.json", "onnx/model.onnx"]),
        (SAFE, ("*",), ("*.bin",), ["config.json", "model.safetensors", "onnx/model.onnx", SAFE[3]]),
        (SAFE, ("*.bin", "*.safetensors"), (), ["model.safetensors", "pytorch_model.bin"]),
        (SAFE, (), ("*.safetensors",), ["config.json", "pytorch_model.bin"]),
        (SAFE, ("model.safetensors", "tokenizer.model"), (), ["model.safetensors"]),
        (("tokenizer.json", "x.bin"), ("tokenizer*",), (), ["tokenizer.json"]),
    ],
)
def test_include_replaces_the_choice_of_formats_and_exclude_takes_away(
    paths: tuple[str, ...], include: tuple[str, ...], exclude: tuple[str, ...], want: list[str]
) -> None:
    assert chosen(paths, include=include, exclude=exclude) == want


def test_files_that_would_be_taken_for_ours_are_left_out_whatever_is_included() -> None:
    paths = ("model.safetensors", ".cache/a.safetensors", ".modelplane.json", ".modelplane-checked")

    assert chosen(paths, include=("*",)) == ["model.safetensors"]


@pytest.mark.parametrize(
    ("include", "want"),
    [
        (("*Q4_k_m.gguf",), "no file matches include *Q4_k_m.gguf; the nearest are model-Q4_K_M.gguf, "),
        (("*Q4.gguf",), "no file matches include *Q4.gguf; the nearest are model-Q4_K_M.gguf, "),
        (("*.safetensors",), "no file matches include *.safetensors; the nearest are "),
        (
            ("modle-Q8_0.gguf", "config.json"),
            "no file matches include modle-Q8_0.gguf; the nearest are model-Q8_0.gguf",
        ),
    ],
)
def test_a_pattern_without_a_file_is_told_with_the_nearest(include: tuple[str, ...], want: str) -> None:
    assert refused(GGUF, include=include).startswith(want)


def test_exclude_that_leaves_nothing_is_told() -> None:
    assert refused(SAFE, exclude=("*.safetensors", "*.bin")) == "exclude *.safetensors, *.bin leaves no file to load"
    assert refused(GGUF, include=("*.gguf",), exclude=("*",)) == "exclude * leaves no file to load"


def test_a_message_about_a_large_repository_stays_short() -> None:
    many = tuple(f"shard-{i:05}.bin" for i in range(20_000))

    assert len(refused(many, include=("*.gguf",))) < 200


def test_one_gguf_of_a_repository_is_staged_alone(tmp_path: Path) -> None:
    with serving(Hub({path: path.encode() for path in GGUF})) as hub:
        origin = hubs.Hub(REPO, "main", token=None, endpoint=hub.url)
        ended = stage(origin, to=tmp_path / "to", say=lambda _: None, patterns=Patterns(("*Q4_K_M.gguf",)))

    assert ended.exit_code is ExitCode.STAGED
    assert {p.name for p in (tmp_path / "to").iterdir()} == {"model-Q4_K_M.gguf", ".modelplane.json"}
    assert not {path for path in hub.gets if path.endswith(".gguf")} - {"model-Q4_K_M.gguf"}


def test_a_pattern_that_matches_nothing_stages_nothing_and_is_final(tmp_path: Path) -> None:
    with serving(Hub(dict.fromkeys(GGUF, b"x"))) as hub:
        origin = hubs.Hub(REPO, "main", token=None, endpoint=hub.url)
        ended = stage(origin, to=tmp_path / "to", say=lambda _: None, patterns=Patterns(("*.safetensors",)))

    assert ended.exit_code is ExitCode.NOTHING
    assert not list(tmp_path.iterdir())
