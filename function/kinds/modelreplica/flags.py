"""Read an engine's command line: its port, its model, its KV block size."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

VLLM = "vllm"
SGLANG = "sglang"
TENSORRT_LLM = "trtllm-serve"
"""Engine types, as in the label llm-d.ai/engine-type (llm-d router v0.9)."""

_LAST_PORT = 65535
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_VARIABLE = re.compile(r"\$\((\w+)\)|\$\{(\w+)\}|\$(\w+)")
_TRACES = (
    (SGLANG, ("sglang",)),
    (TENSORRT_LLM, ("trtllm-serve", "tensorrt-llm", "tensorrtllm")),
    (VLLM, ("vllm",)),
)
"""Text in a command or image that identifies an engine."""
_LISTENS = {
    VLLM: ("vLLM", "0.0.0.0", 8000),  # noqa: S104 (not our listener)
    SGLANG: ("SGLang", "127.0.0.1", 30000),
    TENSORRT_LLM: ("TensorRT-LLM", "localhost", 8000),
}
"""Where engines listen by default: name, host and port (vllm 0.33.0, sglang 0.5.23, TensorRT-LLM 1.2.1)."""
_LOOPBACK = ("127.0.0.1", "localhost")
_BLOCK_SIZE = {VLLM: 16, SGLANG: 1}
"""Default tokens of a KV block. Some attention backends choose their own (vllm 0.33.0, sglang 0.5.23)."""
_NAMING_MODEL = ("model", "model-path", "config")
"""Options that name the model. A config file may name it too."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A container's command and args as words. A shell script is split into its words."""

    image: str
    words: tuple[str, ...]
    args: tuple[str, ...]
    variables: Mapping[str, str]
    """Environment variables with a literal value."""


def read(*, image: str, command: Sequence[str], args: Sequence[str], variables: Mapping[str, str]) -> CommandLine:
    return CommandLine(image, _words((*command, *args)), tuple(args), variables)


def port(line: CommandLine) -> int | None:
    """Return the port it is told to listen on, or None if there is no such option or its value is not a port number."""
    number = option(line, "port") or ""
    return int(number) if re.fullmatch("[1-9][0-9]{0,4}", number) and int(number) <= _LAST_PORT else None


def engine_type(line: CommandLine) -> str | None:
    """Return the engine type, or None if neither the command nor the image tells."""
    for text in (" ".join(line.words), line.image):
        for engine, traces in _TRACES:
            if any(trace in text.lower() for trace in traces):
                return engine
    return None


def names_model(line: CommandLine) -> bool:
    """Return whether the args name the model. If that is unclear, assume that they do."""
    first = line.args[0] if line.args else "-"
    return not first.startswith("-") or any(option(line, name) is not None for name in _NAMING_MODEL)


def unheard(line: CommandLine, port: int) -> str:
    """Return why an engine does not listen on a port of its pod, or "" if nothing indicates that."""
    name, host, default = _LISTENS.get(engine_type(line) or "", ("", "", port))
    missing = [
        *(["--host 0.0.0.0"] if host in _LOOPBACK and option(line, "host") is None else []),
        *([f"--port {port}"] if default != port and option(line, "port") is None else []),
    ]
    return f"{name} listens on {host}:{default} unless told {' '.join(missing)}" if missing else ""


def block_size(line: CommandLine) -> int | None:
    """Return the tokens of a KV block according to its options."""
    number = option(line, "block-size") or option(line, "page-size") or ""
    return int(number) if re.fullmatch("[1-9][0-9]{0,5}", number) else None


def default_block_size(line: CommandLine) -> int | None:
    """Return the default tokens of a KV block, or None for an unknown engine."""
    return _BLOCK_SIZE.get(engine_type(line) or "")


def option(line: CommandLine, name: str) -> str | None:
    """Return the value of `--name`, the last one if it is repeated. vLLM accepts underscores for dashes."""
    found = None
    for word, after in zip_longest(line.words, line.words[1:], fillvalue=""):
        spelled, equals, value = word.partition("=")
        if spelled.startswith("--") and spelled[2:].replace("_", "-") == name:
            found = value if equals else after
    return None if found is None else _expanded(found, line.variables)


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: variables.get(next(g for g in found.groups() if g), found[0]), text)


def _words(given: tuple[str, ...]) -> tuple[str, ...]:
    script = _script(given)
    return given if script is None else (*given[:script], *_split(given[script]), *given[script + 1 :])


def _script(given: tuple[str, ...]) -> int | None:
    """Return the index of the script in a `sh -c`."""
    if not any(word.rpartition("/")[2] in _SHELLS for word in given[:2]):
        return None
    after = next((i for i, word in enumerate(given) if re.fullmatch("-[a-z]*c", word)), None)
    return None if after is None or after + 1 >= len(given) else after + 1


def _split(script: str) -> list[str]:
    lexer = shlex.shlex(script.replace("\\\n", " "), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:  # quotes that this simple reading considers unclosed
        return script.split()
