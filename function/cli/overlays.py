"""Folders that define the same objects: overlays of Kustomize are checked one at a time, others are told a remedy.

A kustomization is built on its own, so two of them may define one object: each is checked with what it includes, and
with every object outside of them. That folders without a kustomization are alternatives cannot be known.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from function.cli import rendered
from function.cli.files import Input, Loaded
from function.core import Manifest, enumerate_names
from function.validation import Finding

Check: TypeAlias = Callable[[list[Manifest]], list[Finding]]


def findings(given: Input, check: Check) -> list[Finding]:
    """All findings in an input, by object and field; those of each overlay, if some define the same objects.

    Args:
        given: The input.
        check: Finds what is wrong with objects that are one fleet.
    """
    views = list(_views(given))
    if len(views) == 1:
        return check([one.manifest for one in given.loaded])
    found = {finding for view in views for finding in _of(given.loaded, view, check)}
    return sorted(found, key=lambda finding: finding.order)


def note(given: Input) -> str:
    """Which overlays are checked one at a time; empty if none has to be."""
    names = [str(build) for build in sorted(_alternatives(given))]
    told = "checked one at a time, because they define the same objects"
    return f"{told}: {enumerate_names(names)}" if names else ""


def remedy(file: str, other: str) -> str:
    """What to do about an object that is in two files; empty if these are in one folder."""
    try:
        common = os.path.commonpath([file, other])
    except ValueError:  # one of them is absolute
        return ""
    folders = [_below(path, common) for path in (other, file)]
    if not all(folders):
        return ""
    first, second = folders
    names = f"{first} and {second}"
    return f"; if {names} are alternatives, name one of them, or use --exclude {shlex.quote(f'{second}/')}"


def _below(path: str, common: str) -> str:
    """The folder of a path directly below a common one; empty if there is none between."""
    parts = Path(path).relative_to(common).parts if common else Path(path).parts
    return str(Path(common, parts[0])) if len(parts) > 1 else ""


def _of(loaded: Sequence[Loaded], view: Sequence[int], check: Check) -> Iterator[Finding]:
    for finding in check([loaded[index].manifest for index in view]):
        other = view[finding.other] if finding.other is not None else None
        yield replace(finding, index=view[finding.index], other=other)


def _views(given: Input) -> Iterator[list[int]]:
    """The indices of the objects to check together: all of them, or for each alternative those that go with it."""
    alone = _alternatives(given)
    builds = [given.builds.get(one.source.file) for one in given.loaded]
    if not alone:
        yield list(range(len(builds)))
    for build in sorted(alone):
        left_out = alone - rendered.included(build) - {build}
        yield [index for index, of in enumerate(builds) if of not in left_out]


def _alternatives(given: Input) -> frozenset[Path]:
    """The folders with a kustomization that define an object which another one defines too."""
    found: dict[object, set[Path]] = {}
    for one in given.loaded:
        if build := given.builds.get(one.source.file):
            found.setdefault((one.kind, one.identity), set()).add(build)
    return frozenset(build for builds in found.values() if len(builds) > 1 for build in builds)
