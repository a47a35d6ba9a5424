"""The grammar: celpy's, with what it lacks or reads otherwise than Kubernetes replaced, each line by its exact text.

Source of the replacements: github.com/google/cel-go v0.26, parser/gen/CEL.g4, in the notation of Lark.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_QUOTED = "|".join(
    (
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^"\\\n\r])*"',
        rf"'(?:{_ESCAPE}|[^'\\\n\r])*'",
        r'[rR]"""[\s\S]*?"""',
        r"[rR]'''[\s\S]*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
    )
)
_END = "(?![_a-zA-Z0-9])"

PATCHES: Mapping[str, str] = {
    # Optional field and element; a field may be written in backticks.
    "member         : member_dot | member_dot_arg | member_index | member_object | primary": (
        "member         : member_dot | member_optdot | member_dot_arg | member_index | member_optindex | member_object"
        " | primary"
    ),
    'member_dot     : member "." IDENT\n': (
        'member_dot     : member "." (IDENT | ESCAPED)\nmember_optdot  : member "." "?" (IDENT | ESCAPED)\n'
    ),
    'member_index   : member "[" expr "]"': (
        'member_index   : member "[" expr "]"\nmember_optindex : member "[" "?" expr "]"'
    ),
    # Optional entries, and commas at the end.
    'member_object  : member "{" [fieldinits] "}"': 'member_object  : member "{" [fieldinits] [","] "}"',
    'fieldinits     : IDENT ":" expr ("," IDENT ":" expr)*': (
        'fieldinits     : [fieldinits ","] fieldinit\nfieldinit      : [OPTIONAL] (IDENT | ESCAPED) ":" expr'
    ),
    'list_lit       : "[" [exprlist] "]"': (
        'list_lit       : "[" [listinits] [","] "]"\nlistinits      : [listinits ","] listinit\n'
        "listinit       : [OPTIONAL] expr"
    ),
    'map_lit        : "{" [mapinits] "}"': 'map_lit        : "{" [mapinits] [","] "}"',
    'mapinits       : expr ":" expr ("," expr ":" expr)*': (
        'mapinits       : [mapinits ","] mapinit\nmapinit        : [OPTIONAL] expr ":" expr\nOPTIONAL       : "?"'
    ),
    # Numbers have no sign of their own, and keywords end where a name would.
    'relation_in    : relation "in"': f"relation_in    : relation IN\nIN.2           : /in{_END}/",
    "INT_LIT        : /-?/ /0x/ HEXDIGIT+ | /-?/ DIGIT+": "INT_LIT.3      : /0x[0-9a-fA-F]+|[0-9]+/",
    "UINT_LIT       : INT_LIT /[uU]/": "UINT_LIT.4     : /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/",
    'FLOAT_LIT      : /-?/ DIGIT+ "." DIGIT* EXPONENT? | /-?/ DIGIT* "." DIGIT+ EXPONENT? | /-?/ DIGIT+ EXPONENT': (
        r"FLOAT_LIT.5    : /[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/"
    ),
    'BOOL_LIT       : "true" | "false"': f"BOOL_LIT.2     : /(?:true|false){_END}/",
    'NULL_LIT       : "null"': f"NULL_LIT.2     : /null{_END}/",
    "IDENT          : /[_a-zA-Z][_a-zA-Z0-9]*/": (
        "IDENT          : /[_a-zA-Z][_a-zA-Z0-9]*/\nESCAPED        : /`[a-zA-Z0-9_.\\-\\/ ]+`/"
    ),
    # Escapes as Kubernetes has them.
    "literal        : UINT_LIT | FLOAT_LIT | INT_LIT | MLSTRING_LIT | STRING_LIT | BYTES_LIT": (
        "literal        : UINT_LIT | FLOAT_LIT | INT_LIT | STRING_LIT | BYTES_LIT"
    ),
    "BYTES_LIT      : /[bB]/ MLSTRING_LIT | /[bB]/ STRING_LIT": f"BYTES_LIT.4    : /[bB](?:{_QUOTED})/",
}
"""What stands in celpy's grammar, and what takes its place."""

_STRINGS = ("STRING_LIT     :", "MLSTRING_LIT   :", "RESERVED.0 ")
"""Definitions that go: they run over several lines."""


@cache
def parser() -> Any:
    """Built when the first expression is parsed.

    celpy itself is not imported: that sets the interpreter's recursion limit.
    """
    from lark import Lark

    from function.cel.build import Builder

    return Lark(
        patched(original()),
        parser="lalr",
        lexer="basic",
        start="expr",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=Builder(),
    )


def original() -> str:
    """The text of celpy's grammar."""
    spec = importlib.util.find_spec("celpy")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "cel.lark").read_text()


def patched(grammar: str) -> str:
    """ValueError when a line that is to be replaced is not there."""
    for old, new in PATCHES.items():
        if grammar.count(old) != 1:
            raise ValueError(f"celpy's grammar has changed: {old!r} stands in it {grammar.count(old)} times")
        grammar = grammar.replace(old, new)
    return _without(grammar) + f"\nSTRING_LIT.3 : /{_QUOTED}/\n"


def _without(grammar: str) -> str:
    kept, dropping = [], False
    for line in grammar.splitlines():
        dropping = line.startswith(_STRINGS) or (dropping and line.lstrip().startswith("|"))
        if not dropping:
            kept.append(line)
    return "\n".join(kept)
