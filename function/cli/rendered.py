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
"""Fields of a kustomization that name folders with others, among files."""
_TEMPLATE = re.compile(
    r"^\s*(?:-\s+)?\{\{-?\s|\{\{-?\s*(?:\$?\.|include\b|toYaml\b|tpl\b|default\b)|^\s*\{%-?\s", re.MULTILINE
)
_FILES = 1_000_000
"""Largest kustomization that is looked into, in bytes."""


def helm(chart: Path | str) -> str:
    """What to do with a Helm chart."""
    return f"render it first: helm template {shlex.quote(str(chart))} | {_command()}"


def kustomize(folder: str) -> str:
    """What to do with a folder that has a kustomization."""
    return f"render it first: kustomize build {shlex.quote(folder or '.')} | {_command()}"


def remedy(file: Path) -> str:
    """What to do with a template."""
    return helm(chart_of(file) or "CHART")


def _command() -> str:
    """The command that is run, as it reads standard input."""
    import click

    context = click.get_current_context(silent=True)
    name = context.info_name if context and context.parent else "validate"
    return f"modelplane {name} -"


def kustomization(folder: str) -> str:
    return f"{folder or '.'}: a kustomization is not a manifest; {kustomize(folder)}"


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
    folder = os.path.dirname(file)  # noqa: PTH120
    beside = [os.path.join(folder, name) for name in KUSTOMIZATIONS]  # noqa: PTH118
    found = patches([*beside, *above(folder)]).get(os.path.realpath(file))
    return None if found is None else Path(found)


def above(folder: str) -> list[str]:
    """Where the kustomizations of the two folders above a folder would be."""
    ups = (os.path.normpath(os.path.join(folder, up)) for up in ("..", "../.."))  # noqa: PTH118
    return [os.path.join(up, name) for up in ups for name in KUSTOMIZATIONS]  # noqa: PTH118


def patches(kustomizations: Iterable[str]) -> Mapping[str, str]:
    """The files that kustomizations name as patches, by their real paths: each with the folder of its kustomization."""
    found = {}
    for kustomization in kustomizations:
        folder = os.path.dirname(kustomization)  # noqa: PTH120
        for name in _patches(kustomization):
            found[os.path.realpath(os.path.join(folder, name))] = folder  # noqa: PTH118
    return found


def included(folder: str) -> frozenset[str]:
    """The folders that a kustomization builds upon, directly or not."""
    found: set[str] = set()
    waiting = list(_bases(folder))
    while waiting:
        if (below := waiting.pop()) not in found:
            found.add(below)
            waiting += _bases(below)
    return frozenset(found)


def _bases(folder: str) -> Iterator[str]:
    for file in KUSTOMIZATIONS:
        for name in _folders(os.path.join(folder, file)):  # noqa: PTH118
            yield os.path.normpath(os.path.join(folder, name))  # noqa: PTH118


def _folders(kustomization: str) -> Iterator[str]:
    content = _read(kustomization)
    for name in (name for field in _BASES for name in dig_list(content, field)):
        if isinstance(name, str) and not name.lower().endswith((".yaml", ".yml", ".json")):
            yield name


def _patches(kustomization: str) -> tuple[str, ...]:
    return tuple(_named(_read(kustomization)))


def _named(kustomization: Any) -> Iterator[str]:
    for entry in (entry for field in _LISTS for entry in dig_list(kustomization, field)):
        path = entry.get("path") if isinstance(entry, dict) else entry
        if isinstance(path, str) and "\n" not in path:  # several lines are a patch written in place
            yield path


def _read(kustomization: str) -> Any:
    """The content of a kustomization; None if it cannot be read, which kustomize will say."""
    try:
        with open(kustomization, encoding="utf-8") as file:  # noqa: PTH123
            return yaml.load(file.read(_FILES), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None


def patch(folder: str, file: str) -> str:
    """A note on a patch that was passed over; empty if it is about no kind of ours."""
    texts = [_text(file), *(_text(os.path.join(folder, name)) for name in KUSTOMIZATIONS)]  # noqa: PTH118
    if not any(mentions(text) or names_a_kind(text) for text in texts):
        return ""
    return f"{folder}: patches of Kustomize were skipped; {kustomize(folder)}"


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:  # noqa: PTH123
            return opened.read(_FILES)
    except OSError:
        return ""
