"""Manifests in files: every object knows where it stands, and a broken file says where it breaks.

Reads YAML and JSON, files with many documents, folders, what `kubectl get -o yaml` prints, and standard input.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import yaml

from function.core import Manifest, NamespacedName, dig

STDIN = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_KUSTOMIZE = ("kustomization.yaml", "kustomization.yml")
"""They stand beside manifests and hold none (kustomize v5, konfig.RecognizedKustomizationFileNames)."""
_TWO_ESCAPES = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_JSON = json.JSONDecoder()
_MOST_VALUES = 20_000_000
"""In one document. Aliases can make a short text stand for more than any memory holds."""
_DEEPEST = 200
"""Levels of a document, which an alias to what it stands in would make endless. A CRD has some eighty."""

FieldPath: TypeAlias = tuple[str | int, ...]


class Position(NamedTuple):
    """A place in a file, counted from 1."""

    line: int
    column: int


class BrokenFile(Exception):
    """What cannot be read as manifests: names the file and, where there is one, the line and column."""

    def __init__(self, file: str, problem: str, position: Position | None = None) -> None:
        place = ":".join([file, *map(str, position or ())])
        super().__init__(f"{place}: {problem}")
        self.file, self.problem, self.position = file, problem, position


@dataclass(frozen=True, slots=True)
class Source:
    """Where an object stands. `line` is that of its first field, counted from 1."""

    file: str
    line: int
    _text: str = field(default="", repr=False)
    """The document that holds the object."""
    _above: int = field(default=0, repr=False)
    """Lines of the file ahead of that document."""
    _prefix: FieldPath = field(default=(), repr=False)
    """The object's own path in its document: it may be an item of a List."""

    def position(self, path: Sequence[str | int]) -> Position:
        """Where the value at a field path stands; where the path ends early, its last part that exists."""
        return self._placed(_walked(self._text, (*self._prefix, *path))[1])

    def key(self, path: Sequence[str | int]) -> Position:
        """Where the field itself stands, for a complaint about its name."""
        return self._placed(_walked(self._text, (*self._prefix, *path))[0])

    def at(self, path: Sequence[str | int] = ()) -> str:
        """`file:line:column`, as editors open it."""
        return ":".join(map(str, (self.file, *self.position(path))))

    def _placed(self, node: yaml.Node) -> Position:
        return Position(self._above + node.start_mark.line + 1, node.start_mark.column + 1)


@dataclass(frozen=True, slots=True)
class Loaded:
    """An object, and where it was read."""

    manifest: Manifest
    source: Source

    @property
    def kind(self) -> tuple[str, str]:
        """apiVersion and kind."""
        return self.manifest["apiVersion"], self.manifest["kind"]

    @property
    def identity(self) -> NamespacedName:
        metadata = self.manifest["metadata"]
        return NamespacedName(metadata.get("namespace") or "", metadata["name"])


def load(paths: Iterable[str | Path]) -> list[Loaded]:
    """Every object in the given files and folders. Raises BrokenFile for the first that cannot be read."""
    loaded, broken = examine(paths)
    if broken:
        raise broken[0]
    return loaded


def examine(paths: Iterable[str | Path]) -> tuple[list[Loaded], list[BrokenFile]]:
    """Every object that can be read, and everything that cannot. A file that is given twice is read once."""
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
    """Every object in a text. Raises BrokenFile."""
    return [_object(found, file) for document in _documents(text, file) for found in _found(document)]


def values(path: str) -> list[Any]:
    """Every document in a file, or in those of a folder, as plain data, whatever it is. Raises BrokenFile."""
    return [value for file in _files(path) for value in values_in(_text(file), _shown(file))]


def values_in(text: str, file: str) -> list[Any]:
    """Every document in a text, as plain data. Raises BrokenFile."""
    return [document.value for document in _documents(text, file)]


def _examine_file(file: str, loaded: list[Loaded], broken: list[BrokenFile]) -> None:
    """What is no object does not hide those below it; what is no YAML does."""
    try:
        for document in _documents(_text(file), _shown(file)):
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
        raise BrokenFile(path, "there is no such file or folder")


def _below(folder: Path) -> Iterator[str]:
    inside = (p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file() and p.name not in _KUSTOMIZE)
    found = sorted(p for p in inside if not any(part.startswith(".") for part in p.relative_to(folder).parts))
    if not found:
        raise BrokenFile(str(folder), f"no file in this folder ends in {', '.join(_SUFFIXES)}")
    yield from map(str, found)


def _text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place(raw[: error.start].decode(errors="replace"))
        raise BrokenFile(
            _shown(file), f"not UTF-8 text: byte 0x{raw[error.start]:02x} cannot be read", place
        ) from error
    except OSError as error:
        raise BrokenFile(_shown(file), f"cannot be read: {error.strerror}") from error


def _place(before: str) -> Position:
    """What comes right behind a text."""
    return Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


# Documents


@dataclass(frozen=True, slots=True)
class _Document:
    text: str
    above: int
    value: Any

    def line(self, path: FieldPath) -> int:
        return self.above + _walked(self.text, path)[1].start_mark.line + 1


def _documents(text: str, file: str) -> Iterator[_Document]:
    is_json = Path(file).suffix == ".json" or text.lstrip()[:1] in ("{", "[")
    for part in _values(_spaced(text)) if is_json else (text,):
        lines = part.split("\n")
        for node in _composed(part, file):
            above = node.start_mark.line
            document = "\n".join(lines[above : node.end_mark.line + 1])
            value = _Reader(file).value(node)
            if value is not None:
                yield _Document(document, above, value)


def _values(text: str) -> list[str]:
    """JSON values that stand one behind the other, as jq prints them: each below empty lines, so that its own stay
    where they are. Any other text is one."""
    parts, end = [], 0
    try:
        while (start := len(text) - len(text[end:].lstrip())) < len(text):
            end = _JSON.raw_decode(text, start)[1]
            place = _place(text[:start])
            parts.append("\n" * (place.line - 1) + " " * (place.column - 1) + text[start:end])
    except (ValueError, RecursionError):
        return [text]
    return parts if len(parts) > 1 else [text]


def _spaced(text: str) -> str:
    """JSON as YAML takes it. JSON may be indented by tabs (a tab in a text is always an escape there), and it writes a
    character beyond U+FFFF as two escapes.
    """
    return _TWO_ESCAPES.sub(lambda pair: json.loads(f'"{pair.group()}"'), text.replace("\t", " "))


def _composed(text: str, file: str) -> Iterator[yaml.Node]:
    try:
        yield from yaml.compose_all(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise BrokenFile(file, _sentence(error, text), _marked(error)) from error
    except yaml.reader.ReaderError as error:
        place = _place(text.encode()[: error.position].decode(errors="replace"))
        raise BrokenFile(file, f"not YAML: {error.reason}", place) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise BrokenFile(file, f"not YAML: {error}") from error


def _marked(error: yaml.MarkedYAMLError) -> Position | None:
    mark = error.problem_mark or error.context_mark
    return Position(mark.line + 1, mark.column + 1) if mark else None


def _sentence(error: yaml.MarkedYAMLError, text: str) -> str:
    if _at_a_tab(text, _marked(error)):
        return "a tab cannot indent YAML; use spaces"
    return f"not YAML: {', '.join(part for part in (error.context, error.problem) if part)}"


def _at_a_tab(text: str, position: Position | None) -> bool:
    lines = text.split("\n")
    line = lines[position.line - 1] if position and position.line <= len(lines) else ""
    return "\t" in line[: len(line) - len(line.lstrip())]


@lru_cache(maxsize=4)
def _root(text: str) -> yaml.Node:
    return next(yaml.compose_all(text, Loader=_Loader))


def _walked(text: str, path: FieldPath) -> tuple[yaml.Node, yaml.Node]:
    """The key and the value at a path, or the last of them that exist."""
    key = value = _root(text)
    for step in path:
        found = _step(value, step)
        if found is None:
            break
        key, value = found
    return key, value


def _step(node: yaml.Node, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(step)), None)
    return None


# Objects


@dataclass(frozen=True, slots=True)
class _Found:
    """What stands in a document where an object is due."""

    document: _Document
    value: Any
    path: FieldPath = ()


def _found(document: _Document) -> Iterator[_Found]:
    yield from _items(_Found(document, document.value))


def _items(found: _Found) -> Iterator[_Found]:
    """An object, or those of a list, and of the lists in it."""
    if not _is_list(found.value):
        yield found
        return
    for index, item in enumerate(found.value["items"] or ()):
        yield from _items(_Found(found.document, item, (*found.path, "items", index)))


def _is_list(value: Any) -> bool:
    """Whether it is what `kubectl get` prints for many. Go writes an empty list as null."""
    if not isinstance(value, Mapping) or not str(value.get("kind")).endswith("List") or "items" not in value:
        return False
    return isinstance(value["items"], list) or (value["items"] is None and "spec" not in value)


def _object(found: _Found, file: str) -> Loaded:
    document, value = found.document, found.value
    source = Source(file, document.line(found.path), document.text, document.above, found.path)
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


def _must_have(value: Mapping[str, Any], path: tuple[str, ...], source: Source) -> None:
    if not dig(value, *path):
        raise BrokenFile(source.file, f"{'.'.join(path)} is missing", source.position(path))
    _must_be(value, path, Mapping if path == ("metadata",) else str, source)


def _must_be(value: Mapping[str, Any], path: tuple[str, ...], shape: type, source: Source) -> None:
    """Of what everybody asks of an object, whosoever it is: it may be left out."""
    found = dig(value, *path)
    if found is not None and not isinstance(found, shape):
        raise BrokenFile(source.file, f"{'.'.join(path)} must be {_SHAPES[shape]}", source.position(path))


_SHAPES: Mapping[type, str] = {
    str: "text (in quotes where it looks like a number)",
    Mapping: "a mapping",
    list: "a list",
}


# Values: as Kubernetes reads YAML, so that no time and no clock reading becomes anything but text

_FastLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_FastLoader):  # type: ignore[misc]  # a base chosen at run time: libyaml's where it is there
    """YAML's nodes, with the few types that JSON has."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


_BOOL = "tag:yaml.org,2002:bool"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"
_STR = "tag:yaml.org,2002:str"

for _tag, _pattern, _first in (
    (_BOOL, r"^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$", "yYnNtTfFoO"),
    (_INT, r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$", "-+0123456789"),
    (_FLOAT, r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
    (_NULL, r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    (_MERGE, r"^<<$", "<"),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


@dataclass(slots=True)
class _Reader:
    """Nodes to plain data, for one document."""

    file: str
    values: int = 0
    depth: int = 0

    def value(self, node: yaml.Node) -> Any:
        self.values += 1
        if self.values > _MOST_VALUES:
            raise self._broken(node, "too many values: its aliases stand for more than can be read")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if self.depth == _DEEPEST:
            raise self._broken(node, f"more than {_DEEPEST} levels deep")
        self.depth += 1
        value = self._mapping(node) if isinstance(node, yaml.MappingNode) else [self.value(item) for item in node.value]
        self.depth -= 1
        return value

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, child in node.value:
            if key.tag == _MERGE:
                merged |= self._merged(child)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise self._broken(key, "a field's name must be text")
            if key.value in own:
                hint = "; between two objects stands a line with ---" if key.value == "apiVersion" else ""
                raise self._broken(key, f"field {json.dumps(key.value)} stands here twice{hint}")
            own[key.value] = self.value(child)
        return {**merged, **own}

    def _merged(self, node: yaml.Node) -> dict[str, Any]:
        value = self.value(node)
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise self._broken(node, "<< takes a mapping, or a list of them")
        return {k: v for part in reversed(parts) for k, v in part.items()}

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        read = _SCALARS.get(node.tag)
        if read is None:
            raise self._broken(node, f"tag {node.tag} has no meaning in a manifest")
        return read(node.value)

    def _broken(self, node: yaml.Node, problem: str) -> BrokenFile:
        return BrokenFile(self.file, problem, Position(node.start_mark.line + 1, node.start_mark.column + 1))


def _int(text: str) -> int | float | str:
    """What looks like a number and is none, such as 0x_, is text; one of thousands of digits is beyond all bounds."""
    digits = text.replace("_", "").lower()
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits.lstrip("+"))
    is_octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    try:
        return sign * int(digits, 8 if is_octal else 0)
    except ValueError:
        return sign * math.inf if digits.isdigit() else text


_SCALARS: Mapping[str, Any] = {
    _STR: str,
    _INT: _int,
    _FLOAT: float,
    _NULL: lambda _: None,
    _BOOL: lambda text: text.lower() in ("yes", "true", "on"),
}
