"""Checks of one object: kind and version, spec, and rules over the whole."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from function.core import Manifest, closest, dig
from function.publish.catalog import BY_KIND, GROUPS, Kind
from function.schema import Path, problems
from function.validation import metadata, references
from function.validation.finding import Finding

_ALIKE = 0.7
"""Similarity from which a group counts as a misspelling of ours: modelplane.io does, llm-d.ai does not."""


def findings(index: int, manifest: Manifest, kind: Kind) -> Iterator[Finding]:
    """Report problems of an object of one of our kinds."""
    yield from metadata.findings(index, manifest, kind)
    for problem in problems(kind.spec, manifest):
        hint = _shorthand(manifest, problem.path)
        yield Finding(index, problem.path, f"{problem.message}{hint}", problem.code)
    for rule in kind.root_rules:
        if rule.holds is not None and not rule.holds(manifest):
            yield Finding(index, tuple(rule.at.split(".")), rule.message, "rule")


def _shorthand(manifest: Manifest, path: Path) -> str:
    """Return what to write where a name is given instead of the reference that has it; empty for anything else."""
    value = dig(manifest, *path)
    return (
        f"; write {{name: {value}}}"
        if isinstance(value, str) and references.holds_a_name(manifest["kind"], path)
        else ""
    )


def is_ours(manifest: Manifest) -> bool:
    """Return whether an object is of one of our groups, or was meant to be.

    It was if its kind is ours, and its group looks like one of Kubernetes' own or is nearly ours.
    """
    group, slash, _ = str(manifest["apiVersion"]).rpartition("/")
    if group in GROUPS:
        return True
    may_be_kubernetes = "." not in group or not slash
    alike = difflib.get_close_matches(group, GROUPS, n=1, cutoff=_ALIKE)
    return bool(_served(manifest["kind"])) and (may_be_kubernetes or bool(alike))


def unserved(index: int, manifest: Manifest) -> Finding:
    """Report an object of one of our groups whose kind or version does not exist."""
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    served = _served(kind)
    if served:
        problem = f"must be {', '.join(served)} for kind {kind}, not {api_version}"
        return Finding(index, ("apiVersion",), problem, "api-version")
    known = sorted({known for _, known in BY_KIND})
    meant = closest(str(kind), known)
    hint = f"; did you mean {meant}?" if meant else ""
    return Finding(index, ("kind",), f"must be one of {', '.join(known)}, not {kind}{hint}", "api-version")


def _served(kind: str) -> list[str]:
    """Return the versions that serve a kind of ours."""
    return sorted(version for version, known in BY_KIND if known == kind)
