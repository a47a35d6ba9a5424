"""Device selectors: compiled, checked as the API server admits them, and evaluated on a device.

Terms:

- The *cost* of an evaluation is in the units of Kubernetes. Selectors have an estimate, which is what it costs at most.
- The *price* is what an evaluation takes at most here: its cost, but no less than LEAST_PRICE, and no more than where
  the evaluation is ended. Callers that evaluate many selectors add prices up.
- *Bounds* are where an evaluation ends. KUBERNETES ends it as a scheduler does, SERVER within some milliseconds.

Phases, in the order of their calls:

1. Parse (`syntax`), check (`checking`), estimate (`costs`), compile (`program`): once for a distinct text.
2. Evaluate: once for each device, with one of three outcomes: match, no match, error.

A selector whose estimate is within the bounds is compiled without a meter. One whose estimate is above them may still
be cheap on real devices, so it is metered, not refused, unless the API server refuses it (`admitted`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from function.cel.device import Device, Seen, fresh, seen
from function.cel.environments import SELECTOR
from function.cel.language.checking.checker import check
from function.cel.language.checking.explain import wrong_result
from function.cel.language.costs.estimate import Estimator
from function.cel.language.errors import Abort, CelWarning, Failure, Fault, InvalidSelector, place
from function.cel.language.limits import (
    ADMITTED_CHARACTERS,
    COMPILED_CHARACTERS,
    COST,
    ENTRY_CHARACTERS,
    SERVER_COST,
    SERVER_STEPS,
    STEPS,
    TEXT_BYTES,
)
from function.cel.language.limits.bounded_cache import BoundedCache
from function.cel.language.limits.recursion_limit import raised
from function.cel.language.limits.step_budget import limited
from function.cel.language.program.actual_cost import MeteredCompiler
from function.cel.language.program.code import Frame, Run
from function.cel.language.program.compiler import Compiler, program
from function.cel.language.syntax.parser import parse, parsed

Spend = Callable[[int], None]
"""Called with the price of work before it is done. It may raise, to prevent the work."""
LEAST_PRICE = 200
"""The price of the cheapest evaluation: that of calling it, with a margin."""
_PRICE_OF_A_BYTE = 80
"""The price of parsing, checking, estimating and compiling a byte of text, measured against evaluations."""
_COPY = 2
"""Bytes of text that take as long to compile as a node that a macro copied."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Cost at which an evaluation is ended."""

    cost: int
    """In the units of Kubernetes."""
    steps: int
    """Beside the cost (`limits.step_budget`)."""
    is_proportional: bool = False
    """Whether a cheap selector has a smaller step budget, in proportion to its price."""

    def price(self, cost: int) -> int:
        """The price of an evaluation that costs at most so much."""
        return min(max(cost, LEAST_PRICE), self.cost)

    def steps_of(self, cost: int) -> int:
        """The step budget of an evaluation that costs at most so much."""
        return self.steps * self.price(cost) // self.cost if self.is_proportional else self.steps


KUBERNETES: Final = Bounds(COST, STEPS)
SERVER: Final = Bounds(SERVER_COST, SERVER_STEPS, is_proportional=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an evaluation that did not fail."""

    text: str

    def __str__(self) -> str:
        return self.text


MATCH: Final = Outcome("match")
NO_MATCH: Final = Outcome("no match")


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """An evaluation that failed: Kubernetes does not allocate the device, and may give up on the claim."""

    message: str
    position: int = -1
    """In the selector's text, from 0; -1 where the device itself is faulty."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled selector. Selectors of one text share a program."""

    text: str
    cost: int
    """Largest cost of an evaluation, in the units of Kubernetes."""
    price: int
    """Largest number of steps of an evaluation."""
    size: int
    """Bytes of its text, and what its macros copy in the same unit."""
    warnings: tuple[CelWarning, ...]
    _run: Run = field(repr=False, compare=False)
    _rest: Frame = field(repr=False, compare=False)
    """The frame without the device."""
    _sees: Callable[[Device], Seen] = field(repr=False, compare=False)

    def evaluate(self, device: Device) -> Outcome | EvaluationError:
        """MATCH, NO_MATCH, or why the evaluation failed. Does not raise."""
        known = self._sees(device)
        if known.fault is not None:
            return EvaluationError(known.fault)
        try:
            value = self._run([known.fields, *self._rest])
        except Failure as failure:
            return EvaluationError(failure.problem, failure.at)
        except Abort as abort:
            return EvaluationError(str(abort))
        if value is True:
            return MATCH
        if value is False:
            return NO_MATCH
        return EvaluationError("the selector is true or false, and here it is neither")


@dataclass(frozen=True, slots=True)
class Facts:
    """The costs of a selector that the API server accepts, without its program."""

    cost: int
    price: int
    size: int


def admitted(text: str, spend: Spend = lambda _: None) -> Selector:
    """Compile a selector that the API server accepts, to be evaluated within the bounds of the server.

    Arguments: spend: called with the price of compiling, where the selector is not compiled yet.
    Raises: InvalidSelector, also for one that is too long or could cost too much; what `spend` raises.
    """
    _check_length(text)
    selector = compiled(text, SERVER, spend)
    _check_cost(text, selector.cost)
    return selector


def facts(text: str, spend: Spend = lambda _: None) -> Facts:
    """The costs of a selector that the API server accepts. Arguments and raises as for `admitted`.

    They are remembered longer than programs are, so the selector is compiled only where they are not known.
    """
    _check_length(text)
    verdict = _FACTS.get(text)
    if verdict is None:
        found = verdict_on(text, SERVER, spend)
        verdict = found if isinstance(found, Fault) else Facts(found.cost, found.price, found.size)
        _FACTS.put(text, verdict, len(text) + ENTRY_CHARACTERS)
    if isinstance(verdict, Fault):
        raise _invalid(verdict, text)
    _check_cost(text, verdict.cost)
    return verdict


def _check_length(text: str) -> None:
    size = len(text.encode(errors="replace"))
    if size > TEXT_BYTES:
        raise InvalidSelector(f"it is {size:,} bytes long, and Kubernetes takes {TEXT_BYTES:,}", 0, text)


def _check_cost(text: str, cost: int) -> None:
    if cost > COST:
        problem = f"it could cost {cost:,} units, and Kubernetes allows {COST:,}: shorten its loops and patterns"
        raise InvalidSelector(problem, 0, text)


def compiled(text: str, bounds: Bounds = KUBERNETES, spend: Spend = lambda _: None) -> Selector:
    """Compile a selector as a scheduler does, which takes one of any cost.

    Arguments: bounds: where evaluations end. spend: as for `admitted`.
    Raises: InvalidSelector where Kubernetes would not compile it; what `spend` raises.
    """
    verdict = verdict_on(text, bounds, spend)
    if isinstance(verdict, Fault):
        raise _invalid(verdict, text)
    return verdict


def _invalid(fault: Fault, text: str) -> InvalidSelector:
    return InvalidSelector(fault.problem, fault.at, text, fault.suggestion)


_PROGRAMS: BoundedCache[tuple[str, Bounds], Selector | Fault] = BoundedCache(COMPILED_CHARACTERS, "selector_programs")
_FACTS: BoundedCache[str, Facts | Fault] = BoundedCache(ADMITTED_CHARACTERS, "selector_costs")


def verdict_on(text: str, bounds: Bounds, spend: Spend = lambda _: None) -> Selector | Fault:
    """The compiled selector, or what is wrong with it. Both are remembered: a wrong text is asked for again."""
    verdict = _PROGRAMS.get((text, bounds))
    if verdict is None:
        spend(_PRICE_OF_A_BYTE * len(text))
        verdict = _verdict(text, bounds)
        _PROGRAMS.put((text, bounds), verdict, len(text) + ENTRY_CHARACTERS)
        if isinstance(verdict, Selector):  # known from the tree only; the verdict is remembered before
            spend(_PRICE_OF_A_BYTE * (verdict.size - len(text)) + verdict.price)
    return verdict


def _verdict(text: str, bounds: Bounds) -> Selector | Fault:
    try:
        with raised(), limited(bounds.steps):
            return _compiled(text, bounds)
    except Fault as fault:
        fault.__context__ = fault.__cause__ = None  # their frames hold the tree and the compiler
        return fault.with_traceback(None)


def clear_caches() -> None:
    """Forget all that was compiled."""
    _PROGRAMS.clear()
    _FACTS.clear()


def actual_cost(text: str, device: Device) -> int:
    """Return the cost of an evaluation, in the units of Kubernetes: up to its end, where it is ended.

    Raises: Fault where the selector does not compile.
    """
    known = fresh(device)
    if known.fault is not None:
        return 0
    with raised(), limited():
        root = parse(text)
        compiler = MeteredCompiler(check(root, SELECTOR), SELECTOR)
        run = compiler.run(root)
        frame: Frame = [known.fields, *compiler.empty(COST)[1:]]
        with suppress(Failure, Abort):
            run(frame)
    return int(frame[compiler.meter])


def _compiled(text: str, bounds: Bounds) -> Selector:
    root, copied = parsed(text)
    checked = check(root, SELECTOR)
    result = checked.type(root)
    if result.kind not in SELECTOR.results:
        raise wrong_result(result, SELECTOR.name, root.at)
    cost = Estimator(checked, SELECTOR).cost(root).most
    compiler = (MeteredCompiler if cost > bounds.cost or checked.is_underestimated else Compiler)(checked, SELECTOR)
    run = program(compiler, bounds.steps_of(cost))
    warnings = tuple(
        CelWarning(f"{failing.problem}, so it fails on every device", place(text, failing.at))
        for failing in compiler.failing
    )
    return Selector(
        text=text,
        cost=cost,
        price=bounds.price(cost),
        size=len(text.encode(errors="replace")) + _COPY * copied,
        warnings=warnings,
        _run=run,
        _rest=compiler.empty(bounds.cost)[1:],
        _sees=fresh if checked.reads_state else seen,
    )
