"""A device selector, compiled, and what it says of a device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from function.cel.checking.check import check
from function.cel.checking.environment import SELECTOR
from function.cel.checking.explain import wrong_result
from function.cel.costs.estimate import LIMIT, Estimator
from function.cel.device import Device, Seen, fresh, seen
from function.cel.effort import FEW, MOST, counted
from function.cel.problem import Abort, Doubt, Failure, Fault, InvalidSelector, place
from function.cel.program.bounded import bounded
from function.cel.program.code import Frame, Run
from function.cel.program.compiler import Compiler
from function.cel.program.metered import MeteredCompiler, may_wrap
from function.cel.program.room import room, roomy
from function.cel.syntax.parse import LONGEST, parse

MOST_COMPILED = 4096
"""Selectors that are kept."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where an evaluation ends, however far it is."""

    cost: int
    """In the units of Kubernetes."""
    steps: int
    """Beside them, as `effort` counts them."""


KUBERNETES: Final = Bounds(LIMIT, MOST)
SERVER: Final = Bounds(20_000, FEW)
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


def admitted(text: str) -> Selector:
    """As the API server accepts it, evaluated within the bounds of the server.

    InvalidSelector also for one that is too long or could cost too much.
    """
    size = len(text.encode())
    if size > LONGEST:
        raise InvalidSelector(f"it is {size:,} bytes long, and Kubernetes takes {LONGEST:,}", 0, text)
    selector = compiled(text, SERVER)
    if selector.cost > LIMIT:
        said = f"it could cost {selector.cost:,} units, and Kubernetes allows {LIMIT:,}: shorten its loops and patterns"
        raise InvalidSelector(said, 0, text)
    return selector


def compiled(text: str, bounds: Bounds = KUBERNETES) -> Selector:
    """As a scheduler compiles it. InvalidSelector for a text that Kubernetes would not compile."""
    verdict = judged(text, bounds)
    if isinstance(verdict, Fault):
        raise InvalidSelector(verdict.problem, verdict.at, text, verdict.suggestion)
    return verdict


@lru_cache(maxsize=MOST_COMPILED)
def judged(text: str, bounds: Bounds) -> Selector | Fault:
    """What is wrong is kept as well: whoever asks for a wrong text asks for it again."""
    try:
        with room(), counted(bounds.steps):
            return _compiled(text, bounds)
    except Fault as fault:
        return fault.with_traceback(None)


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
    root = parse(text)
    checked = check(root, SELECTOR)
    result = checked.type(root)
    if result.kind not in SELECTOR.results:
        raise wrong_result(result, SELECTOR.name, root.at)
    cost = Estimator(checked, SELECTOR).cost(root).most
    compiler = (MeteredCompiler if cost > bounds.cost or may_wrap(checked) else Compiler)(checked, SELECTOR.variables)
    run = roomy(bounded(compiler.run(root), checked, bounds.steps), checked)
    doubts = tuple(
        Doubt(f"{failing.problem}, so it fails on every device", place(text, failing.at))
        for failing in compiler.failing
    )
    return Selector(text, cost, doubts, run, compiler.empty(bounds.cost)[1:], fresh if compiler.renews else seen)
