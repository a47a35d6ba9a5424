"""How an error leaves the program: as a sentence on standard error, with the documented exit code, and as one JSON
document on standard output if JSON was asked for.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import click

from function.cli import epilog
from function.core import redaction, visible

INTERRUPTED = 130
"""128 and the number of SIGINT, as shells count."""
BROKEN_PIPE = 141
"""128 and the number of SIGPIPE: the exit code of a program whose reader has gone."""
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_TRACEBACK = "MODELPLANE_TRACEBACK"
_STREAMS = (1, 2)
"""File descriptors of standard output and standard error."""


class InvalidInput(click.ClickException):
    """Input with errors, each of which was printed before."""

    def __init__(self, message: str, findings: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.findings = findings


class Interrupted(click.ClickException):
    exit_code = INTERRUPTED

    def __init__(self) -> None:
        super().__init__("interrupted")


class _Told(click.ClickException):
    """An error as users and programs see it."""

    def __init__(self, cause: click.ClickException, exit_code: int, *, as_json: bool) -> None:
        super().__init__(visible_lines(cause.format_message()))
        self._cause, self._as_json = cause, as_json
        self.exit_code = exit_code  # type: ignore[misc]  # of the class in click, of the command here

    def show(self, file: IO[Any] | None = None) -> None:
        if self._as_json:
            click.echo(json.dumps(self._document(), indent=2, ensure_ascii=False))
        if isinstance(self._cause, click.UsageError):
            click.UsageError(self.message, self._cause.ctx).show(file)
        else:
            super().show(file)

    def _document(self) -> dict[str, Any]:
        findings = [dict(one) for one in getattr(self._cause, "findings", ())]
        return {"error": {"exitCode": self.exit_code, "message": self.message, "findings": findings}}


@contextmanager
def told(group: click.Group, context: click.Context, arguments: Sequence[str]) -> Iterator[None]:
    """Translate whatever a command raises. `arguments` are those of the group."""
    problem: click.ClickException | None = None
    try:
        yield
    except (click.Abort, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        silence()
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except click.ClickException as error:
        problem = error
    except KeyboardInterrupt:
        problem = Interrupted()
    except Exception as bug:  # noqa: BLE001
        problem = _unwritten(bug) or _bug(bug)
    if problem is not None:  # outside the handler: no traceback has the bug as its context
        command = _command(group, context, arguments)
        raise _Told(problem, _exit_code(problem, command), as_json=_wants_json(command, arguments))


def silence() -> None:
    """Write nothing more: the interpreter would flush into the closed pipe at exit, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in _STREAMS:
        os.dup2(nowhere, stream)


def visible_lines(message: str) -> str:
    """Escape a message for the terminal, line by line, without credentials: it may repeat what a file contains."""
    return "\n".join(visible(redaction.message(line)) for line in message.split("\n"))


def _unwritten(error: Exception) -> click.ClickException | None:
    """The output cannot be written: a full disk is no bug."""
    if not isinstance(error, OSError) or error.filename or error.errno not in _CANNOT_WRITE:
        return None
    _drop(sys.stdout)
    return click.ClickException(f"the output cannot be written: {error.strerror}")


def _drop(out: IO[str]) -> None:
    """Drop what is left to write to a stream, which would fail again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())


def _bug(bug: Exception) -> click.ClickException:
    """Report a bug by its type and place, without its message, which may contain any value, even that of a Secret."""
    from function.server import log

    if os.environ.get(_TRACEBACK):
        click.echo("\n".join(log.bug(bug)["frames"]), err=True)
    return click.ClickException(f"a bug in modelplane at {log.where(bug)} (set {_TRACEBACK}=1 for a traceback)")


def _exit_code(error: click.ClickException, command: click.Command | None) -> int:
    """2 means a loss for `plan`, so an invalid option of it is another code."""
    documented = command and epilog.of(command)
    return documented.invalid_option if documented and isinstance(error, click.UsageError) else error.exit_code


def _command(group: click.Group, context: click.Context, arguments: Sequence[str]) -> click.Command | None:
    """The command that arguments name."""
    found: click.Command | None = group
    for word in arguments:
        if not isinstance(found, click.Group):
            break
        found = found if word.startswith("-") else found.get_command(context, word)
    return found


def _wants_json(command: click.Command | None, arguments: Sequence[str]) -> bool:
    """Whether JSON was asked for. The arguments are read as they are: an invalid one may be the error."""
    options = [param for param in command.params if isinstance(param, click.Option)] if command else []
    return any(_is_json(option, arguments) for option in options)


def _is_json(option: click.Option, arguments: Sequence[str]) -> bool:
    if option.is_flag:
        return "--json" in option.opts and "--json" in arguments
    if not isinstance(option.type, click.Choice) or "json" not in option.type.choices:
        return False
    joined = {f"{name}=json" if name.startswith("--") else f"{name}json" for name in option.opts}
    pairs = itertools.pairwise(arguments)
    return not joined.isdisjoint(arguments) or any(name in option.opts and value == "json" for name, value in pairs)
