"""What is read of a shell script, and what is left as it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.engines import shell


def words(script: str, *positional: str, **variables: str) -> list[tuple[str, ...]]:
    return [command.words for command in shell.commands(script, variables, ("SECRET",), positional)]


SPLIT = [
    ("a b  c\td", [("a", "b", "c", "d")]),
    ("a; b && c || d | e & f\ng", [(x,) for x in "abcdefg"]),
    ("a \\\n  --b \\\n--c", [("a", "--b", "--c")]),
    ("a # b\nc#d", [("a",), ("c#d",)]),
    ("a 'b c' \"d e\" f\\ g ''", [("a", "b c", "d e", "f g", "")]),
    ('a --x=\'{"k": "v"}\'', [("a", '--x={"k": "v"}')]),
    ("if a; then b; elif c; then d; else e; fi", [(x,) for x in "abcde"]),
    ("until [ x ]; do sleep 5; done", [("[", "x", "]"), ("sleep", "5")]),
    ("for i in 1 2; do a $i; done", [("a", "$i")]),
    ("case $1 in leader) a;; *) b;; esac", [("a",), ("*",), ("b",)]),
    ("{ a; } && (b; c)", [(x,) for x in "abc"]),
    ("f() { a; }", [("f",), ("a",)]),
    ("a >/dev/null 2>&1 b </x >>y 3>z &>w", [("a", "b")]),
    ("a <<EOF b\nc d\nEOF\ne", [("a", "b"), ("e",)]),
    ("a <<-'E O' <<F\nx\n\tE O\ny\nF\ne", [("a",), ("e",)]),
    ("a <<EOF\nnever ends", [("a",)]),
    ("a 'never ends", [("a", "never ends")]),
    ('a "never ends', [("a", "never ends")]),
    ("a $(never ends", [("a", "$(never ends")]),
    ("a $(b 'c)' \"d)\" (e)) f", [("a", "$(b 'c)' \"d)\" (e))", "f")]),
    ("a `b c` d", [("a", "`b c`", "d")]),
    ('a "$(b "c d")" e', [("a", '$(b "c d")', "e")]),
    ("a <(b c) d", [("a",), ("b", "c"), ("d",)]),
    ("", []),
]


@pytest.mark.parametrize(("script", "want"), SPLIT)
def test_a_script_is_split_into_programs(script: str, want: list[tuple[str, ...]]) -> None:
    assert words(script) == want


EXPANDED = [
    ("a $X ${X} x$X-", [("a", "1", "1", "x1-")]),
    ("a '$X' \"$X\" \\$X", [("a", "$X", "1", "$X")]),
    ('a $L "$L"', [("a", "p", "q", " p q ")]),
    ('a $E "$E" b', [("a", "", "b")]),
    ("a ${X:-2} ${Y:-2} ${Y-'3'} ${E:-4} ${E-5} ${Y:=6}", [("a", "1", "2", "3", "4", "6")]),
    ("a ${Y:-${Z:-$X}} ${X:+y} ${Y:+n}", [("a", "1", "y")]),
    ("a $Y ${Y} ${X%.*} $((1+1)) $(b)", [("a", "$Y", "${Y}", "${X%.*}", "$((1+1))", "$(b)")]),
    ("a $SECRET ${SECRET:-d}", [("a", "$SECRET", "${SECRET:-d}")]),
    ("Y=2; a $Y; Y=3 b $Y; c $Y", [("a", "2"), ("b", "2"), ("c", "2")]),
    ("Y=$X$X; Y+=z; a $Y", [("a", "11z")]),
    ("export Y=7 Z; a $Y", [("a", "7")]),
    ("A=(--b $X 'c d' # e\n --f); A+=(g); a \"${A[@]}\" ${A[0]}", [("a", "--b", "1", "c d", "--f", "g", "${A[0]}")]),
    ('a "$@" $1 ${2} $3', [("a", "p", "q r", "p", "q", "r", "$3")]),
    ("set -- x y; a $@", [("a", "x", "y")]),
]


@pytest.mark.parametrize(("script", "want"), EXPANDED)
def test_what_is_known_is_expanded(script: str, want: list[tuple[str, ...]]) -> None:
    """A variable that nobody sets stays: the image may set it."""
    assert words(script, "p", "q r", X="1", L=" p q ", E="") == want


def test_a_program_sees_what_is_exported() -> None:
    """A shell's own variable is not seen, unless it was one of the environment already."""
    script = "A=1; B=2; export C=3; D=4 run"
    (command,) = shell.commands(script, {"A": "0"})
    assert command.variables == {"A": "1", "C": "3", "D": "4"}


def test_unresolved_is_what_still_has_an_expansion() -> None:
    got = {text: shell.is_unresolved(text) for text in ("a", "$5", "$", "$(a)", "${a}", "$a", "`a`", "US$ 5")}
    assert got == {
        "a": False,
        "$5": True,
        "$": False,
        "$(a)": True,
        "${a}": True,
        "$a": True,
        "`a`": True,
        "US$ 5": False,
    }


def test_the_kubelet_expands_first() -> None:
    got = shell.expand_kubernetes("$(A) $$(A) $(B) $A $$ $(", {"A": "1"})
    assert got == "1 $(A) $(B) $A $ $("


def test_variables_that_repeat_each_other_stay_small() -> None:
    """Each line doubles the text: without a bound, this is 2 to the power of 400 characters."""
    script = "\n".join(f"V{i + 1}=$V{i}$V{i}" for i in range(400)) + "\nrun $V400"
    (command,) = shell.commands(script, {"V0": "x" * 100})
    assert len("".join(command.words)) <= 2 * shell.MOST_EXPANDED


def test_no_more_commands_are_read_than_a_start_script_has() -> None:
    assert len(words("a\n" * (shell.MOST_COMMANDS + 10))) == shell.MOST_COMMANDS


@given(st.text(st.sampled_from("a $(){}[]'\"`\\;&|<>#=\n-:@1AB"), max_size=80))
def test_every_text_is_a_script(script: str) -> None:
    for command in shell.commands(script, {"A": "1 2", "B": "$A"}, (), ("p",)):
        assert command.words
