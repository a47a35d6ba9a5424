"""Manifests in files: objects with their place in the file, and errors with line and column.

Reads YAML and JSON, files with many documents, folders, what `kubectl get -o yaml` prints, and standard input.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from function.cli import content, regions, rendered, walk
from function.cli.documents import Document, FieldPath, Unread, documents, unread, walked
from function.cli.excludes import Rules
from function.cli.inputs import NOTHING, Skipped, nothing
from function.cli.meant import is_ours, mentions, takes_part
from function.cli.regions import Region
from function.cli.values import BrokenFile, Position
from function.cli.walk import SourceFile
from function.core import Manifest, NamespacedName, dig, known_secrets


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


@dataclass(frozen=True, slots=True)
class Input:
    """What the files that a command was given contain."""

    loaded: list[Loaded]
    """Sound objects, of foreign kinds too."""
    broken: list[BrokenFile]
    """What cannot be read, or was meant as an object of ours and is none."""
    skipped: Skipped
    read: list[str]
    """The files that were read, as messages name them."""
    is_empty: bool
    """Whether no file has any content."""
    builds: Mapping[str, Path] = field(default_factory=dict)
    """The folder of the kustomization that a file belongs to, by the file, for those that belong to one."""

    @property
    def ours(self) -> int:
        """Number of sound objects of ours."""
        return sum(is_ours(one.manifest) for one in self.loaded)

    def missing(self, paths: Sequence[str]) -> list[BrokenFile]:
        """The error that nothing of ours is in the input, if so. `paths` are what the user named."""
        if self.ours:
            return []
        kinds = Counter(one.kind[1] for one in self.loaded if takes_part(one.manifest))
        problem = nothing(self.skipped.and_kinds(kinds), len(self.read), is_empty=self.is_empty)
        return [BrokenFile(content.shown(paths[0]), problem, code=NOTHING)]


def read(
    paths: Iterable[str | Path], exclude: Sequence[str] = (), *, foreign: bool = False, ignores_named: bool = False
) -> Input:
    """Read some files and folders. A file that is given twice is read once.

    Args:
        paths: Files, folders, and - for standard input.
        exclude: Patterns of files and folders to pass over.
        foreign: Whether objects of foreign kinds matter as much as ours: they are errors too if they are broken.
        ignores_named: Whether ignore files hold for files that are named themselves.
    """
    reading, rules = _Reading(foreign), Rules(tuple(exclude), ignores_named)
    for path in paths:
        for found in walk.files(str(path), rules, reading.skipped):
            if isinstance(found, BrokenFile):
                reading.broken.append(found)
            else:
                reading.file(found)
    return Input(
        told(reading.loaded), reading.broken, reading.skipped, reading.read, not reading.has_content, reading.builds
    )


def told(loaded: Sequence[Loaded]) -> list[Loaded]:
    """Objects whose statuses tell no credentials."""
    quiet = known_secrets.without_secrets([one.manifest for one in loaded])
    return [one if one.manifest is new else replace(one, manifest=new) for one, new in zip(loaded, quiet, strict=True)]


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
    """The objects in some files and folders, and everything that cannot be read as objects."""
    found = read(paths, foreign=True)
    return found.loaded, found.broken


def parse(text: str, file: str) -> list[Loaded]:
    """Read every object in a text. Raises BrokenFile."""
    return [_object(found, file) for document in documents(text, file) for found in _found(document)]


def values(path: str) -> list[Any]:
    """Read every document in a file or folder as plain data. Raises BrokenFile."""
    found = []
    for file in walk.files(path, Rules(), Skipped()):
        if isinstance(file, BrokenFile):
            raise file
        found += values_in(content.text(file.path), content.shown(file.path))
    return found


def values_in(text: str, file: str) -> list[Any]:
    """Read every document in a text as plain data. Raises BrokenFile."""
    return [document.value for document in documents(text, file)]


@dataclass(slots=True)
class _Reading:
    """What was found so far."""

    foreign: bool
    loaded: list[Loaded] = field(default_factory=list)
    broken: list[BrokenFile] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    read: list[str] = field(default_factory=list)
    has_content: bool = False
    builds: dict[str, Path] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def file(self, file: SourceFile) -> None:
        """Read a file. A document that is broken does not hide those after it; invalid YAML does."""
        place, name = os.path.realpath(file.path), content.shown(file.path)
        if place in self._seen:
            return
        self._seen.add(place)
        self.read.append(name)
        if file.build:
            self.builds[name] = file.build
        try:
            self._content(content.of(file.path), name, file)
        except BrokenFile as problem:
            self.broken.append(problem)

    def _content(self, raw: bytes, name: str, file: SourceFile) -> None:
        found = None
        try:
            for part in unread(content.decoded(raw, name), name):
                found = self._document(part, name, file) + (found or 0)
        except BrokenFile as problem:
            self._not_yaml(problem, raw, file)
            found = 1
        self.has_content |= found is not None
        self.skipped.not_kubernetes += found == 0

    def _not_yaml(self, problem: BrokenFile, raw: bytes, file: SourceFile) -> None:
        text = content.guessed(raw)
        if not (file.is_named or self.foreign or mentions(text)):
            self.skipped.unreadable.append(problem)
        elif rendered.is_template(text, problem.position):
            what = f"a template, not YAML; {rendered.remedy(Path(file.path))}"
            self.broken.append(BrokenFile(problem.file, what, problem.position))
        else:
            self.broken.append(problem)

    def _document(self, part: Unread, name: str, file: SourceFile) -> int:
        """Read a document. Returns the number of Kubernetes objects in it, and of lists of them."""
        try:
            document = part.read(name)
        except BrokenFile as problem:
            return self._odd(problem, part, file)
        if document.value is None:
            return 0
        return _is_list(document.value) + sum(self._value(found, name, file) for found in _found(document))

    def _odd(self, problem: BrokenFile, part: Unread, file: SourceFile) -> int:
        """Handle a document whose values no manifest can have, such as one with tags of its own."""
        kind = part.scalar("kind")
        if mentions(part.text) or (kind and self.foreign):
            self._not_yaml(problem, part.text.encode(errors="replace"), file)
        elif kind:
            self.skipped.kinds[kind] += 1
        return bool(kind) or mentions(part.text)

    def _value(self, found: _Found, name: str, file: SourceFile) -> bool:
        """Take an object, or count it. Returns whether it is a Kubernetes object."""
        value = found.value
        is_object = _is_kubernetes(value)
        if not self._is_wanted(value, file) and not is_object:
            return False
        try:
            self.loaded.append(_object(found, name))
        except BrokenFile as problem:
            if self._is_wanted(value, file):
                self.broken.append(problem)
            else:
                self.skipped.kinds[value["kind"]] += 1
            return True
        self.skipped.kinds.update([value["kind"]] if not is_ours(value) and not takes_part(value) else ())
        return True

    def _is_wanted(self, value: Any, file: SourceFile) -> bool:
        """Whether a value is an error if it is no sound object."""
        if self.foreign and (file.is_named or _is_kubernetes(value)):
            return True
        return is_ours(value) or (file.is_named and _is_kubernetes(value) and value["kind"] == "List")


def _is_kubernetes(value: Any) -> bool:
    fields = (value.get("apiVersion"), value.get("kind")) if isinstance(value, Mapping) else ()
    return bool(fields) and all(isinstance(field, str) and field for field in fields)


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
    document = found.document
    return sound(found.value, FileLocation(file, document.line(found.path), document.text, document.above, found.path))


def sound(value: Any, source: FileLocation) -> Loaded:
    """A value as an object with its place. Raises BrokenFile if it is no Kubernetes object."""
    file = source.file
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
