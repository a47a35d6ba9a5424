"""Keeps what the estimate knows of nodes and of macros' variables: sizes, entries, paths.

Source: github.com/google/cel-go v0.26, checker/cost.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from function.cel.language.checking.checked import Checked
from function.cel.language.declarations.cost import NO_LITERAL, Argument, declared_size
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.ranges import ONE, UNKNOWN, Range, exactly
from function.cel.language.declarations.types import Type
from function.cel.language.syntax.tree import ACCUMULATOR, Ident, ListLiteral, Literal, MapLiteral, Node

_FIXED = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


class Path:
    """Return the path by which a value is reached from a variable.

    Paths share memory with those that they extend, as slices of Go do: a path that is extended a second time can change
    the end of its first extension. The estimate of Kubernetes depends on that.
    """

    __slots__ = ("_length", "_shared")

    def __init__(self, shared: list[str], length: int) -> None:
        self._shared, self._length = shared, length

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._shared[: self._length])

    def plus(self, name: str) -> Path:
        if self._length < len(self._shared):
            self._shared[self._length] = name
            return Path(self._shared, self._length + 1)
        room = max(1, 2 * self._length) - self._length - 1
        return Path([*self._shared, name, *[""] * room], self._length + 1)


def path_to(variable: str) -> Path:
    return Path([variable], 1)


NO_PATH = Path([], 0)


@dataclass(frozen=True, slots=True)
class Entries:
    """The sizes of what a list or map holds."""

    is_list: bool
    key: Range
    value: Range


@dataclass(frozen=True, slots=True)
class Variable:
    """Facts about a macro's variable."""

    path: Path
    size: Range | None
    entries: Entries | None


@dataclass(slots=True)
class NodeSizes:
    """Facts about one tree, by the identity of its nodes."""

    checked: Checked
    environment: Environment
    paths: dict[int, Path] = field(default_factory=dict)
    sizes: dict[int, Range] = field(default_factory=dict)
    entries: dict[int, Entries] = field(default_factory=dict)
    _variables: dict[str, list[Variable]] = field(default_factory=dict)
    """The variables of the macros around a node; an inner one hides an outer one of the same name."""

    def variable_path(self, name: str) -> Path:
        """The path of a variable, of a macro or of the environment."""
        variable = self.variable(name)
        return variable.path if variable else path_to(name)

    def variable(self, name: str) -> Variable | None:
        """The innermost variable of a macro that has the name."""
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def pop(self, name: str) -> None:
        self._variables[name].pop()

    def push(self, name: str, variable: Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def argument(self, node: Node) -> Argument:
        """A node as the estimate of a call takes it."""
        size = self.size(node)
        if isinstance(node, Literal):
            return Argument(self.checked.type(node), size, node.value, (), self.environment.sizes)
        path = self.path(node).names
        if path and path[0] in (ACCUMULATOR, "__result__"):
            path = ()
        return Argument(self.checked.type(node), size, NO_LITERAL, path, self.environment.sizes)

    def path(self, node: Node) -> Path:
        if isinstance(node, Ident):
            variable = self.variable(node.name)
            if variable is not None:
                return variable.path
        return self.paths.get(id(node), NO_PATH)

    def size_or_unknown(self, node: Node) -> Range:
        size = self.size(node)
        return UNKNOWN if size is None else size

    def size(self, node: Node) -> Range | None:
        """The size of a node: as noted, written out, declared, or fixed by its type. None where nothing tells it."""
        known = self.sizes.get(id(node))
        if known is not None:
            return known
        if isinstance(node, Literal | ListLiteral | MapLiteral):
            return exactly(_written_size(node))
        path = self.path(node)
        declared = None if path is NO_PATH else declared_size(path.names, self.environment.sizes)
        if declared is not None:
            self.sizes[id(node)] = declared
            return declared
        if _is_fixed(self.checked.type(node)):
            return ONE
        variable = self.variable(node.name) if isinstance(node, Ident) else None
        return variable.size if variable else None

    def entries_of(self, node: Node) -> Entries | None:
        known = self.entries.get(id(node))
        if known is not None:
            return known
        variable = self.variable(node.name) if isinstance(node, Ident) else None
        return variable.entries if variable else None

    def put_entries(self, node: Node, entries: Entries | None) -> None:
        if entries is not None:
            self.entries[id(node)] = entries

    def copy(self, node: Node, source: Node) -> None:
        """Note for a node the size and entries of another."""
        size = self.size(source)
        if size is not None:
            self.sizes[id(node)] = size
        self.put_entries(node, self.entries_of(source))

    def local(self, node: Node) -> Variable:
        """A variable with the value of a node."""
        return Variable(self.path(node), self.size(node), self.entries_of(node))


def union(a: Entries | None, b: Entries | None) -> Entries | None:
    """The entries of one of two lists or maps."""
    if a is None or b is None:
        return None
    return Entries(a.is_list, a.key.union(b.key), a.value.union(b.value))


def _written_size(node: Literal | ListLiteral | MapLiteral) -> int:
    if isinstance(node, Literal):
        return len(node.value) if isinstance(node.value, str | bytes) else 1
    return len(node.items if isinstance(node, ListLiteral) else node.entries)


def _is_fixed(type_: Type) -> bool:
    """Whether all values of a type have one size."""
    if type_.kind == "opaque" and type_.name == "optional":
        return _is_fixed(type_.params[0])
    return type_.kind in _FIXED
