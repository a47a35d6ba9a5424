"""A CEL library is one module and a line in a table: here is one, in a few lines, that the language does not know.

It is checked, estimated, metered and evaluated. Its type is compared, and named in messages.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from function.cel.language import operators
from function.cel.language.checking.checker import check
from function.cel.language.costs.estimate import Estimator
from function.cel.language.declarations.cost import UNIT, Estimate, by_function
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.declarations.ranges import exactly
from function.cel.language.declarations.types import BOOL, STRING
from function.cel.language.errors import Abort, Failure, Fault
from function.cel.language.limits import COST, STEPS
from function.cel.language.program.actual_cost import MeteredCompiler
from function.cel.language.program.compiler import Compiler, program
from function.cel.language.syntax.parser import parse
from function.cel.language.values.comparison import equal
from function.cel.language.values.opaque import OpaqueType
from function.cel.language.values.type_names import type_name


@dataclass(frozen=True)
class Colour:
    number: int


def _colour(text: str) -> Colour:
    try:
        return Colour(int(text.removeprefix("#"), 16))
    except ValueError:
        raise Failure(f"{text} is no colour") from None


COLOURS = Library(
    name="colours",
    types=(OpaqueType("colour", "example.Colour", Colour, is_named=True, is_written=True, panics_as_key=True),),
    overloads=(
        function("string_to_colour: colour(string) -> colour", _colour, by_function(
            lambda _, args: Estimate(exactly(args[0].known_size.most)), lambda values, _: len(values[0])
        )),
        method("colour_red: colour.red() -> int", lambda colour: colour.number >> 16, UNIT),
        method("colour_mix: colour.mix(colour) -> colour", lambda a, b: Colour((a.number + b.number) // 2), UNIT),
    ),
)  # fmt: skip
TOY = Environment("toy", {"paint": STRING}, (operators.LIBRARY, COLOURS), sizes={("paint",): 7})


def evaluated(text: str, paint: str = "#ff0000") -> object:
    root = parse(text)
    compiler = Compiler(check(root, TOY), TOY)
    return program(compiler, STEPS)([paint, *compiler.empty(COST)[1:]])


def problem(text: str) -> str:
    with pytest.raises(Fault) as raised:
        check(parse(text), TOY)
    return f"{raised.value}; {raised.value.suggestion}"


def test_it_is_evaluated():
    assert evaluated("colour(paint).red() == 255 && colour(paint).mix(colour('#000000')).red() == 127") is True
    with pytest.raises(Failure, match="blue is no colour"):
        evaluated("colour(paint).red()", "blue")


def test_it_is_checked():
    assert problem("colour(paint).green()") == 'there is no function "green"; None'
    assert problem("color(paint)") == 'there is no function "color"; colour()'
    assert problem("colour(1)") == "colour takes (string), and here it has (int); None"
    assert problem("colour(paint) == 'red'") == 'a colour cannot be compared with a string; colour("red")'


def test_it_is_priced_before_and_during_an_evaluation():
    root = parse("colour(paint).red() == 1")
    checked = check(root, TOY)
    compiler = MeteredCompiler(checked, TOY)
    frame = ["#ff", *compiler.empty(COST)[1:]]
    assert program(compiler, STEPS)(frame) is False
    assert frame[compiler.meter] == 1 + len("#ff") + 1 + 1
    assert Estimator(checked, TOY).cost(root).most == 1 + 7 + 1 + 1


def test_its_values_are_compared_and_are_no_keys():
    assert evaluated("colour('#1') == colour('#01') && colour('#1') in [colour('#2'), colour('#1')]") is True
    with pytest.raises(Failure, match="== does not take a colour and an int"):
        equal(Colour(1), 1)
    with pytest.raises(Abort, match="a colour as a key"):
        evaluated("{colour(paint): true} == {colour(paint): true}")


def test_its_type_has_a_name():
    root = parse("example.Colour == example.Colour")
    assert check(root, TOY).type(root) == BOOL
    assert type_name(Colour(1)) == "example.Colour"


@pytest.mark.parametrize(
    ("libraries", "message"),
    [
        ((COLOURS, COLOURS), "there are two overloads string_to_colour"),
        ((Library("shades", COLOURS.overloads),), "has the type colour, which no library declares"),
        ((Library("tints", (), (OpaqueType("tint", "example.Tint", Colour),)),), "Colour is the class of colour"),
        ((Library("paints", (), (OpaqueType("colour", "example.Other", int),)),), "there are two types colour"),
    ],
)
def test_libraries_that_contradict_each_other_are_refused(libraries, message):
    with pytest.raises(ValueError, match=message):
        Environment("toy", {}, libraries)


def test_an_overload_without_implementation_or_price_cannot_be_written():
    with pytest.raises(TypeError):
        function("a: a() -> int", lambda: 1)
    with pytest.raises(TypeError):
        method("b: int.b() -> int", cost=UNIT)
