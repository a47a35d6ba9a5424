"""Two states of a fleet in files, and the edits that lead from one to the other.

An edit is an object to create or replace, or one with a `deletionTimestamp` to delete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import click

from function.cli.files import Loaded
from function.planning import applying, desired
from function.planning.control_plane import kinds
from function.planning.desired import Key
from function.sandbox.schemas import ServedKinds


def difference(base: Sequence[Loaded], head: Sequence[Loaded]) -> list[Loaded]:
    """The edits from one state to the other. Objects that only a cluster writes are no part of either.

    Args:
        base: The state before; it may be a dump of a live fleet.
        head: The whole state after. An object of ours that is missing in it is deleted.
    """
    served = kinds()
    wanted = [replace(one, manifest=_edit(one)) for one in head if desired.is_authored(one.manifest)]
    there = _by_key(wanted, served)
    gone = [one for key, one in _by_key(base, served).items() if key not in there]
    return [
        *changed(base, wanted),
        *(replace(one, manifest=desired.deletion(one.manifest)) for one in gone if desired.is_deletable(one.manifest)),
    ]


def changed(base: Iterable[Loaded], edits: Iterable[Loaded]) -> list[Loaded]:
    """The edits that change something: deletions, and objects that are new or differ from those in the files.

    Raises:
        ClickException: An object without a namespace may be one that is in a namespace before.
    """
    served = kinds()
    old = _by_key(base, served)
    pairs = [(edit, old.get(desired.key(edit.manifest, served))) for edit in edits]
    found = [(edit, before) for edit, before in pairs if _changes(before, edit, served)]
    _check_namespaces(old, [edit for edit, _ in found if not edit.identity.namespace], served)
    return [_replacing(before, edit) for edit, before in found]


def applied(base: Iterable[Loaded], edits: Iterable[Loaded]) -> list[Loaded]:
    """The edits as `kubectl apply` would carry them out on a live fleet."""
    served = kinds()
    old = _by_key(base, served)
    return [_applied(old.get(desired.key(edit.manifest, served)), edit) for edit in edits]


def _applied(before: Loaded | None, edit: Loaded) -> Loaded:
    if before is None or desired.is_deletion(edit.manifest):
        return edit
    return replace(edit, manifest=applying.applied(before.manifest, edit.manifest))


def _check_namespaces(old: Mapping[Key, Loaded], unstated: Iterable[Loaded], served: ServedKinds) -> None:
    """Raise ClickException for a new object without a namespace, if another namespace has one of its name.

    It is probably the same, as the user's context would tell kubectl; then it is neither new nor is the other deleted.
    """
    elsewhere = {(group, kind, name): one for (group, kind, _, name), one in old.items()}
    for edit in unstated:
        group, kind, namespace, name = key = desired.key(edit.manifest, served)
        other = elsewhere.get((group, kind, name))
        if namespace and key not in old and other:
            at, there = edit.source.at(("metadata",)), other.identity.namespace
            raise click.ClickException(
                f"{at}: {kind} {name} has no namespace, and there is one in namespace {there} ({other.source.at()}); "
                f"add metadata.namespace to say whether it is the same"
            )


def edited(base: Iterable[Loaded], edits: Iterable[Loaded]) -> list[Loaded]:
    """The state after some edits."""
    served = kinds()
    found = {**_by_key(base, served), **_by_key(edits, served)}
    return [one for one in found.values() if not desired.is_deletion(one.manifest)]


def _edit(one: Loaded) -> dict[str, object]:
    return (desired.deletion if desired.is_deletion(one.manifest) else desired.authored)(one.manifest)


def _replacing(before: Loaded | None, edit: Loaded) -> Loaded:
    """An edit of an object that is there, or any other edit as it is."""
    if before is None or desired.is_deletion(edit.manifest):
        return edit
    return replace(edit, manifest=desired.replacing(before.manifest, edit.manifest))


def _changes(old: Loaded | None, edit: Loaded, served: ServedKinds) -> bool:
    if old is None or desired.is_deletion(edit.manifest):
        return True
    return desired.differ(old.manifest, edit.manifest, served)


def _by_key(loaded: Iterable[Loaded], served: ServedKinds) -> dict[Key, Loaded]:
    return {desired.key(one.manifest, served): one for one in loaded}
