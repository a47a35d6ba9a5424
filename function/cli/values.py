"""Values in files, read as Kubernetes reads YAML: timestamps and sexagesimal numbers stay text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import yaml

UNREADABLE = "unreadable"
"""Code of most errors of files."""
_MOST_VALUES = 1_000_000
"""Values that a document may have in any case. One without aliases has fewer values than characters; with them, a short
text can expand to more than fits into memory."""
_DEEPEST = 200
"""Levels of a document. An alias inside its own anchor would be infinite; a CRD has about eighty levels."""


class Position(NamedTuple):
    """A place in a file, counted from 1."""

    line: int
    column: int


def readable(text: str) -> str:
    """A text that may contain the name of a file: bytes of it that are not UTF-8 are escaped."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode(errors="backslashreplace")


class BrokenFile(Exception):
    """A file that cannot be read as manifests. The message has the file and, if known, the line and column."""

    def __init__(self, file: str, problem: str, position: Position | None = None, *, code: str = UNREADABLE) -> None:
        file = readable(file)
        self.place = ":".join([file, *map(str, position or ())])
        super().__init__(f"{self.place}: {problem}")
        self.file, self.problem, self.position, self.code = file, problem, position, code


_FastLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_FastLoader):  # type: ignore[misc]  # a base chosen at run time: libyaml's where it is there
    """A YAML loader with only the types of JSON."""

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
    Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


@dataclass(slots=True)
class Reader:
    """Converts the nodes of one document to plain data."""

    file: str
    most: int = _MOST_VALUES
    values: int = 0
    depth: int = 0

    @classmethod
    def of(cls, file: str, text: str) -> Self:
        """A reader of a text."""
        return cls(file, max(_MOST_VALUES, len(text)))

    def value(self, node: yaml.Node) -> Any:
        self.values += 1
        if self.values > self.most:
            raise self._broken(node, f"more than {self.most:,} values; aliases (*name) repeat too much")
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
                raise self._broken(key, _twice(node, key))
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
            raise self._broken(node, _tagged(node.tag))
        return read(node.value)

    def _broken(self, node: yaml.Node, problem: str) -> BrokenFile:
        return BrokenFile(self.file, problem, Position(node.start_mark.line + 1, node.start_mark.column + 1))


def _tagged(tag: str) -> str:
    """A tag without a meaning. One with a single ! is probably a text that was not quoted, and may be a secret."""
    if tag.startswith("!"):
        return "! begins a tag, which has no meaning in a manifest; put a text that begins with ! in quotes"
    return f"tag {tag} has no meaning in a manifest"


def _twice(node: yaml.MappingNode, again: yaml.ScalarNode) -> str:
    first = next(key for key, _ in node.value if key.value == again.value)
    hint = "; between two objects stands a line with ---" if again.value == "apiVersion" else ""
    name = json.dumps(again.value, ensure_ascii=False)
    return f"field {name} appears twice; the first is in line {first.start_mark.line + 1}{hint}"


def _int(text: str) -> int | float | str:
    """An integer. Text that only looks like one, such as 0x_, stays text; one with thousands of digits is infinite."""
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
