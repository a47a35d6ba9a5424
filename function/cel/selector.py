"""A device selector, compiled, and what it says of a device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from function.cel.checking.check import check
from function.cel.checking.environment import SELECTOR
from function.cel.checking.explain import wrong_result
from function.cel.costs.estimate import LIMIT, Estimator
from function.cel.device import Device, Seen, fresh, seen
from function.cel.effort import FEW, MOST, counted
from function.cel.kept import Kept
from function.cel.problem import Abort, Doubt, Failure, Fault, InvalidSelector, place
from function.cel.program.bounded import bounded
from function.cel.program.code import Frame, Run
from function.cel.program.compiler import Compiler
from function.cel.program.metered import MeteredCompiler, may_wrap
from function.cel.program.room import room, roomy
from function.cel.syntax.parse import LONGEST, parse, parsed

MOST_COMPILED = 2**19
"""Characters of the selectors that are kept compiled. One of them becomes up to 200 bytes of program."""
MOST_ADMITTED = 2**22
"""Characters of the selectors of which it is known whether they are admitted, and what they may cost."""
_ENTRY = 128
"""Characters that an entry counts beside its text."""

Spend = Callable[[int], None]
"""Takes what is done, in units of price, before it is done. It may raise to prevent it."""
LEAST_PRICE = 200
"""Of an evaluation: what surrounds the cheapest one, with a margin."""
_PRICE_OF_A_BYTE = 80
"""What parsing, checking, estimating and compiling a byte of text takes, measured against evaluations."""
_COPY = 2
"""Bytes of text that take as long as a node that a macro copied."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where an evaluation ends, however far it is."""

    cost: int
    """In the units of Kubernetes."""
    steps: int
    """Beside them, as `effort` counts them."""
    is_proportional: bool = False
    """Whether a cheap selector may take few of these steps only."""

    def price(self, cost: int) -> int:
        """What an evaluation may take here, of a selector that costs at most so much."""
        return min(max(cost, LEAST_PRICE), self.cost)

    def steps_of(self, cost: int) -> int:
        return self.steps * self.price(cost) // self.cost if self.is_proportional else self.steps


KUBERNETES: Final = Bounds(LIMIT, MOST)
SERVER: Final = Bounds(20_000, FEW, is_proportional=True)
"""Some milliseconds, since all deployments wait for it. Ordinary selectors cost less than 100 units."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An evaluation that came to an end."""

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
    """In the selector's text, from 0; -1 where it is of the device as such."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Selector:
    """Compiled. Of two selectors of one text there is one program."""

    text: str
    cost: int
    """What an evaluation costs at most, in the units of Kubernetes."""
    price: int
    """What an evaluation takes at most here: its cost, but LEAST_PRICE at least, and no more than where it is ended."""
    size: int
    """Bytes of its text, and what its macros copy."""
    doubts: tuple[Doubt, ...]
    """What Kubernetes accepts, and cannot be meant."""
    _run: Run = field(repr=False, compare=False)
    _rest: Frame = field(repr=False, compare=False)
    """The places beside the device."""
    _sees: Callable[[Device], Seen] = field(repr=False, compare=False)

    def evaluate(self, device: Device) -> Outcome | EvaluationError:
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
    """What is known of a selector that the API server accepts, without its program."""

    cost: int
    price: int
    size: int


def admitted(text: str, spend: Spend = lambda _: None) -> Selector:
    """As the API server accepts it, evaluated within the bounds of the server.

    InvalidSelector also for one that is too long or could cost too much.
    """
    _check_length(text)
    selector = compiled(text, SERVER, spend)
    _check_cost(text, selector.cost)
    return selector


def facts(text: str, spend: Spend = lambda _: None) -> Facts:
    """Of a selector that is admitted; compiled only where that is not known any more. Raises as `admitted` does."""
    _check_length(text)
    verdict = _FACTS.get(text)
    if verdict is None:
        found = judged(text, SERVER, spend)
        verdict = found if isinstance(found, Fault) else Facts(found.cost, found.price, found.size)
        _FACTS.put(text, verdict, len(text) + _ENTRY)
    if isinstance(verdict, Fault):
        raise _invalid(verdict, text)
    _check_cost(text, verdict.cost)
    return verdict


def _check_length(text: str) -> None:
    size = len(text.encode(errors="replace"))
    if size > LONGEST:
        raise InvalidSelector(f"it is {size:,} bytes long, and Kubernetes takes {LONGEST:,}", 0, text)


def _check_cost(text: str, cost: int) -> None:
    if cost > LIMIT:
        said = f"it could cost {cost:,} units, and Kubernetes allows {LIMIT:,}: shorten its loops and patterns"
        raise InvalidSelector(said, 0, text)


def compiled(text: str, bounds: Bounds = KUBERNETES, spend: Spend = lambda _: None) -> Selector:
    """As a scheduler compiles it. InvalidSelector for a text that Kubernetes would not compile."""
    verdict = judged(text, bounds, spend)
    if isinstance(verdict, Fault):
        raise _invalid(verdict, text)
    return verdict


def _invalid(fault: Fault, text: str) -> InvalidSelector:
    return InvalidSelector(fault.problem, fault.at, text, fault.suggestion)


_PROGRAMS: Kept[tuple[str, Bounds], Selector | Fault] = Kept(MOST_COMPILED)
_FACTS: Kept[str, Facts | Fault] = Kept(MOST_ADMITTED)


def judged(text: str, bounds: Bounds, spend: Spend = lambda _: None) -> Selector | Fault:
    """What is wrong is kept as well: a wrong text is asked for again."""
    verdict = _PROGRAMS.get((text, bounds))
    if verdict is None:
        spend(_PRICE_OF_A_BYTE * len(text))
        verdict = _judged(text, bounds)
        _PROGRAMS.put((text, bounds), verdict, len(text) + _ENTRY)
        if isinstance(verdict, Selector):  # what only the tree could tell; it is kept, so that the next call has it
            spend(_PRICE_OF_A_BYTE * (verdict.size - len(text)) + verdict.price)
    return verdict


def _judged(text: str, bounds: Bounds) -> Selector | Fault:
    try:
        with room(), counted(bounds.steps):
            return _compiled(text, bounds)
    except Fault as fault:
        return fault.with_traceback(None)


def forget() -> None:
    """Everything that was compiled."""
    _PROGRAMS.clear()
    _FACTS.clear()


def spent(text: str, device: Device) -> int:
    """What an evaluation costs, in the units of Kubernetes: of one that is stopped, what it had cost until then."""
    known = fresh(device)
    if known.fault is not None:
        return 0
    with room(), counted():
        root = parse(text)
        compiler = MeteredCompiler(check(root, SELECTOR), SELECTOR.variables)
        run = compiler.run(root)
        frame: Frame = [known.fields, *compiler.empty(LIMIT)[1:]]
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
    compiler = (MeteredCompiler if cost > bounds.cost or may_wrap(checked) else Compiler)(checked, SELECTOR.variables)
    run = roomy(bounded(compiler.run(root), checked, bounds.steps_of(cost)), checked)
    doubts = tuple(
        Doubt(f"{failing.problem}, so it fails on every device", place(text, failing.at))
        for failing in compiler.failing
    )
    return Selector(
        text=text,
        cost=cost,
        price=bounds.price(cost),
        size=len(text.encode(errors="replace")) + _COPY * copied,
        doubts=doubts,
        _run=run,
        _rest=compiler.empty(bounds.cost)[1:],
        _sees=fresh if compiler.renews else seen,
    )
