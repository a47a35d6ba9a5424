"""What an object refers to by name and does not exist, with the nearest name that does.

Nobody lists the references of a kind here: they are what its composer asked for by name in its last reconcile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, Requirement, closest, dig_objects, dig_text, enumerate_names, identity
from function.core.manifest import is_list
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref, Store, named
from function.vocabulary import namespaces

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Dangling:
    """A reference to an object that does not exist."""

    by: Ref
    """The object that refers to it."""
    to: Ref
    fields: tuple[Path, ...]
    """Where its spec has the name. Empty if the name is fixed."""
    nearest: str | None
    """The nearest name of an object of this kind in this namespace."""
    known: tuple[str, ...]
    """All names of such objects."""

    def __str__(self) -> str:
        where = f", which {self.by} names in {text(self.fields[0])}" if self.fields else f", which {self.by} needs"
        hint = (
            f"did you mean {self.nearest}?" if self.nearest else f"there are: {enumerate_names(self.known) or 'none'}"
        )
        return f"{self.to} does not exist{where}; {hint}"


def dangling(control: ControlPlane, ref: Ref) -> Iterator[Dangling]:
    """Yield the references of an object that lead nowhere and that its spec or its conditions mention."""
    manifest = control.store.get(ref) or {}
    for asked in control.loop.reconciler.asked.get(ref, ()):
        if asked.match_name is None or control.store.find(asked):
            continue
        fields = tuple(path for path, value in leaves(manifest.get("spec")) if value == asked.match_name)
        if fields or _complains(manifest, asked):
            known = _known(control.store, asked)
            yield Dangling(ref, named(asked), fields, closest(asked.match_name, known), known)


def assumed(manifest: Manifest, given: Iterable[Manifest]) -> Iterator[str]:
    """Yield each Secret and ConfigMap that an object names and the input lacks, although it has one of a similar name.

    They are assumed to exist, since few inputs have Secrets: so this is no cause, only a hint.
    """
    known: dict[tuple[str, str], set[str]] = {}
    for one in given:
        namespace = dig_text(one, "metadata", "namespace") or namespaces.UNSTATED
        known.setdefault((one["kind"], namespace), set()).add(one["metadata"]["name"])
    for stub in stubs.objects([manifest]):
        kind, (namespace, name) = stub["kind"], identity(stub)
        there = known.get((kind, namespace), set())
        if name not in there and (meant := closest(name, there)):
            yield f"{kind} {namespace}/{name} is assumed to exist, since the input lacks it; did you mean {meant}?"


def text(path: Path) -> str:
    """A path in a spec, as messages have it: `spec.nodePools[0].className`."""
    return "spec" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield each scalar below a value, with its path. What Crossplane writes into a spec is left out."""
    if isinstance(value, str | int | float | bool):
        yield path, value
    elif is_list(value):
        for index, child in enumerate(value):
            yield from leaves(child, (*path, index))
    elif value is not None:
        for key, child in value.items():
            if path or key != "crossplane":
                yield from leaves(child, (*path, key))


def _complains(manifest: Manifest, asked: Requirement) -> bool:
    """Whether a condition that is not True speaks of the kind that is asked for."""
    unmet = (one for one in dig_objects(manifest, "status", "conditions") if one.get("status") != "True")
    return any(asked.kind in str(one.get("message")) for one in unmet)


def _known(store: Store, asked: Requirement) -> tuple[str, ...]:
    refs = store.refs(asked.api_version, asked.kind)
    return tuple(ref.name for ref in refs if asked.namespace in (None, ref.namespace))
