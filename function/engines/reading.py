"""What is known of the engine in a container: which one it is, what it is told, and which program takes requests.

The engine is, in this order: the one that the user names (`engines[].runtime`), the one that the command starts, the
one of the image. The image counts by its repository, without registry and tag: `tritonserver:25.09-vllm-python-py3` is
Triton.

A container can run several programs: `ray start` before the engine, an exporter beside it, a router in front of it.
The program that takes requests is the last engine or router that listens beyond loopback; if all listen on loopback,
the last one. Without any, it is the only program, helpers aside, since a program of an unknown engine has flags too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from function.engines import listening, programs, shell
from function.engines.programs import Program, basename
from function.engines.routers import ROUTERS
from function.engines.server import Server
from function.engines.table import BY_NAME, ENGINES

# fmt: off
_HELPERS = frozenset({
    "[", "[[", ":", ".", "(", "cd", "echo", "printf", "test", "true", "false", "set", "unset", "trap", "wait",
    "eval", "source", "shift", "ulimit", "umask", "let", "cat", "cp", "mv", "ln", "ls", "mkdir", "rm", "chmod",
    "chown", "touch", "tar", "sleep", "grep", "sed", "awk", "cut", "head", "tail", "tee", "tr", "wc", "seq", "find",
    "curl", "wget", "nc", "ping", "getent", "hostname", "nslookup", "dig", "ip", "date", "id", "env", "kill",
    "pkill", "sysctl", "mount", "modprobe", "pip", "pip3", "apt", "apt-get", "apk", "dnf", "yum", "git", "git-lfs",
    "hf", "huggingface-cli", "aws", "gsutil", "gcloud", "az", "s5cmd", "ray", "nvidia-smi", "rocm-smi", "dcgmi",
    "nvcc", "ldconfig", "jq", "yq", "return", "exit", "break", "continue", "read", "disown",
})
# fmt: on
"""Programs of scripts that take no requests for models."""
OURS = frozenset({"MODELPLANE_PORT", "MODELPLANE_LEADER_ADDRESS", "MODELPLANE_RANK"})
"""Variables that Modelplane sets where the user does not."""
LWS = frozenset({"LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"})
"""Variables that LeaderWorkerSet sets in the pods of a gang."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is known of the engine in a container."""

    engine: Server | None
    """The engine's row of the table; None if it is not recognised."""
    known_by: Literal["runtime", "command", "image", ""]
    program: Program
    """The engine's own program."""
    listener: Program
    """The program that takes requests: the engine's, or a router's."""
    programs: tuple[Program, ...]
    """All programs of the command line. Empty if the image's entry point runs."""
    takes_flags: bool
    """Whether the entry point of the image runs and takes `args` as flags of the engine."""
    unknown: frozenset[str]
    """Variables that are set, to values that are not known."""

    @property
    def server(self) -> Server | None:
        """The row of the program that takes requests; None if it is not recognised."""
        return self.engine if self.listener is self.program else self.listener.server


def read(container: Mapping[str, Any], runtime: str | None = None) -> Reading:
    """Read a Kubernetes container: image, command, args and env. `runtime` is the user's name for the engine.

    The container need not be valid. What has a wrong type counts as absent.
    """
    command, args = _strings(container.get("command")), _strings(container.get("args"))
    variables, unknown = environment(container.get("env"))
    repository = _repository(str(container.get("image") or ""))
    found = programs.run(command, args, variables, unknown)
    program = _program(found) if found else _entry(args, variables)
    engine, known_by = _engine(runtime, program, repository)
    return Reading(
        engine=engine,
        known_by=known_by,
        program=program,
        listener=_listener(found) or program,
        programs=found,
        takes_flags=not found and engine is not None and engine.entry_takes_flags and not _is_bare(engine, repository),
        unknown=unknown,
    )


def environment(env: Any) -> tuple[dict[str, str], frozenset[str]]:
    """Return the literal variables of a container, with `$(…)` expanded, and the names of those of unknown value."""
    known: dict[str, str] = {}
    unknown = set(OURS | LWS)
    for variable in env if isinstance(env, Sequence) else ():
        name = variable.get("name") if isinstance(variable, Mapping) else None
        if not isinstance(name, str):
            continue
        value = variable.get("value") or ""
        known.pop(name, None)
        if "valueFrom" in variable or not isinstance(value, str):
            unknown.add(name)
        else:
            unknown.discard(name)
            known[name] = shell.expand_kubernetes(value, known)[: shell.MOST_EXPANDED]
    return known, frozenset(unknown)


def _strings(value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return tuple(word for word in value if isinstance(word, str)) if is_list else ()


def _entry(args: tuple[str, ...], variables: Mapping[str, str]) -> Program:
    """Return the program of the image's entry point."""
    words = tuple(shell.expand_kubernetes(word, variables) for word in args)
    return Program(server=None, words=words, arguments=words, variables=variables)


def _program(found: Sequence[Program]) -> Program:
    """Return the engine's program: the last engine that has a port, else the only program, else an unknown one."""
    if engines := _known(found, ENGINES):
        return _last(engines, listening.has_port)
    others = [program for program in found if program.server is None and not _is_helper(program)]
    return (
        others[0] if len(others) == 1 else Program(server=None, words=(), arguments=(), variables=found[-1].variables)
    )


def _listener(found: Sequence[Program]) -> Program | None:
    """Return the program that takes requests, or None if no program is recognised."""
    known = _known(found, (*ROUTERS, *ENGINES))
    return _last(known, listening.is_reachable, listening.has_port) if known else None


def _known(found: Sequence[Program], servers: Sequence[Server]) -> list[tuple[Server, Program]]:
    return [(program.server, program) for program in found if program.server and program.server in servers]


def _last(known: Sequence[tuple[Server, Program]], *claims: Callable[[Server, Program], bool]) -> Program:
    """Return the last program of which the first claim holds, else the second one, else the last one."""
    for holds in claims:
        if holding := [program for server, program in known if holds(server, program)]:
            return holding[-1]
    return known[-1][1]


def _is_helper(program: Program) -> bool:
    if not program.in_script:
        return False
    name = basename(program.words[0])
    return name in _HELPERS or "exporter" in name or (name.startswith("python") and "-c" in program.words[1:2])


def _engine(
    runtime: str | None, program: Program, repository: str
) -> tuple[Server | None, Literal["runtime", "command", "image", ""]]:
    if runtime in BY_NAME:
        return BY_NAME[runtime], "runtime"
    if program.server:
        return program.server, "command"
    found = next((s for s in (*ROUTERS, *ENGINES) if any(_has(repository, text) for text in s.images)), None)
    return (found, "image") if found in ENGINES else (None, "")


def _repository(image: str) -> str:
    """Return an image's repository without registry, tag and digest, with a slash before it."""
    name = image.partition("@")[0].lower()
    path, colon, tag = name.rpartition(":")
    name = path if colon and "/" not in tag else name
    registry, slash, rest = name.partition("/")
    return f"/{rest if slash and (set('.:') & set(registry) or registry == 'localhost') else name}"


def _has(repository: str, text: str) -> bool:
    return bool(
        re.search(rf"(?<![a-z0-9]){re.escape(text)}(?![a-z0-9])" if text[0] != "/" else re.escape(text), repository)
    )


def _is_bare(engine: Server, repository: str) -> bool:
    return any(_has(repository, text) for text in engine.bare_images)
