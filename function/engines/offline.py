"""Whether an engine can start without a hub, when its weights are already on the cluster.

With `HF_HUB_OFFLINE=1` an engine that still needs something from the hub exits: a tokenizer, a draft model, an adapter.
So the variable is set only if nothing that the container is told names a repository. In doubt it is not set: an engine
that may ask the hub for what it has already is slower to start, and an engine that may not ask for what it lacks does
not start.

What is read, in this order:

1. the model itself, by flag, by position, and by variable;
2. flags and variables that may name a repository, single, in JSON, and as lists of adapters;
3. files with more options, since what is in them is not known;
4. other programs of a script that download: `hf download`, `huggingface-cli`, and Python that calls the hub's library;
5. for an engine that is not recognised, every argument and variable that looks like `organisation/name`.

A path (`/…`, `./…`, `~/…`) and an address of an object store (`s3://…`) are no repositories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from function.core import json_text
from function.engines import models, options, shell
from function.engines.programs import Program, basename
from function.engines.reading import Reading
from function.engines.server import OFFLINE, Server

_LOCAL = re.compile(r"[/~.]|(?:file|s3|gs|az|oss|pvc|tos)://")
_REPOSITORY = re.compile(r"(hf://)?[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w./-]+|:[\w.-]+)?", re.ASCII)
_FILE = re.compile(r".*\.(jinja2?|j2|json|txt|ya?ml|tmpl|gguf|py)", re.ASCII)
_BUILT_IN = frozenset({"auto", "vllm", "ngram", "[ngram]", "suffix", "mtp", "none", ""})
"""Values of such flags that stand for no model."""
_DOWNLOADERS = frozenset({"hf", "huggingface-cli", "modelscope"})
_DOWNLOADS = ("snapshot_download", "hf_hub_download", "from_pretrained", "load_dataset")
"""Calls of the hub's libraries in a Python one-liner."""
_NEVER = frozenset({"TZ", "LANG"})
"""Variables whose values only look like repositories."""


def variable(reading: Reading) -> str:
    """Return the variable that keeps the engine from downloading; "" if it has none."""
    return reading.engine.offline if reading.engine else OFFLINE


def needs_hub(reading: Reading) -> str:
    """Return the flag, variable or program that needs a hub, for a message; "" if nothing does.

    Values are not repeated: they may be secret.
    """
    return next(_needs(reading), "")


def names_repository(reading: Reading) -> bool:
    """Return whether the model that the engine is told is a repository of a hub, and certainly no path."""
    text = models.model(reading)
    return text is not None and _looks_like_repository(text)


def _needs(reading: Reading) -> Iterator[str]:
    if reading.engine:
        yield from _of_engine(reading.engine, reading)
    else:
        yield from _of_unknown(reading.listener)
    yield from (basename(program.words[0]) for program in reading.programs if _downloads(program))


def _of_engine(engine: Server, reading: Reading) -> Iterator[str]:
    words = reading.program.arguments
    if (named := models.positional_model(reading)) and _is_repository(named):
        yield "the model"
    for flag in (*engine.model_flags, *engine.hub_flags):
        is_named = _looks_like_repository if flag.endswith("template") else _is_repository
        if any(is_named(text) for text in options.values(words, (flag,))):
            yield flag
    nested = ((flag, _in_json(words, flag, keys)) for flag, keys in engine.hub_json)
    yield from (flag for flag, texts in nested if any(map(_is_repository, texts)))
    yield from (flag for flag in engine.hub_lists if any(map(_lists_repository, options.lists(words, (flag,)))))
    yield from filter(None, [options.given(words, engine.file_flags)])
    for name in (*engine.model_variables, *engine.hub_variables):
        if name in reading.unknown or _lists_repository(reading.program.variables.get(name, "")):
            yield name


def _of_unknown(program: Program) -> Iterator[str]:
    before = ""
    for word in program.arguments:
        flag, _, text = word.partition("=") if word.startswith("-") else (before, "", word)
        if "name" not in flag and "alias" not in flag and _looks_like_repository(text):
            yield flag if flag.startswith("--") else "an argument"
        before = word if word.startswith("-") and "=" not in word else ""
    for name, text in sorted(program.variables.items()):
        if name not in _NEVER and "NAME" not in name and _looks_like_repository(text):
            yield name


def _in_json(words: tuple[str, ...], flag: str, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the values of some keys of a flag's JSON object. The key `*` stands for all keys."""
    given: list[Mapping[str, Any]] = [options.nested(words, flag)]
    for text in options.values(words, (flag,)):
        value = json_text.parse(text)
        unread = {keys[0]: text} if value is None and shell.is_unresolved(text) else {}
        given.append(value if isinstance(value, dict) else unread)
    for entry in given:
        yield from (str(text) for key, text in entry.items() if key in keys or keys == ("*",))


def _lists_repository(text: str) -> bool:
    return shell.is_unresolved(text) or any(_is_repository(source) for _, source in models.adapters(text))


def _is_repository(text: str) -> bool:
    """Return whether a value that names a model is a repository, or may be one."""
    return text.lower() not in _BUILT_IN and not _LOCAL.match(text) and not _FILE.fullmatch(text)


def _looks_like_repository(text: str) -> bool:
    """Return whether a value that may be anything is a repository."""
    return bool(_REPOSITORY.fullmatch(text)) and not _FILE.fullmatch(text)


def _downloads(program: Program) -> bool:
    if not program.words or program.server:
        return False
    name = basename(program.words[0])
    return name in _DOWNLOADERS or (
        name.startswith("python") and any(call in word for word in program.words for call in _DOWNLOADS)
    )
