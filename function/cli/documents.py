"""Documents in files: YAML or JSON, one or several in a file, and the places of their fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from function.cli.values import BrokenFile, Loader, Position, Reader
from function.cli.yaml_errors import explained, lines_of

_TWO_ESCAPES = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_JSON = json.JSONDecoder()

FieldPath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A document, and its text for finding the places of fields."""

    text: str
    above: int
    """Number of lines before it in the file."""
    value: Any

    def line(self, path: FieldPath) -> int:
        """The line of the value at a path, counted from 1."""
        return self.above + walked(self.text, path)[1].start_mark.line + 1


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that is valid YAML, before its values are read."""

    text: str
    above: int
    """Number of lines before it in the file."""
    node: yaml.Node

    def read(self, file: str) -> Document:
        """The document with its values. Raises BrokenFile: a value has no meaning in a manifest."""
        return Document(self.text, self.above, Reader.of(file, self.text).value(self.node))

    def scalar(self, name: str) -> str:
        """The text of a field at the top; empty if there is none."""
        fields = self.node.value if isinstance(self.node, yaml.MappingNode) else ()
        return next((str(v.value) for k, v in fields if k.value == name and isinstance(v, yaml.ScalarNode)), "")


def documents(text: str, file: str) -> Iterator[Document]:
    """The documents in a text that are not empty. Raises BrokenFile."""
    for found in (part.read(file) for part in unread(text, file)):
        if found.value is not None:
            yield found


def unread(text: str, file: str) -> Iterator[Unread]:
    """The documents in a text. Raises BrokenFile where the text is not YAML."""
    is_json = Path(file).suffix == ".json" or text.lstrip()[:1] in ("{", "[")
    for part in _values(_spaced(text)) if is_json else (text,):
        lines = lines_of(part)
        for node in _composed(part, file, is_json=is_json):
            above = node.start_mark.line
            yield Unread("\n".join(lines[above : node.end_mark.line + 1]), above, node)


def _values(text: str) -> list[str]:
    """Concatenated JSON values, as jq prints them. Each is preceded by blank lines, so that its line numbers stay. Any
    other text is a single value."""
    parts, end = [], 0
    try:
        while (start := len(text) - len(text[end:].lstrip())) < len(text):
            end = _JSON.raw_decode(text, start)[1]
            place = place_behind(text[:start])
            parts.append("\n" * (place.line - 1) + " " * (place.column - 1) + text[start:end])
    except (ValueError, RecursionError):
        return [text]
    return parts if len(parts) > 1 else [text]


def _spaced(text: str) -> str:
    """JSON that a YAML parser accepts. JSON can be indented with tabs (in its strings, a tab is always escaped), and it
    writes a character above U+FFFF as two escapes.
    """
    return _TWO_ESCAPES.sub(lambda pair: json.loads(f'"{pair.group()}"'), text.replace("\t", " "))


def _composed(text: str, file: str, *, is_json: bool) -> Iterator[yaml.Node]:
    try:
        yield from yaml.compose_all(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        raise BrokenFile(file, *explained(error, text, is_json=is_json)) from error
    except yaml.reader.ReaderError as error:
        place = place_behind(text.encode()[: error.position].decode(errors="replace"))
        raise BrokenFile(file, _control(error.character), place) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise BrokenFile(file, "nested too deeply to be read") from error


def _control(character: int | bytes) -> str:
    code = character if isinstance(character, int) else character[0]
    return f"character 0x{code:02x} cannot be in YAML; write it as \\x{code:02x} in double quotes, or remove it"


@lru_cache(maxsize=4)
def _root(text: str) -> yaml.Node:
    return next(yaml.compose_all(text, Loader=Loader))


def walked(text: str, path: FieldPath) -> tuple[yaml.Node, yaml.Node]:
    """The key and the value at a path, or at its longest existing prefix."""
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


def place_behind(before: str) -> Position:
    """The place directly after a text."""
    return Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
