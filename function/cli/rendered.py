"""Files that another tool renders before they are manifests: Helm charts, and patches of Kustomize."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from function.cli.meant import mentions, names_a_kind
from function.cli.values import Position
from function.cli.yaml_errors import lines_of
from function.core import dig_list

CHART: Final = "Chart.yaml"
TEMPLATES: Final = "templates"
KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Files next to manifests that contain none (kustomize v5, konfig.RecognizedKustomizationFileNames)."""
_LISTS: Final = (
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "replacements",
    "transformers",
    "configurations",
)
"""Fields of a kustomization that name files which are no manifests (kustomize v5, types.Kustomization)."""
_BASES: Final = ("resources", "bases", "components")
"""Fields of a kustomization that name folders with others, or files."""
_TEMPLATE = re.compile(
    r"^\s*(?:-\s+)?\{\{-?\s|\{\{-?\s*(?:\$?\.|include\b|toYaml\b|tpl\b|default\b)|^\s*\{%-?\s", re.MULTILINE
)
_MOST = 1_000_000
"""How much of a kustomization is looked into, in characters."""


def helm(chart: Path | str) -> str:
    """What to do with a Helm chart."""
    return f"render it first: helm template {shlex.quote(str(chart))} | {_command()}"


def kustomize(folder: Path) -> str:
    """What to do with a folder that has a kustomization."""
    return f"render it first: kustomize build {shlex.quote(str(folder))} | {_command()}"


def remedy(file: Path) -> str:
    """What to do with a template."""
    return helm(chart_of(file) or "CHART")


def _command() -> str:
    """The command that is run, as it reads standard input."""
    import click

    context = click.get_current_context(silent=True)
    name = context.info_name if context and context.parent else "validate"
    return f"modelplane {name} -"


def kustomization(folder: Path) -> str:
    """A note on a kustomization that was named itself."""
    return f"{folder}: a kustomization is not a manifest; {kustomize(folder)}"


# Helm


def chart_of(path: Path) -> Path | None:
    """The Helm chart whose template a file is, or whose folder of templates a folder is or is in."""
    for folder in (path, *path.parents):
        if folder.name == TEMPLATES and os.path.isfile(folder.parent / CHART):  # noqa: PTH113
            return folder.parent
    return None


def is_template(text: str, position: Position | None) -> bool:
    """Whether a text that is not valid YAML is a template: of Helm, Go or Jinja."""
    lines = lines_of(text)
    at = lines[position.line - 1] if position and position.line <= len(lines) else ""
    return "{{" in at or bool(_TEMPLATE.search(text))


# Kustomize


def patched_in(file: Path) -> Path | None:
    """The folder, of those directly above a file, whose kustomization names the file as a patch; None if none does."""
    return patches([file.parent, *above(file.parent)]).get(os.path.realpath(file))


def above(folder: Path) -> list[Path]:
    """The two folders above a folder."""
    return [_joined(folder, up) for up in ("..", "../..")]


def patches(folders: Iterable[Path]) -> Mapping[str, Path]:
    """The files that kustomizations in some folders name as patches, by their real paths: each with the folder."""
    return {os.path.realpath(folder / name): folder for folder in folders for name in _patches(_read(folder))}


def included(folder: Path) -> frozenset[Path]:
    """The folders that a kustomization builds upon, directly or not."""
    found: set[Path] = set()
    waiting = list(_bases(folder))
    while waiting:
        if (below := waiting.pop()) not in found:
            found.add(below)
            waiting += _bases(below)
    return frozenset(found)


def patch(folder: Path, file: Path) -> str:
    """A note on a patch that was passed over; empty if it is about no kind of ours."""
    texts = [_text(file), *(_text(folder / name) for name in KUSTOMIZATIONS)]
    if not any(mentions(text) or names_a_kind(text) for text in texts):
        return ""
    return f"{folder}: patches of Kustomize were skipped; {kustomize(folder)}"


def _joined(folder: Path, path: str) -> Path:
    return Path(os.path.normpath(folder / path))


def _bases(folder: Path) -> Iterator[Path]:
    kustomization = _read(folder)
    for name in (name for field in _BASES for name in dig_list(kustomization, field)):
        if isinstance(name, str) and "\0" not in name:
            yield _joined(folder, name)


def _patches(kustomization: Any) -> Iterator[str]:
    for entry in (entry for field in _LISTS for entry in dig_list(kustomization, field)):
        path = entry.get("path") if isinstance(entry, dict) else entry
        if isinstance(path, str) and not set("\n\0") & set(path):  # several lines are a patch written in place
            yield path


def _read(folder: Path) -> Any:
    """The kustomization in a folder; None if it cannot be read, which kustomize will say."""
    text = next(filter(None, (_text(folder / name) for name in KUSTOMIZATIONS)), "")
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (ValueError, yaml.YAMLError, RecursionError):
        return None


def _text(file: Path) -> str:
    """The content of a file; empty if it is none, or cannot be read."""
    try:
        if not file.is_file():  # a pipe would block
            return ""
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST)
    except OSError:
        return ""
