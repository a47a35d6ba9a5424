"""Refused edits as errors with their places in the files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from function.cli.documents import FieldPath
from function.cli.files import Loaded
from function.cli.findings import FileFinding
from function.cli.regions import Region
from function.cli.values import Position
from function.planning import desired
from function.planning.control_plane import kinds
from function.planning.refusals import Refusal
from function.sandbox.store import Ref
from function.vocabulary import namespaces

_STEPS = re.compile(r'\["([^"]*)"\]|\[(\d+)\]|([^.\[\]]+)')


def findings(refusals: Iterable[Refusal], state: Sequence[Loaded]) -> list[FileFinding]:
    """Refusals as errors.

    Args:
        refusals: What conditions refuse.
        state: The objects in the files that users wrote.
    """
    served = kinds()
    by_key = {desired.key(one.manifest, served): one for one in state}
    placed = ((refusal, by_key.get(desired.key(_named(refusal.ref), served))) for refusal in refusals)
    return sorted(_finding(refusal, one) for refusal, one in placed)


def _named(ref: Ref) -> dict[str, object]:
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"namespace": ref.namespace, "name": ref.name}}


def _finding(refusal: Refusal, one: Loaded | None) -> FileFinding:
    """An error at the field that the message names, or at the object if the field is one of what it composes."""
    is_own = refusal.ref == refusal.object
    path = _path(refusal.field) if is_own else ()
    start = Position(1, 1)
    return FileFinding(
        file=one.source.file if one else "",
        region=one.source.region(path) if one else Region(start, start),
        severity="error",
        object=_spelled(refusal.object),
        field=refusal.field,
        message=f"{refusal.type} is False: {refusal.message}",
        code=refusal.reason,
    )


def _spelled(ref: Ref) -> str:
    return str(ref).replace(f"{namespaces.UNSTATED}/", "")


def _path(field: str) -> FieldPath:
    """The path of a field as messages spell it, such as `spec.engines[0].name`."""
    return tuple(int(index) if index else key or name for key, index, name in _STEPS.findall(field))
