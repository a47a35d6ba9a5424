"""Logging. A bug is logged by its type and place, never with a value.

Any frame's local variables and any exception's message may contain a Secret. So the tracebacks of Python, its libraries
and the log's renderers are not used: they repeat messages, and some of them local variables.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, TextIO, cast

import structlog
from structlog.processors import CallsiteParameter, CallsiteParameterAdder, EventRenamer, JSONRenderer, TimeStamper
from structlog.typing import EventDict, Processor

from function.core import visible
from function.server.log_output import LogOutput

_OURS = "function."
_AROUND = ("function.core.", "function.server.")
"""Modules that run the work of a call, rather than do it."""
_CLIENT_LEFT = "ExecuteBatchError"
"""What gRPC raises where a response cannot be sent (grpcio 1.84, _cython/_cygrpc/aio). It has no public name."""

OUTPUT = LogOutput()


def configure(*, debug: bool = False) -> None:
    """Log JSON lines as function-sdk-go does. With `debug`, log more, in a form for people.

    Records of the standard library's `logging` and uncaught exceptions are logged in the same way.
    """
    shared: list[Processor] = [structlog.stdlib.add_log_level, _without_traceback]
    callsite = CallsiteParameterAdder({CallsiteParameter.FILENAME, CallsiteParameter.LINENO})
    rendered = _for_people() if debug else _for_machines()
    structlog.configure(
        processors=[shared[0], callsite, *shared[1:], *rendered],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if debug else logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", OUTPUT)),
    )
    handler = logging.StreamHandler(OUTPUT)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    handler.addFilter(_is_of_interest)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    sys.excepthook = lambda _, problem, __: _uncaught(problem)
    threading.excepthook = lambda args: _uncaught(args.exc_value)
    sys.unraisablehook = lambda args: _uncaught(args.exc_value)


def _is_of_interest(record: logging.LogRecord) -> bool:
    """Leave out what gRPC logs as an error when a client leaves while it is answered."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or kind.__name__ != _CLIENT_LEFT


def _for_people() -> list[Processor]:
    return [
        TimeStamper(fmt="iso"),
        _on_one_line,
        structlog.dev.ConsoleRenderer(colors=sys.stdout is not None and sys.stdout.isatty()),
    ]


def _for_machines() -> list[Processor]:
    return [TimeStamper(key="ts"), EventRenamer(to="msg"), JSONRenderer()]


# Bugs


def bug(problem: BaseException) -> Mapping[str, Any]:
    """Return what is logged about an exception, in any configuration: its type, its place, and all frames."""
    return {"bug": where(problem), "frames": list(_frames(problem))}


def where(problem: BaseException) -> str:
    """Return the type and the innermost line of our code: `KeyError at function.kinds.modelcache.compose:88`."""
    lines = list(_lines(problem.__traceback__))
    ours = [line for line in lines if line.startswith(_OURS)] or lines
    place = ours[-1].split()[0] if ours else "an unknown place"
    return f"{type(problem).__name__} at {place}"


def step(problem: BaseException) -> str:
    """Return the innermost line of our code that does a call's work: `function.scheduling.packing:88 search`."""
    lines = list(_lines(problem.__traceback__))
    work = [line for line in lines if line.startswith(_OURS) and not line.startswith(_AROUND)]
    return work[-1] if work else "no step of it"


def _frames(problem: BaseException | None) -> Iterator[str]:
    """Yield the frames of an exception, outermost first, then those of its cause."""
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield type(problem).__name__
        yield from _lines(problem.__traceback__)
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)


def _lines(trace: TracebackType | None) -> Iterator[str]:
    for frame, line in traceback.walk_tb(trace):
        yield f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_name}"


def _without_traceback(_: Any, __: str, event: EventDict) -> EventDict:
    """A processor that replaces every traceback by type and frames."""
    asked = event.pop("exc_info", None)
    event.pop("stack_info", None)
    problem = asked[1] if isinstance(asked, tuple) else asked if isinstance(asked, BaseException) else None
    if asked and problem is None:
        problem = sys.exc_info()[1]
    return event if problem is None else {**event, **bug(problem)}


def _uncaught(problem: BaseException | None) -> None:
    fields = {} if problem is None else bug(problem)
    structlog.get_logger().error("Nobody caught an exception", **fields)


def of_loop(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """An asyncio exception handler.

    It logs the exception only, because other fields of the context repeat its message.
    """
    _uncaught(context.get("exception"))


# Names


def _on_one_line(_: Any, __: str, event: EventDict) -> EventDict:
    """A processor that escapes values: names that users choose must not control a terminal or start a new line."""
    return {key: visible(value) if isinstance(value, str) else value for key, value in event.items()}
