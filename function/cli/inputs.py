"""What a command passed over in its input, counted, and what to say where nothing of ours is left."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import click

from function.cli import terminal
from function.cli.values import BrokenFile, readable
from function.core import plural, visible
from function.vocabulary import versions

NOTHING = "nothing"
"""Code of the error that the input has no object of ours."""
_NOTED = "function.cli.inputs.noted"
_MOST_KINDS = 8
"""Foreign kinds that a sentence lists before it counts the others."""
_EXPECTED = f"YAML or JSON with objects of {versions.MODELPLANE}, such as a ModelDeployment"


@dataclass(slots=True)
class Skipped:
    """Objects and files that are not of ours."""

    kinds: Counter[str] = field(default_factory=Counter)
    """Objects of foreign kinds, by kind."""
    not_kubernetes: int = 0
    """Files without a Kubernetes object."""
    unreadable: list[BrokenFile] = field(default_factory=list)
    """Files that are not valid YAML, and name no apiVersion of ours."""
    excluded: int = 0
    """Files and folders."""
    templates: int = 0
    """Files of Helm charts."""
    patches: int = 0
    """Files of Kustomize."""
    notes: list[str] = field(default_factory=list)
    """What to do with files that another tool renders."""

    @property
    def files(self) -> int:
        """Files and folders that were not read."""
        return self.excluded + self.templates + self.patches

    def note(self, text: str) -> None:
        if (told := readable(text)) not in self.notes:
            self.notes.append(told)

    def note_if(self, text: str) -> None:
        if text:
            self.note(text)

    def and_kinds(self, kinds: Counter[str]) -> Skipped:
        """The same, with more objects."""
        return replace(self, kinds=self.kinds + kinds)

    def __str__(self) -> str:
        """What was skipped, in words; empty if nothing was."""
        files = [f"{what} ({count})" for what, count in self._of_files().items() if count]
        if self.unreadable:
            files.append(f"files that are not valid YAML ({len(self.unreadable)}, such as {self.unreadable[0].place})")
        kinds = [f"{kind} ({count})" for kind, count in sorted(self.kinds.items(), key=lambda one: (-one[1], one[0]))]
        more = sum(sorted(self.kinds.values(), reverse=True)[_MOST_KINDS:])
        rest = [f"{plural(len(kinds) - _MOST_KINDS, 'more kind')} ({more})"] if more else []
        return ", ".join([*kinds[:_MOST_KINDS], *rest, *files])

    def _of_files(self) -> dict[str, int]:
        return {
            "files without Kubernetes objects": self.not_kubernetes,
            "excluded files and folders": self.excluded,
            "templates of Helm": self.templates,
            "patches of Kustomize": self.patches,
        }

    def lines(self) -> list[str]:
        """What was skipped that the user did not exclude, and what to do about it."""
        told = str(replace(self, excluded=0))
        return [*([f"skipped: {told}"] if told else []), *self.notes]

    def data(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "kinds": dict(sorted(self.kinds.items())),
            "notKubernetes": self.not_kubernetes,
            "notYAML": [str(one) for one in self.unreadable],
            "excluded": self.excluded,
            "templates": self.templates,
            "patches": self.patches,
            "notes": list(self.notes),
        }


def nothing(skipped: Skipped, read: int, *, is_empty: bool) -> str:
    """The error that an input has no object of ours.

    Args:
        skipped: What was passed over.
        read: Number of files that were read.
        is_empty: Whether none of them has any content.
    """
    found = f"; skipped: {skipped}" if str(skipped) else ""
    empty = ", which is empty" if read == 1 else ", which are empty"
    where = f"{plural(read, 'file')}{empty if is_empty and read else ''}"
    return f"no object of Modelplane in {where}{found}; expected {_EXPECTED}"


def note(skipped: Skipped) -> None:
    """Keep what the command skipped in its input for its output, and tell it on standard error."""
    lines = skipped.lines()
    if lines:
        keep("skipped", skipped.data())
    for line in () if terminal.is_quiet() else lines:
        click.echo(visible(line), err=True)


def keep(field: str, data: dict[str, Any]) -> None:
    """Keep a field about the command's input for its output for programs."""
    context = click.get_current_context(silent=True)
    if context:
        context.meta.setdefault(_NOTED, {}).setdefault(field, data)


def noted() -> dict[str, Any]:
    """What was kept about the command's input, as fields of its output for programs."""
    context = click.get_current_context(silent=True)
    return dict(context.meta.get(_NOTED, {})) if context else {}
