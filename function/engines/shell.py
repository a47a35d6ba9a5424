"""Read the commands of a shell script, as far as that can be done without running it.

Terms: a *word* is a text between blanks, with its quotes; a *command* is a program with its arguments; its
*environment* is what it sees of the variables whose values are known.

Phases, in call order:

1. `words.tokens` cuts the text into words, operators and arrays.
2. `_simple` groups them into simple commands. An operator ends a command. Reserved words (`then`, `do`, `{` …) are
   dropped, and so are redirections with their targets.
3. `commands` goes through the commands in order. An assignment changes the variables for all that follows. The words of
   other commands are expanded. An unquoted variable splits into several words, and an array into its elements.

Deliberately coarse, because a script is read and not run:

- All branches of `if` and `case` count, in the order of the text, and functions count where they are defined.
- A variable that is set in a branch counts as set from there on.
- What a command prints, arithmetic, and what `${…}` can do besides defaults are not evaluated. Their text stays in the
  word, and `is_unresolved` recognises it. The same holds for a variable that nobody sets, since the image may set it.
- Two bounds hold for a whole script, so that no text takes long: `MOST_COMMANDS`, and `MOST_EXPANDED` characters of
  expanded variables. What exceeds them is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from function.engines.words import Array, Operator, Part, Word, dollar_end, tokens

MOST_COMMANDS = 2000
MOST_EXPANDED = 1024 * 1024
_MOST_NESTED = 8
"""Depth of defaults in defaults: `${A:-${B:-…}}`."""

# fmt: off
_RESERVED = frozenset({
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "function", "coproc",
    "esac",
})
# fmt: on
_HEADS = frozenset({"for", "case", "select"})
"""Reserved words whose command names no program."""
_EXPORTS = frozenset({"export", "declare", "typeset", "local", "readonly"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_EXPANSION = re.compile(
    r"\$(?:(?P<name>\w+)|(?P<special>[@*])"
    r"|\{(?P<braced>\w+|[@*])(?P<all>\[[@*]\])?(?:(?P<operator>:?[-=+?])(?P<default>.*))?\})",
    re.DOTALL | re.ASCII,
)
_UNRESOLVED = re.compile(r"\$[({\w@*]|`", re.ASCII)


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments."""

    words: tuple[str, ...]
    variables: Mapping[str, str]
    """The variables that it sees, as far as their values are known."""


@dataclass(slots=True)
class _Shell:
    """The variables of a shell while its script is read."""

    values: dict[str, str]
    unknown: frozenset[str]
    """Variables that are set, to values that are not known."""
    positional: tuple[str, ...]
    exported: set[str]
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)
    left: int = MOST_EXPANDED
    """Characters that may still be expanded."""

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        return {**{name: self.values[name] for name in sorted(self.exported & self.values.keys())}, **own}


def commands(
    script: str, variables: Mapping[str, str], unknown: Iterable[str] = (), positional: Sequence[str] = ()
) -> Iterator[Command]:
    """Yield the commands of a script, in the order of its text.

    `variables` is the environment of the shell, and `unknown` names those of its variables whose values are not known.
    `positional` is what follows `$0` on the shell's command line.
    """
    shell = _Shell(dict(variables), frozenset(unknown), tuple(positional), set(variables))
    for _, simple in zip(range(MOST_COMMANDS), _simple(script), strict=False):
        if isinstance(simple, Array):
            _set_array(simple, shell)
            continue
        command = _run(simple, shell)
        if command.words:
            yield command


def is_unresolved(text: str) -> bool:
    """Return whether a text still has an expansion in it, so that its value is not known."""
    return bool(_UNRESOLVED.search(text))


def expand_kubernetes(text: str, variables: Mapping[str, str]) -> str:
    """Expand `$(NAME)` as the kubelet does, before any shell runs. `$$` stands for `$`.

    Source: Kubernetes 1.34, third_party/forked/golang/expansion.
    """
    return re.sub(
        r"\$(?:\$|\(([^()]*)\))", lambda found: "$" if found[0] == "$$" else variables.get(found[1], found[0]), text
    )


def _simple(script: str) -> Iterator[list[Word] | Array]:
    words: list[Word] = []
    is_target = False
    for token in tokens(script):
        if isinstance(token, Array):
            yield token
        elif isinstance(token, Operator):
            is_target = token.redirects
            if not token.redirects:
                yield from _program(words)
                words = []
        elif is_target:
            is_target = False
        else:
            words.append(token)
    yield from _program(words)


def _program(words: list[Word]) -> Iterator[list[Word]]:
    """Yield the command without the reserved words before it, if it names a program or assigns."""
    while words and _plain(words[0]) in _RESERVED:
        words = words[1:]
    if words and _plain(words[0]) not in _HEADS:
        yield words


def _plain(word: Word) -> str:
    """Return the text of a word without quotes and expansions, else ""."""
    return word[0].text if len(word) == 1 and not word[0].quoted and not word[0].expands else ""


def _run(simple: Sequence[Word], shell: _Shell) -> Command:
    """Expand a simple command. If it is only assignments, they are the shell's own."""
    words, own = list(simple), dict[str, str]()
    while words and (found := _assignment(words[0])):
        name, appends, value = found
        own[name] = (shell.values.get(name, "") if appends else "") + _joined(value, shell)
        words.pop(0)
    expanded = tuple(text for word in words for text in _fields(word, shell))
    if not expanded:
        shell.values.update(own)
    elif expanded[0] in _EXPORTS:
        _export(words[1:], shell, exports=expanded[0] == "export" or "-x" in expanded)
    elif expanded[:2] == ("set", "--"):
        shell.positional = expanded[2:]
    else:
        return Command(expanded, shell.environment(own))
    return Command((), {})


def _export(words: Sequence[Word], shell: _Shell, *, exports: bool) -> None:
    for word in words:
        found = _assignment(word)
        name = found[0] if found else _joined(word, shell)
        if found:
            shell.values[name] = _joined(found[2], shell)
        if exports:
            shell.exported.add(name)


def _set_array(array: Array, shell: _Shell) -> None:
    words = [token for token in tokens(array.text) if isinstance(token, tuple)]
    before = shell.arrays.get(array.name, ()) if array.appends else ()
    shell.arrays[array.name] = (*before, *(text for word in words for text in _fields(word, shell)))


def _assignment(word: Word) -> tuple[str, bool, Word] | None:
    """Return name, whether it appends, and value of an assignment; None for another word."""
    found = None if word[0].quoted or word[0].expands else _ASSIGNMENT.match(word[0].text)
    return (found[1], bool(found[2]), (Part(word[0].text[found.end() :]), *word[1:])) if found else None


def _joined(word: Word, shell: _Shell) -> str:
    """Expand a word that stays one word, as in an assignment."""
    return "".join(_expanded(part.text, shell) if part.expands else part.text for part in word)


def _fields(word: Word, shell: _Shell) -> list[str]:
    """Expand a word of a command."""
    fields: list[list[str]] = [[]]
    for part in word:
        first, *more = _pieces(part, shell) or [""]
        fields[-1].append(first)
        fields += ([text] for text in more)
    is_word = any(part.quoted for part in word) and not (len(word) == 1 and _elements(word[0], shell) == [])
    return [text for text in map("".join, fields) if text or is_word]


def _pieces(part: Part, shell: _Shell) -> list[str]:
    if not part.expands:
        return [part.text]
    elements = _elements(part, shell)
    if elements is not None:
        return elements
    text = _expanded(part.text, shell)
    return [text] if part.quoted or is_unresolved(text) else re.split(r"[ \t\n]+", text)


def _elements(part: Part, shell: _Shell) -> list[str] | None:
    """Return the elements of an array or of `$@`; None for a part that is something else."""
    found = _EXPANSION.fullmatch(part.text) if part.expands else None
    if not found or found["operator"]:
        return None
    if (found["special"] or found["braced"]) in ("@", "*"):
        return list(shell.positional)
    return list(shell.arrays.get(found["braced"], (found[0],))) if found["all"] else None


def _expanded(text: str, shell: _Shell, depth: int = 0) -> str:
    pieces, end = list[str](), 0
    while (at := text.find("$", end)) >= 0:
        stop = dollar_end(text, at)
        pieces += [text[end:at], _value(text[at:stop], shell, depth)]
        end = stop
    return "".join((*pieces, text[end:]))


def _value(text: str, shell: _Shell, depth: int) -> str:
    """Return the value of one expansion, or its text if that is not known."""
    found = _EXPANSION.fullmatch(text)
    name = (found["name"] or found["braced"]) if found else None
    if not found or not name or depth > _MOST_NESTED or shell.left <= 0:
        return text
    known = _known(name, shell)
    if known is None and name in shell.unknown:
        return text
    value = _with_default(found, known, lambda default: _expanded(default, shell, depth + 1))
    shell.left -= len(value)
    return value


def _known(name: str, shell: _Shell) -> str | None:
    if name.isdigit():
        place = int(name[:4])
        return shell.positional[place - 1] if 0 < place <= len(shell.positional) else None
    first = next(iter(shell.arrays.get(name, ())), None)
    return shell.values.get(name, first)


def _with_default(found: re.Match[str], known: str | None, expand: Callable[[str], str]) -> str:
    operator, default = found["operator"] or "", found["default"] or ""
    is_set = bool(known) if operator.startswith(":") else known is not None
    if operator.endswith("+"):
        return expand(default) if is_set else ""
    if known is not None and (is_set or not operator):
        return known
    return expand(default.strip("\"'")) if operator.endswith(("-", "=")) else found[0]
