"""Manifests in files: objects with their place in the file, and errors with line and column.

Reads YAML and JSON, files with many documents, folders, what `kubectl get -o yaml` prints, and standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from function.cli import regions
from function.cli.documents import Document, FieldPath, documents, place_behind, walked
from function.cli.regions import Region
from function.cli.values import BrokenFile, Position
from function.core import Manifest, NamespacedName, dig, enumerate_names

STDIN = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_KUSTOMIZE = ("kustomization.yaml", "kustomization.yml")
"""Files next to manifests that contain none (kustomize v5, konfig.RecognizedKustomizationFileNames)."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """The place of an object in a file. `line` is that of its first field, counted from 1."""

    file: str
    line: int
    _text: str = field(default="", repr=False)
    """The document that contains the object."""
    _above: int = field(default=0, repr=False)
    """Number of lines before that document."""
    _prefix: FieldPath = field(default=(), repr=False)
    """The object's path in its document, if it is an item of a List."""

    def position(self, path: Sequence[str | int]) -> Position:
        """The place of the value at a field path, or of its longest existing prefix."""
        return self.region(path).start

    def region(self, path: Sequence[str | int], part: tuple[int, int] | None = None) -> Region:
        """Where the value at a field path begins and ends, or a part of its text."""
        return self._below(regions.of(self._text, walked(self._text, (*self._prefix, *path))[1], part))

    def region_of_key(self, path: Sequence[str | int]) -> Region:
        """Where the field's name begins and ends."""
        return self._below(regions.of(self._text, walked(self._text, (*self._prefix, *path))[0]))

    def text(self, line: int) -> str:
        """A line of the document, by its number in the file. Empty if it is not there."""
        found = regions.lines(self._text)
        at = line - self._above - 1
        return found[at] if 0 <= at < len(found) else ""

    def at(self, path: Sequence[str | int] = ()) -> str:
        """`file:line:column`, as editors open it."""
        return ":".join(map(str, (self.file, *self.position(path))))

    def _below(self, region: Region) -> Region:
        return Region(*(Position(self._above + place.line, place.column) for place in region))


@dataclass(frozen=True, slots=True)
class Loaded:
    """An object, and its place in a file."""

    manifest: Manifest
    source: FileLocation

    @property
    def kind(self) -> tuple[str, str]:
        """apiVersion and kind."""
        return self.manifest["apiVersion"], self.manifest["kind"]

    @property
    def identity(self) -> NamespacedName:
        metadata = self.manifest["metadata"]
        return NamespacedName(metadata.get("namespace") or "", metadata["name"])


def load(paths: Iterable[str | Path]) -> list[Loaded]:
    """Read every object in some files and folders.

    Raises:
        BrokenFile: The first one that cannot be read.
    """
    loaded, broken = examine(paths)
    if broken:
        raise broken[0]
    return loaded


def examine(paths: Iterable[str | Path]) -> tuple[list[Loaded], list[BrokenFile]]:
    """Read every object in some files and folders. A file that is given twice is read once.

    Returns:
        The objects, and everything that cannot be read as objects.
    """
    loaded: list[Loaded] = []
    broken: list[BrokenFile] = []
    read: set[str] = set()
    for path in paths:
        try:
            found = list(_files(str(path)))
        except BrokenFile as problem:
            broken.append(problem)
            continue
        for file in found:
            if os.path.realpath(file) not in read:
                _examine_file(file, loaded, broken)
            read.add(os.path.realpath(file))
    return loaded, broken


def parse(text: str, file: str) -> list[Loaded]:
    """Read every object in a text. Raises BrokenFile."""
    return [_object(found, file) for document in documents(text, file) for found in _found(document)]


def values(path: str) -> list[Any]:
    """Read every document in a file or folder as plain data. Raises BrokenFile."""
    return [value for file in _files(path) for value in values_in(_text(file), _shown(file))]


def values_in(text: str, file: str) -> list[Any]:
    """Read every document in a text as plain data. Raises BrokenFile."""
    return [document.value for document in documents(text, file)]


def _examine_file(file: str, loaded: list[Loaded], broken: list[BrokenFile]) -> None:
    """Read a file. A document that is not an object does not hide those after it; invalid YAML does."""
    try:
        for document in documents(_text(file), _shown(file)):
            for found in _found(document):
                _examine_object(found, _shown(file), loaded, broken)
    except BrokenFile as problem:
        broken.append(problem)


def _examine_object(found: _Found, file: str, loaded: list[Loaded], broken: list[BrokenFile]) -> None:
    try:
        loaded.append(_object(found, file))
    except BrokenFile as problem:
        broken.append(problem)


def _shown(file: str) -> str:
    return "<stdin>" if file == STDIN else file


# Files


def _files(path: str) -> Iterator[str]:
    if path == STDIN:
        yield path
        return
    place = Path(path)
    if place.is_dir():
        yield from _below(place)
    elif place.exists():  # a pipe too, such as a shell's <(…)
        yield path
    else:
        raise BrokenFile(path, "no such file or folder")


def _below(folder: Path) -> Iterator[str]:
    inside = (p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file() and p.name not in _KUSTOMIZE)
    found = sorted(p for p in inside if not any(part.startswith(".") for part in p.relative_to(folder).parts))
    if not found:
        raise BrokenFile(str(folder), f"no {enumerate_names(_SUFFIXES, len(_SUFFIXES))} files in this folder")
    yield from map(str, found)


def _text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = place_behind(raw[: error.start].decode(errors="replace"))
        raise BrokenFile(
            _shown(file), f"not UTF-8 text: byte 0x{raw[error.start]:02x} cannot be read", place
        ) from error
    except OSError as error:
        raise BrokenFile(_shown(file), f"cannot be read: {error.strerror}") from error


# Objects


@dataclass(frozen=True, slots=True)
class _Found:
    """A value in a document that should be an object."""

    document: Document
    value: Any
    path: FieldPath = ()


def _found(document: Document) -> Iterator[_Found]:
    yield from _items(_Found(document, document.value))


def _items(found: _Found) -> Iterator[_Found]:
    """The value itself, or the items of a list, recursively."""
    if not _is_list(found.value):
        yield found
        return
    for index, item in enumerate(found.value["items"] or ()):
        yield from _items(_Found(found.document, item, (*found.path, "items", index)))


def _is_list(value: Any) -> bool:
    """Whether a value is a list as `kubectl get` prints it. Go writes an empty list as null."""
    if not isinstance(value, Mapping) or not str(value.get("kind")).endswith("List") or "items" not in value:
        return False
    return isinstance(value["items"], list) or (value["items"] is None and "spec" not in value)


def _object(found: _Found, file: str) -> Loaded:
    document, value = found.document, found.value
    source = FileLocation(file, document.line(found.path), document.text, document.above, found.path)
    if not isinstance(value, Mapping):
        problem = "not a Kubernetes object, which is a mapping with apiVersion, kind and metadata"
        raise BrokenFile(file, problem, source.position(()))
    if value.get("kind") == "List":
        raise BrokenFile(file, "items is missing, or no list", source.position(("items",)))
    for path in (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name")):
        _must_have(value, path, source)
    _must_be(value, ("metadata", "namespace"), str, source)
    for name in ("labels", "annotations"):
        _must_be(value, ("metadata", name), Mapping, source)
    for name in ("ownerReferences", "finalizers"):
        _must_be(value, ("metadata", name), list, source)
    return Loaded(value, source)


def _must_have(value: Mapping[str, Any], path: tuple[str, ...], source: FileLocation) -> None:
    if not dig(value, *path):
        raise BrokenFile(source.file, f"{'.'.join(path)} is missing", source.position(path))
    _must_be(value, path, Mapping if path == ("metadata",) else str, source)


def _must_be(value: Mapping[str, Any], path: tuple[str, ...], shape: type, source: FileLocation) -> None:
    """Check the type of a field that every object can have. It may be missing."""
    found = dig(value, *path)
    if found is not None and not isinstance(found, shape):
        raise BrokenFile(source.file, f"{'.'.join(path)} must be {_SHAPES[shape]}", source.position(path))


_SHAPES: Mapping[type, str] = {
    str: "text (in quotes where it looks like a number)",
    Mapping: "a mapping",
    list: "a list",
}
