"""YAML errors in words: where a mistake is, what it is, and what to write instead.

A parser notices a mistake later than it is made, and names what it was doing. The rules below look at the lines around
that place, each for one mistake that people make; the first one that recognizes its mistake answers. A message repeats
names of fields and punctuation, and never a value, which may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from function.cli.values import Position
from function.core import plural

Found: TypeAlias = tuple[str, int, int]
"""What is wrong, and its line and column, counted from 0."""

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_FIELD = re.compile(r"(?:- +)*[^\s:#\"'\[{][^:]*:(?:\s|$)")
_NO_SPACE = re.compile(r" *(?:- +)*([A-Za-z][\w.-]*):\S")
_DASHES = re.compile(r"(?:- +)+(?=\S)")
_TAB = "a tab cannot indent YAML; use spaces"
_ELSE = "this is not valid YAML; the mistake is here, or in the line above"


@dataclass(frozen=True, slots=True)
class _Mistake:
    """A parser's error, and the text around it. Lines and columns are counted from 0."""

    lines: list[str]
    problem: str
    context: str
    at: tuple[int, int]
    since: tuple[int, int]
    """Where that began which the parser was reading."""
    is_json: bool

    @property
    def line(self) -> str:
        return self.of(self.at[0])

    @property
    def char(self) -> str:
        """The character at the place; empty behind the end of a line."""
        return self.line[self.at[1] : self.at[1] + 1]

    @property
    def opened(self) -> str:
        """The character that began what the parser was reading."""
        return self.of(self.since[0])[self.since[1] : self.since[1] + 1]

    @property
    def indent(self) -> int:
        return _indent(self.line)

    @property
    def above(self) -> int | None:
        """The nearest line above that is neither empty nor a comment."""
        return next((n for n in range(self.at[0] - 1, -1, -1) if _has_content(self.of(n))), None)

    def of(self, line: int) -> str:
        return self.lines[line] if line < len(self.lines) else ""


def lines_of(text: str) -> list[str]:
    """The lines of a text as YAML counts them: by other characters than line feeds too."""
    return text.split("\n") if text.isascii() and "\r" not in text else _BREAK.split(text)


def explained(error: yaml.MarkedYAMLError, text: str, *, is_json: bool) -> tuple[str, Position | None]:
    """What is wrong, and where, counted from 1; no place if the parser knows none."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return _ELSE, None
    since = error.context_mark or mark
    mistake = _Mistake(
        lines_of(text), error.problem or "", error.context or "",
        (mark.line, mark.column), (since.line, since.column), is_json,
    )  # fmt: skip
    what, line, column = next(filter(None, (rule(mistake) for rule in _RULES)), (_ELSE, mark.line, mark.column))
    return what, Position(line + 1, column + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


# Rules


def _conflict(mistake: _Mistake) -> Found | None:
    found = _CONFLICT.search("\n".join(mistake.lines))
    if found is None:
        return None
    return "a merge conflict is not resolved here", found.string.count("\n", 0, found.start()), 0


def _tab(mistake: _Mistake) -> Found | None:
    line = mistake.line
    is_indented = "\t" in line[: len(line) - len(line.lstrip())]
    return (_TAB, *mistake.at) if is_indented or mistake.char == "\t" else None


def _deep(mistake: _Mistake) -> Found | None:
    return ("nested too deeply", *mistake.at) if "nesting depth" in mistake.problem else None


def _quoted(mistake: _Mistake) -> Found | None:
    """A quote that nothing closes, or an escape that does not exist."""
    if "quoted scalar" not in mistake.context:
        return None
    if "escape" in mistake.problem or "hexdecimal" in mistake.problem:
        remedy = "in double quotes, write \\\\ for a backslash, or use single quotes"
        return f"a backslash begins an escape that does not exist; {remedy}", *mistake.at
    return f"the quote {mistake.opened} that opens here is never closed", *mistake.since


def _bracket(mistake: _Mistake) -> Found | None:
    """A list or mapping in brackets that goes on with something else."""
    wanted = re.search(r"',' or '([\]}])'", mistake.problem)
    if wanted is None:
        return None
    line, opening = mistake.at[0], mistake.since[0]
    goes_on = line == opening or mistake.is_json or mistake.indent > _indent(mistake.of(opening))
    if goes_on and mistake.line[mistake.at[1] :].strip():
        return f"expected , or {wanted[1]} here", *mistake.at
    return f"the bracket {mistake.opened} that opens here is never closed", *mistake.since


def _stray(mistake: _Mistake) -> Found | None:
    """A closing bracket, or a comma, where a value is expected."""
    if mistake.char and mistake.char in "]}" and "expected" in mistake.problem:
        return f"{mistake.char} closes nothing here; put a text that contains it in quotes", *mistake.at
    return ("a value is missing here", *mistake.at) if "node content" in mistake.problem else None


def _special(mistake: _Mistake) -> Found | None:
    """A text without quotes that begins with a character of YAML's own."""
    line, column = mistake.at
    if "cannot start any token" in mistake.problem:
        return f"a text cannot begin with {mistake.char}; put it in quotes", line, column
    if "undefined alias" in mistake.problem:
        return "* begins an alias, and this one has no anchor; put a text that begins with * in quotes", line, column
    names = {"alias": "*", "anchor": "&", "tag": "!"}
    kind = next((kind for kind in names if kind in f"{mistake.context} {mistake.problem}"), "")
    if not kind:
        return None
    if "duplicate" in mistake.context:
        return "this anchor is defined twice", line, column
    return f"{names[kind]} begins {'a' if kind == 'tag' else 'an'} {kind}; put the text in quotes", *mistake.since


def _deeper(mistake: _Mistake) -> Found | None:
    """A line below a field that already has a value, and deeper than it."""
    above = mistake.above
    if above is None or not _FIELD.match(mistake.line.lstrip()):
        return None
    if mistake.line[: mistake.at[1]].count(": ") or not _FIELD.match(mistake.of(above).lstrip()):
        return None
    own = _level(mistake.of(above))
    if mistake.indent <= own or mistake.of(above).rstrip().endswith(":"):
        return None
    what = f"indented by {plural(mistake.indent, 'space')}, deeper than line {above + 1}, which has a value already"
    return f"{what}; expected {own}", mistake.at[0], mistake.indent


def _level(line: str) -> int:
    """The column of the field of a line, behind the dashes of a list."""
    dashes = _DASHES.match(line.lstrip(" "))
    return _indent(line) + (dashes.end() if dashes else 0)


def _colon(mistake: _Mistake) -> Found | None:
    """A line without a colon that ends a name, or with one more than that."""
    if not ("expected ':'" in mistake.problem or "mapping values" in mistake.problem):
        return None
    line = mistake.since[0] if "expected ':'" in mistake.problem else mistake.at[0]
    for candidate in (line, mistake.above):
        if candidate is not None and not _FIELD.match(text := mistake.of(candidate).lstrip()) and text.strip():
            return _missing_colon(mistake, candidate)
    return 'a second ": " in one line; put the value in quotes', *mistake.at


def _missing_colon(mistake: _Mistake, line: int) -> Found:
    text = mistake.of(line)
    crowded = _NO_SPACE.match(text)
    if crowded:
        return "a space is missing after the colon", line, crowded.end(1)
    return 'expected "name: value" in this line; it has no ": "', line, _indent(text)


def _split(mistake: _Mistake) -> Found | None:
    """Text behind a closing quote: of this line, or of a line above where a quote is missing."""
    before = mistake.line[: mistake.at[1]]
    quote = next((q for q in "\"'" if before.rstrip().endswith(q)), "")
    if "expected key" not in mistake.problem or not quote:
        return None
    if before.count(quote) % 2:
        for line in range(mistake.at[0] - 1, -1, -1):
            if mistake.of(line).count(quote) % 2:
                return (
                    f"the quote {quote} that opens here is not closed in its line",
                    line,
                    mistake.of(line).rfind(quote),
                )
    remedy = "write '' for ' inside" if quote == "'" else 'write \\" for " inside'
    return f"text follows a closing quote; {remedy}", *mistake.at


def _indentation(mistake: _Mistake) -> Found | None:
    """A line whose indentation is that of none of the blocks around it."""
    if not _is_in_a_block(mistake) or mistake.at[1] != mistake.indent:
        return None
    levels = dict(_levels(mistake))
    if mistake.indent in levels or not levels:
        return None
    said = ", or ".join(f"{level} as in line {line + 1}" for level, line in levels.items())
    return f"indented by {plural(mistake.indent, 'space')}; the lines above allow {said}", *mistake.at


def _levels(mistake: _Mistake) -> Iterator[tuple[int, int]]:
    """The columns at which the blocks around a line begin, innermost first, each with a line that begins there."""
    least = None
    for number in range(mistake.at[0] - 1, -1, -1):
        line = mistake.of(number)
        for level in sorted({_level(line), _indent(line)}, reverse=True) if _has_content(line) else ():
            if least is None or level < least:
                least = level
                yield level, number


def _is_in_a_block(mistake: _Mistake) -> bool:
    return "expected key" in mistake.problem or "'-' indicator" in mistake.problem


def _mixed(mistake: _Mistake) -> Found | None:
    """A list and a mapping at one level."""
    if not _is_in_a_block(mistake) or mistake.at[1] != mistake.indent:
        return None
    if mistake.line.lstrip().startswith("- "):
        return 'expected "name: value" here, as in the lines above, not an item of a list', *mistake.at
    if mistake.line.lstrip().startswith(":"):
        return "a name is missing before the colon", *mistake.at
    if "'-' indicator" in mistake.problem:
        return 'expected "- " here, as in the lines above, or another indentation', *mistake.at
    return None


_WORDS = (
    ("block sequence entries", "a list cannot begin in the line of its name; begin it in the next line"),
    ("mapping keys are not", "a text cannot begin with ? here; put it in quotes"),
    ("expected comment or line break", "the text of | or > begins in the next line"),
    ("indentation indicator", "the text of | or > cannot be indented by 0"),
    ("incompatible YAML", "this version of YAML is not known; expected 1.1 or 1.2"),
    ("<document start>", "expected a line with --- before another document"),
)


def _worded(mistake: _Mistake) -> Found | None:
    """What the parser says, in other words."""
    if "directive" in f"{mistake.context} {mistake.problem}":
        return "% begins a directive of YAML at the start of a line; put the text in quotes", *mistake.since
    return next(((said, *mistake.at) for problem, said in _WORDS if problem in mistake.problem), None)


_RULES: tuple[Callable[[_Mistake], Found | None], ...] = (
    _conflict,
    _tab,
    _deep,
    _quoted,
    _bracket,
    _stray,
    _special,
    _deeper,
    _colon,
    _split,
    _indentation,
    _mixed,
    _worded,
)
