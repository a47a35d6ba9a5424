"""size(): the number of characters, bytes, elements or entries.

Source: github.com/google/cel-go v0.26, common/stdlib/standard.go.
"""

from __future__ import annotations

from function.cel.language.declarations.cost import UNIT
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.values.containers import size

LIBRARY = Library(
    name="size",
    overloads=(
        function("size_bytes: size(bytes) -> int", size, UNIT, is_universal=True),
        method("bytes_size: bytes.size() -> int", size, UNIT, is_universal=True),
        function("size_list: size(list(A)) -> int", size, UNIT, is_universal=True),
        method("list_size: list(A).size() -> int", size, UNIT, is_universal=True),
        function("size_map: size(map(A, B)) -> int", size, UNIT, is_universal=True),
        method("map_size: map(A, B).size() -> int", size, UNIT, is_universal=True),
        function("size_string: size(string) -> int", size, UNIT, is_universal=True),
        method("string_size: string.size() -> int", size, UNIT, is_universal=True),
    ),
)
