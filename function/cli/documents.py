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


def documents(text: str, file: str) -> Iterator[Document]:
    """The documents in a text. Raises BrokenFile."""
    is_json = Path(file).suffix == ".json" or text.lstrip()[:1] in ("{", "[")
    for part in _values(_spaced(text)) if is_json else (text,):
        lines = part.split("\n")
        for node in _composed(part, file):
            above = node.start_mark.line
            document = "\n".join(lines[above : node.end_mark.line + 1])
            value = Reader(file).value(node)
            if value is not None:
                yield Document(document, above, value)


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


def _composed(text: str, file: str) -> Iterator[yaml.Node]:
    try:
        yield from yaml.compose_all(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        raise BrokenFile(file, _sentence(error, text), _marked(error)) from error
    except yaml.reader.ReaderError as error:
        place = place_behind(text.encode()[: error.position].decode(errors="replace"))
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
