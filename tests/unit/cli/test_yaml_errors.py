"""YAML errors: each names the mistake that was made, at the place where it was made, and no value."""

from __future__ import annotations

import pytest

from function.cli import files
from function.cli.values import BrokenFile

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a:\n   b: 1\n  c: 2\n", "3:3: indented by 2 spaces; the lines above allow 3 as in line 2, or 0 as in line 1"),
        ("a:\n  - b\n - c\n", "3:2: indented by 1 space; the lines above allow 4 as in line 2, or 2 as in line 2"),
        ("a:\n  b: 1\n    c: 2\n", "3:5: indented by 4 spaces, deeper than line 2, which has a value already"),
        ('a:\n  b: "1"\n    c: 2\n', "3:5: indented by 4 spaces, deeper than line 2, which has a value already"),
        ("- a: 1\n     b: 2\n", "2:6: indented by 5 spaces, deeper than line 1, which has a value already; expected 2"),
        ("a: b: hunter2\n", '1:5: a second ": " in one line; put the value in quotes'),
        ('a: "hunter2\nb: c\n', '1:4: the quote " that opens here is never closed'),
        ('a: "hunter2\nb: "c"\n', '1:4: the quote " that opens here is not closed in its line'),
        ("a: 'it's hunter2'\n", "1:8: text follows a closing quote; write '' for ' inside"),
        ('a: "\\d"\n', "1:5: a backslash begins an escape that does not exist"),
        ("a: [1, 2\nb: 3\n", "1:4: the bracket [ that opens here is never closed"),
        ("a: {b: 1\n", "1:4: the bracket { that opens here is never closed"),
        ("a: [b: c: d]\n", "1:9: expected , or ] here"),
        ('{"a": 1\n "b": 2}', "2:5: expected , or } here"),
        ("a: ]\n", "1:4: ] closes nothing here"),
        ("a: {b: 1}}\n", "1:10: } closes nothing here"),
        ("a: {b: 1,, c: 2}\n", "1:10: a value is missing here"),
        ("a:\n  replicas hunter2\n  c: d\n", '2:3: expected "name: value" in this line; it has no ": "'),
        ("a:\n  replicas:3\n  c: d\n", "2:11: a space is missing after the colon"),
        ("a: b\nreplicas:3\n", "2:9: a space is missing after the colon"),
        ("a: @hunter2\n", "1:4: a text cannot begin with @; put it in quotes"),
        ("a: **/x\n", "1:4: * begins an alias; put the text in quotes"),
        ("a: *hunter2\n", "1:4: * begins an alias, and this one has no anchor"),
        ("a: & b\n", "1:4: & begins an anchor; put the text in quotes"),
        ("a: !x!y hunter2\n", "1:4: ! begins a tag; put the text in quotes"),
        ("a: !hunter2 x\n", "1:4: ! begins a tag, which has no meaning in a manifest"),
        ("a: &x 1\nb: &x 2\n", "2:4: this anchor is defined twice"),
        ("a:\n\tb: 1\n", "2:1: a tab cannot indent YAML; use spaces"),
        ("a: |\n\tb\n", "2:1: a tab cannot indent YAML; use spaces"),
        ("-\ta: 1\n", "1:2: a tab cannot indent YAML; use spaces"),
        ("a: 1\n- b\n", '2:1: expected "name: value" here, as in the lines above, not an item of a list'),
        ("- a\nb: 1\n", '2:1: expected "- " here, as in the lines above'),
        ("a: - b\n", "1:4: a list cannot begin in the line of its name"),
        (": b\n", "1:1: a name is missing before the colon"),
        ("a: |x\n  b\n", "1:5: the text of | or > begins in the next line"),
        ("a: |0\n b\n", "1:5: the text of | or > cannot be indented by 0"),
        ("a: ? b\n", "1:4: a text cannot begin with ? here; put it in quotes"),
        ("%FOO\n---\na: 1\n", "1:1: % begins a directive of YAML"),
        ("%YAML 2.0\n---\na: b\n", "1:1: this version of YAML is not known; expected 1.1 or 1.2"),
        ("a: b\n...\nc: d\n...x\n", "3:1: expected a line with --- before another document"),
        ("a: b\n<<<<<<< HEAD\nc: d\n", "2:1: a merge conflict is not resolved here"),
        ("- " * 2000, "1:1999: nested too deeply"),
        ("a: b\0c\n", "1:5: character 0x00 cannot be in YAML"),
        ("a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{new}: &{new} [{','.join(['*' + old] * 10)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
        ), "1:26: more than 1,000,000 values; aliases (*name) repeat too much"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_where_it_was_made(text: str, want: str) -> None:
    with pytest.raises(BrokenFile) as got:
        files.values_in(text, "f.yaml")
    assert str(got.value).startswith(f"f.yaml:{want}")
    assert SECRET not in str(got.value)


WORDS_OF_THE_PARSER = ("while parsing", "while scanning", "did not find", "could not find", "found ", "not allowed")
WHOLE = """a: "b"
c:
- d: [1, {e: f}]
  g: |
    h
- &i j: *i
k: 'l'
m: !n o
? p
: >-
  q
"r": {s: "t", u: [v]}
"""


def problem(text: str) -> str:
    try:
        files.values_in(text, "f.yaml")
    except BrokenFile as broken:
        return broken.problem
    return ""


@pytest.mark.parametrize("tail", ["", "\n\t", "]", '"', "\n   x: y", ": : ", "\n- %"])
def test_no_error_has_the_parsers_words(tail: str) -> None:
    """Wherever a file ends early, and whatever follows its end."""
    problems = {problem(WHOLE[:cut] + tail) for cut in range(len(WHOLE))}

    assert len(problems) > 1
    assert [one for one in problems if any(words in one for words in WORDS_OF_THE_PARSER)] == []
