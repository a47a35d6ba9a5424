"""The programs that a container runs, and which of them are engines and routers.

Phases, in call order:

1. `run` takes the container's command line: `command` and `args`, or `args` alone where they start a program
   themselves, because the entry points of some images run them. The kubelet's `$(NAME)` are expanded.
2. A shell with `-c` is replaced by the commands of its script (shell.py), a few levels deep. Programs that only start
   another one (`exec`, `env`, `nohup`, `numactl`, `mpirun` …) are dropped.
3. `_identify` compares each command with the table: the file name of the executable and its subcommand, the module of
   `python -m`, or the path of a Python script.

A program that is in no row stays a program without a server. Nothing is guessed from words in its arguments: a model
may be called `vllm`, and `pip install sglang` starts no engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from function.engines import shell
from function.engines.routers import ROUTERS
from function.engines.server import Server
from function.engines.table import ENGINES

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_MOST_SHELLS = 4
"""Depth of shells in shells."""
# fmt: off
_STARTERS = frozenset({
    "exec", "env", "nohup", "nice", "ionice", "time", "timeout", "stdbuf", "setsid", "command", "sudo", "gosu",
    "su-exec", "tini", "dumb-init", "catatonit", "numactl", "taskset", "uv", "poetry", "pipenv", "conda",
    "micromamba", "pixi", "run", "mpirun", "mpiexec", "srun", "orterun", "trtllm-llmapi-launch", "nsys", "ncu",
    "ddtrace-run", "opentelemetry-instrument", "nvidia_entrypoint.sh", "docker-entrypoint.sh", "entrypoint.sh",
})
# fmt: on
"""Programs that start the program in their arguments."""
_MOST_OPTIONS = 40
"""Words among which the program that is started is searched."""
_PYTHON = re.compile(r"python(\d(\.\d+)?)?t?", re.ASCII)
_PYTHON_SWITCH = re.compile(r"-[bBdEiIOPqsSuvx]+|-[WX].+", re.ASCII)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of a container."""

    server: Server | None
    """Its row of the table; None for any other program."""
    words: tuple[str, ...]
    """Its command line. For an image's entry point, only the arguments."""
    arguments: tuple[str, ...]
    """What follows the words that identify it."""
    variables: Mapping[str, str]
    """The variables that it sees, as far as their values are known."""
    in_script: bool = False


def run(
    command: Sequence[str], args: Sequence[str], variables: Mapping[str, str], unknown: Iterable[str] = ()
) -> tuple[Program, ...]:
    """Return the programs of a command line, in their order.

    Without `command`, `args` count only if they start a program that is known. If they do not, the result is empty:
    they are arguments of the image's entry point. `variables` and `unknown` are as for `shell.commands`.
    """
    words = tuple(shell.expand_kubernetes(word, variables) for word in (*command, *args))
    start = shell.Command(words, variables)
    found = tuple(_programs(start, frozenset(unknown), depth=0))
    if command or any(program.server or program.in_script for program in found):
        return found
    return ()


def basename(word: str) -> str:
    return word.rpartition("/")[2]


def _programs(command: shell.Command, unknown: frozenset[str], depth: int) -> Iterator[Program]:
    words = _started(command.words)
    script = _script(words)
    if script is None or depth >= _MOST_SHELLS:
        yield _identify(words, command.variables, in_script=depth > 0)
        return
    for inner in shell.commands(words[script], command.variables, unknown, words[script + 2 :]):
        yield from _programs(inner, unknown, depth + 1)


def _started(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the programs that only start another one.

    Their options are not known here. What they start is the first word that starts something known; if there is none,
    it is the first word that looks like no option of theirs.
    """
    if not words or basename(words[0]) not in _STARTERS:
        return words
    for at in range(1, min(len(words), _MOST_OPTIONS)):
        if _starts_known(words[at:]):
            return words[at:]
    rest = words[1:]
    while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0]) or rest[0].isdigit()):
        rest = rest[1:]
    return _started(rest)


def _starts_known(words: tuple[str, ...]) -> bool:
    return _script(words) is not None or _match(words) is not None


def _script(words: Sequence[str]) -> int | None:
    """Return the index of the script of a shell that is started with `-c`; None for any other program."""
    if not words or basename(words[0]) not in _SHELLS:
        return None
    for at, word in enumerate(words[1:], 1):
        if re.fullmatch("[-+][A-Za-z]*c[A-Za-z]*", word):
            return at + 1 if at + 1 < len(words) else None
        if not word.startswith(("-", "+")) and words[at - 1] not in ("-o", "-euo", "-eo", "+o", "-O"):
            return None
    return None


def _identify(words: tuple[str, ...], variables: Mapping[str, str], *, in_script: bool) -> Program:
    server, count = _match(words) or (None, 1)
    return Program(server=server, words=words, arguments=words[count:], variables=variables, in_script=in_script)


def _match(words: tuple[str, ...]) -> tuple[Server, int] | None:
    """Return the server that words start, and how many words identify it."""
    if not words:
        return None
    name = basename(words[0])
    if _PYTHON.fullmatch(name):
        return _match_python(words)
    for length in (2, 1):
        found = _PROGRAMS.get((name, *words[1:length]))
        if found and len(words) >= length:
            return found, length
    return None


def _match_python(words: tuple[str, ...]) -> tuple[Server, int] | None:
    at = 1
    while at < len(words) and _PYTHON_SWITCH.fullmatch(words[at]):
        at += 1
    if words[at : at + 1] == ("-m",) and at + 1 < len(words):
        module = words[at + 1]
        if module in _MODULES:
            return _MODULES[module], at + 2
        found = _match((module, *words[at + 2 :])) if "." not in module else None  # python -m sglang serve
        return (found[0], found[1] + at + 1) if found else None
    path = words[at] if at < len(words) else ""
    return next(((server, at + 1) for end, server in _SCRIPTS if path.endswith(end)), None)


_SERVERS = (*ROUTERS, *ENGINES)
_PROGRAMS = {program: server for server in _SERVERS for program in server.programs}
_MODULES = {module: server for server in _SERVERS for module in server.modules}
_SCRIPTS = tuple((end, server) for server in _SERVERS for end in server.scripts)
