"""The model that an engine is told to serve, and the names under which it answers.

A name is known only if the engine is, because each has its own flag and its own default. A value that depends on what
only runs on the cluster (a Secret, `$(hostname)`, a configuration file) is not known: then there is no name, rather
than a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.core import json_text
from function.engines import options, shell
from function.engines.reading import Reading
from function.engines.server import Server

_UNKNOWN = "$(?)"
"""A name that is not known. It is written like an expansion that cannot be made."""


def names_model(reading: Reading) -> bool:
    """Return whether the engine is told a model in any form.

    If that is unclear, the answer is yes: an engine that is told two models exits. An unknown engine counts as told.
    """
    engine = reading.engine
    if engine is None:
        return True
    words = reading.program.arguments
    return bool(
        options.given(words, (*engine.model_flags, *engine.file_flags))
        or positional_model(reading) is not None
        or any(_is_set(variable, reading) for variable in engine.model_variables)
        or any(word.startswith("$") for word in words)  # a whole list of arguments may be in a variable
    )


def positional_model(reading: Reading) -> str | None:
    """Return the model that the engine is told by an argument that is no option; None if there is none."""
    engine = reading.engine
    if engine is None or not engine.positional_model:
        return None
    return options.positional(reading.program.arguments, several=(*engine.name_flags, *engine.hub_lists))


def model(reading: Reading) -> str | None:
    """Return the model that the engine is told: a path or a repository. None if there is none or it is not known."""
    engine = reading.engine
    if engine is None:
        return None
    told = (
        positional_model(reading),  # vLLM prefers it to the flag (vllm 0.33.0)
        options.value(reading.program.arguments, engine.model_flags),
        *(reading.program.variables.get(variable) for variable in engine.model_variables),
    )
    text = next(filter(None, told), None)
    return None if text is None or shell.is_unresolved(text) else text


def served_names(reading: Reading) -> tuple[str, ...] | None:
    """Return the model names that the engine answers to, the main one first.

    None if they are not known, or if the engine takes requests for any name.
    """
    engine = reading.engine
    if engine is None or not engine.checks_names or reading.server is not engine:
        return None
    if options.given(reading.program.arguments, engine.file_flags):
        return None
    names = (*_own_names(engine, reading), *_adapters(engine, reading))
    return None if not names or any(map(shell.is_unresolved, names)) else tuple(dict.fromkeys(names))


def _own_names(engine: Server, reading: Reading) -> tuple[str, ...]:
    if names := tuple(options.lists(reading.program.arguments, engine.name_flags)):
        return names
    for variable in engine.name_variables:
        if _is_set(variable, reading):
            return tuple(filter(None, reading.program.variables.get(variable, _UNKNOWN).split(",")))
    if reading.programs and reading.program.server is None:  # a script of an image: what it adds is not known
        return (_UNKNOWN,)
    if engine.default_name:
        return (engine.default_name,)
    return (model(reading) or _UNKNOWN,) if engine.name_flags else (_UNKNOWN,)


def _adapters(engine: Server, reading: Reading) -> Iterator[str]:
    """Yield the names of LoRA adapters, which are names of models in requests."""
    for text in options.lists(reading.program.arguments, engine.hub_lists):
        yield from (name for name, _ in adapters(text) if name)


def adapters(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and source of the adapters in a value: `name=path`, `path`, or JSON. Without a name, it is ""."""
    text = text.strip()
    if text.startswith(("{", "[")):
        given = json_text.parse(text)
        for entry in given if isinstance(given, list) else [given]:
            if isinstance(entry, dict):
                name, path = entry.get("name", entry.get("lora_name")), entry.get("path", entry.get("lora_path"))
                yield str(name or ""), str(path or "")
        return
    for item in filter(None, text.split(",")):
        name, equals, path = item.partition("=")
        yield (name, path) if equals else ("", name)


def _is_set(variable: str, reading: Reading) -> bool:
    return bool(reading.program.variables.get(variable)) or variable in reading.unknown
