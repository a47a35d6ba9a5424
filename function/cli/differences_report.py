"""What an edit changes, field by field and manifest by manifest: part of the reports of plans.

Manifests that change in the same way, such as those of the replicas of one deployment, are one group: their fields
differ in the same values, apart from the names that follow from the replica's. A group shows the diff of its first
manifest and counts the others.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.cli import yaml_text
from function.core import Manifest, enumerate_names, plain, plural
from function.core.manifest import is_list
from function.planning import sensitive
from function.planning.differences import CONTROL_CLUSTER, Differences, Edit, ManifestChange
from function.planning.field_changes import FieldChange

NO_MANIFESTS = "no manifest changes"
CONTEXT = 3
_LONGEST = 100
"""Characters of a value on its line."""
_JSON = 80
"""A text of JSON that is longer is shown over several lines."""
_LEAD = 24
"""Characters before the first difference of two long values."""
_HASH = re.compile(r"\*([\w.-]*?)-[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True)
class Group:
    """Manifests that change in the same way."""

    changes: tuple[ManifestChange, ...]
    is_direct: bool
    """Whether what they are a part of was edited. The others follow: the route of a service from a new endpoint."""

    @property
    def first(self) -> ManifestChange:
        return self.changes[0]

    @property
    def title(self) -> str:
        """Such as `Deployment ml-team/qwen-1234-vllm on iowa, and 2 more on iowa, taiwan`."""
        first, *more = self.changes
        what = "" if first.what == "changed" else f", {first.what}"
        others = enumerate_names(sorted({one.where for one in more}))
        return (
            f"{first.kind} {first.name} on {first.where}{what}{f', and {len(more)} more on {others}' if more else ''}"
        )


def groups(differences: Differences) -> list[Group]:
    """The manifests that differ, in groups: first those that change directly."""
    found: dict[tuple[bool, str, str, str], list[ManifestChange]] = {}
    for change, is_direct in differences.direct:
        found.setdefault((not is_direct, change.what, change.kind, _likeness(change)), []).append(change)
    return [Group(tuple(found[key]), is_direct=not key[0]) for key in sorted(found, key=lambda key: key[0])]


def _likeness(change: ManifestChange) -> str:
    """What a manifest's change has in common with those of other composites."""
    if change.what != "changed":
        return change.owner.kind
    text = repr([(field.what, field.path, plain(field.before), plain(field.after)) for field in change.fields])
    return _HASH.sub(r"*\1", text.replace(change.owner.name, "*"))


# Text


def field_line(change: FieldChange) -> str:
    """A field that differs, such as `spec.replicas: 1 -> 2`."""
    before, after = values(change)
    match change.what:
        case "added":
            return f"{change.path}: added {after}"
        case "removed":
            return f"{change.path}: removed {before}"
        case "reordered":
            return f"{change.path}: order {before} -> {after}"
        case _:
            return f"{change.path}: {before} -> {after}"


def values(change: FieldChange) -> tuple[str, str]:
    """Both values on a line each: of long ones, the part around the first difference."""
    before, after = (json.dumps(value, ensure_ascii=False) for value in _shown_values(change))
    same = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    start = max(0, same - _LEAD) if max(len(before), len(after)) > _LONGEST and change.what == "changed" else 0
    first, then = (_cut(text, start) for text in (before, after))
    return first, then


def _cut(text: str, start: int) -> str:
    tail = text[start:]
    end = tail if len(tail) <= _LONGEST else f"{tail[: _LONGEST - 1]}…"
    return f"…{end}" if start else end


def _shown_values(change: FieldChange) -> tuple[Any, Any]:
    known = sensitive.tokens_in(repr(change.before)) if change.what == "changed" else None
    return _revealed(change.before, None), _revealed(change.after, known)


def _revealed(value: Any, known: frozenset[str] | None) -> Any:
    """A value with what is shown for its sensitive parts."""
    if isinstance(value, Mapping):
        return {key: _revealed(one, known) for key, one in value.items()}
    if is_list(value):
        return [_revealed(one, known) for one in value]
    return sensitive.shown(value, known) if isinstance(value, str) else value


def diff(change: ManifestChange) -> list[str]:
    """A unified diff of a manifest, without the lines that name the files. Of a new or removed one, its text."""
    before, after = (_text(manifest) for manifest in (change.before, change.after))
    lines = [*difflib.unified_diff(before, after, n=CONTEXT, lineterm="")][2:]
    known = frozenset(token for line in before for token in sensitive.tokens_in(line))
    return [sensitive.shown(line, known if line.startswith("+") else None) for line in lines]


def _text(manifest: Manifest | None) -> list[str]:
    return yaml_text.document(_readable(manifest)).splitlines() if manifest is not None else []


def _readable(value: Any) -> Any:
    """A value in which long texts of JSON have a line for each field."""
    if isinstance(value, Mapping):
        return {key: _readable(one) for key, one in value.items()}
    if is_list(value):
        return [_readable(one) for one in value]
    return _indented(value) if isinstance(value, str) and len(value) > _JSON and value[0] in "{[" else value


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return text


def edit_lines(differences: Differences) -> Iterator[str]:
    """Every edit, with a line for each field."""
    for edit in differences.edits:
        yield f"{edit.kind} {edit.name}{_remark(edit, differences)}"
        yield from (f"  {field_line(field)}" for field in edit.fields)


def _remark(edit: Edit, differences: Differences) -> str:
    if edit.what != "changed":
        return f": {edit.what}"
    return "" if differences.manifests else f": {NO_MANIFESTS}"


def diff_lines(shown: Sequence[Group], most: int | None) -> Iterator[str]:
    """The diff of each group, below its title.

    Args:
        shown: The groups.
        most: The number of lines, at most. A diff that does not fit ends with what is left out of it. Of a manifest
            that follows from others, there is only how many lines change. None for everything.
    """
    room = most
    for group in shown:
        lines = diff(group.first) if group.first.what == "changed" else []
        if lines and most is not None and not group.is_direct:
            yield f"{group.title}: {_size(lines)}; --all shows them"
            continue
        yield group.title
        kept = lines if room is None else lines[:room]
        yield from (f"  {line}" for line in kept)
        if len(kept) < len(lines):
            yield f"  … {len(lines) - len(kept)} more lines; --all shows them"
        room = None if room is None else room - len(kept)


def _size(lines: Iterable[str]) -> str:
    """Such as `10 lines added, 2 removed`."""
    signs = [line[:1] for line in lines]
    return f"{plural(signs.count('+'), 'line')} added, {signs.count('-')} removed"


# Data


def edits_data(edits: Iterable[Edit]) -> list[dict[str, Any]]:
    return [
        {
            "change": edit.what,
            "kind": edit.kind,
            "namespace": edit.name.namespace,
            "name": edit.name.name,
            "fields": [_field_data(field) for field in edit.fields],
        }
        for edit in edits
    ]


def _field_data(change: FieldChange) -> dict[str, Any]:
    before, after = _shown_values(change)
    values = {"before": plain(before), "after": plain(after)}
    left_out = {"added": "before", "removed": "after"}.get(change.what)
    return {"change": change.what, "path": change.path, **{k: v for k, v in values.items() if k != left_out}}


def manifests_data(shown: Iterable[Group]) -> list[dict[str, Any]]:
    return [
        {
            "change": group.first.what,
            "kind": group.first.kind,
            "diff": "".join(f"{line}\n" for line in diff(group.first)) if group.first.what == "changed" else "",
            "manifests": [
                {
                    "cluster": None if change.where == CONTROL_CLUSTER else change.where,
                    "namespace": change.name.namespace,
                    "name": change.name.name,
                    "owner": {
                        "kind": change.owner.kind,
                        "namespace": change.owner.namespace,
                        "name": change.owner.name,
                    },
                }
                for change in group.changes
            ],
        }
        for group in shown
    ]
