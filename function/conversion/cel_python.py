"""Device selectors as cel-python reads them: the evaluator of Modelplane v0.3.

Modelplane v0.3 evaluated selectors with cel-python, and gave the same texts to Kubernetes, whose evaluator is cel-go.
The two differ: cel-python has no static check, no optional fields, other rules for comparisons, and other libraries.
This module evaluates a selector as v0.3 did, so that `selectors` can tell where the two readings part.

- The device is the same: domains that are not published read as empty maps, ids that are not published are errors.
- The functions over quantities and versions are ours, which are Kubernetes'. v0.3 had its own, written to be the same.
- cel-python calls `x.f(y)` and `f(x, y)` alike, so both spellings of every function are accepted.
- A result that is neither true nor false is no match. So is an error: v0.3 passed such a device over.

Source: modelplane v0.3, functions/compose-model-deployment (cel.py); cel-python 0.5.

cel-python does not bound what an expression costs, so its evaluations end here after MOST_STEPS. It takes a tenth of a
second to import, and logs what it evaluates where logging is on: only the command line imports it, and only to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import celpy
import re2
from celpy import celtypes
from celpy.adapter import json_to_cel
from celpy.evaluation import Evaluator

from function.cel.device import Device, Unsupported, Version
from function.cel.libraries import quantity, semver

MATCH, NO_MATCH, ERROR = "match", "no match", "error"
MOST_STEPS = 50_000
"""Nodes of the syntax tree that an evaluation visits at most: about a second. No real selector visits a thousand."""


@dataclass(frozen=True, slots=True)
class Program:
    """A selector that cel-python compiled. Its text is `text`."""

    text: str
    _runner: Any

    def evaluate(self, device: Device) -> str:
        """MATCH, NO_MATCH or ERROR. v0.3 took only MATCH for a match. Does not raise."""
        try:
            evaluator = _Bounded(self._runner.ast, self._runner.new_activation())
            value = evaluator.evaluate({"device": _device(device)})
        except Exception:  # noqa: BLE001  (cel-python raises what Python raises; each is a failed evaluation)
            return ERROR
        if not isinstance(value, bool | celtypes.BoolType):
            return ERROR
        return MATCH if value else NO_MATCH


def compiled(text: str) -> Program | None:
    """Compile a selector; None where cel-python refuses it."""
    environment = celpy.Environment()
    try:
        return Program(text, environment.program(environment.compile(text), functions=_FUNCTIONS))
    except Exception:  # noqa: BLE001  (a parser's errors, and a RecursionError where it is deeply nested)
        return None


class _TooLongError(Exception):
    """The evaluation took MOST_STEPS. cel-python's macros pass it on, unlike its own errors."""


class _Bounded(Evaluator):
    """cel-python's evaluator, which counts the nodes that it visits."""

    def __init__(self, ast: Any, activation: Any, steps: list[int] | None = None) -> None:
        super().__init__(ast, activation)
        self._steps = [MOST_STEPS] if steps is None else steps

    def sub_evaluator(self, ast: Any) -> _Bounded:
        """The evaluator of a macro's operand. It shares the count."""
        return _Bounded(ast, self.activation, self._steps)

    def _visit_tree(self, tree: Any) -> Any:
        self._steps[0] -= 1
        if self._steps[0] < 0:
            raise _TooLongError
        return super()._visit_tree(tree)


class _Domains(celtypes.MapType):
    """Values by domain and id. An unknown domain reads as an empty map."""

    def __missing__(self, key: Any) -> celtypes.MapType:
        return celtypes.MapType()


def _device(device: Device) -> celtypes.MapType:
    """The variable `device`, made anew: an evaluation may change quantities.

    Raises ValueError for an attribute or a capacity that cannot be read.
    """
    attributes, capacity = _Domains(), _Domains()
    for name, value in device.attributes:
        _put(attributes, name, device.driver, _attribute(value))
    for name, text in device.capacity:
        _put(capacity, name, device.driver, quantity.parse(text.strip()))
    fields = {"driver": celtypes.StringType(device.driver), "attributes": attributes, "capacity": capacity}
    return celtypes.MapType({celtypes.StringType(name): value for name, value in fields.items()})


def _put(domains: _Domains, name: str, driver: str, value: Any) -> None:
    domain, slash, id_ = name.partition("/")
    if not slash:
        domain, id_ = driver, name
    ids: Any = domains.setdefault(celtypes.StringType(domain), celtypes.MapType())
    ids[celtypes.StringType(id_)] = value


def _attribute(value: Any) -> Any:
    if isinstance(value, Unsupported):
        raise ValueError(value.problem)  # noqa: TRY004  (read as bad data)
    return semver.parse(value.text) if isinstance(value, Version) else json_to_cel(value)


def _compared(one: Any, other: Any) -> int:
    """The order of two quantities, or of two versions."""
    if type(one) is not type(other) or not isinstance(one, quantity.Quantity | semver.Semver):
        raise TypeError("only quantities and versions are compared by a function")
    return one.compare(other)


def _holds(test: Callable[[int], bool], one: Any, other: Any) -> celtypes.BoolType:
    return celtypes.BoolType(test(_compared(one, other)))


def _parses(parse: Callable[..., Any], *arguments: Any) -> celtypes.BoolType:
    try:
        parse(*arguments)
    except ValueError:
        return celtypes.BoolType(source=False)
    return celtypes.BoolType(source=True)


def _quantity(text: Any) -> quantity.Quantity:
    return quantity.parse(str(text))


def _semver(text: Any, normalize: Any = False) -> semver.Semver:  # noqa: FBT002  (as expressions pass it)
    return semver.parse(str(text), normalize=bool(normalize))


def _integer(amount: quantity.Quantity) -> celtypes.IntType:
    if amount.integer is None:
        raise ValueError("the quantity is no integer of 64 bits")
    return celtypes.IntType(amount.integer)


def _operand(value: Any) -> quantity.Quantity:
    return value if isinstance(value, quantity.Quantity) else quantity.parse(str(int(value)))


def _matches(text: Any, pattern: Any) -> celtypes.BoolType:
    """cel-python's own function, without RE2's messages on standard error."""
    try:
        return celtypes.BoolType(bool(_RE2.search(str(pattern), str(text), _QUIET)))
    except re2.error as error:
        raise ValueError(str(error)) from None


_RE2: Any = re2
_QUIET = re2.Options()
_QUIET.log_errors = False

_FUNCTIONS: Any = {
    "quantity": _quantity,
    "isQuantity": partial(_parses, _quantity),
    "sign": lambda amount: celtypes.IntType(amount.sign),
    "isInteger": lambda amount: celtypes.BoolType(amount.integer is not None),
    "asInteger": _integer,
    "asApproximateFloat": lambda amount: celtypes.DoubleType(float(amount)),
    "add": lambda one, other: one.plus(_operand(other)),
    "sub": lambda one, other: one.minus(_operand(other)),
    "semver": _semver,
    "isSemver": partial(_parses, _semver),
    "major": lambda version: celtypes.IntType(version.major),
    "minor": lambda version: celtypes.IntType(version.minor),
    "patch": lambda version: celtypes.IntType(version.patch),
    "compareTo": lambda one, other: celtypes.IntType(_compared(one, other)),
    "isGreaterThan": partial(_holds, lambda order: order > 0),
    "matches": _matches,
    "isLessThan": partial(_holds, lambda order: order < 0),
}
