"""The flags that an engine is given: where its weights are, under which name it answers, and its port.

Only a recognised engine is given flags, and only if its image's own entry point runs and takes `args` as flags. An
engine with a `command` is left as it is: where flags would go in it is not known. A flag that the user sets is not
repeated. The port is told only if the engine would listen on another one by default. What was given, and why something
was not, is told in the condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.engines import listening, models, options
from function.engines.reading import Reading

WEIGHTS = "/mnt/models"
"""Mount path of a model's weights."""


@dataclass(frozen=True, slots=True)
class Injection:
    """The flags that an engine is given."""

    args: tuple[str, ...] = ()
    left_out: str = ""
    """Why the weights are not named to the engine; "" if they are, or if the user names a model."""


def inject(reading: Reading, *, weights: str | None, name: str, port: int) -> Injection:
    """Return the flags for an engine.

    `weights` is the directory of its weights, if they are on the cluster. `name` is the model's name for requests, ""
    if there is none. `port` is the port on which it is expected to listen.
    """
    given = of_weights(reading, weights, name) if weights else Injection()
    return Injection((*given.args, *_port(reading, port)), given.left_out)


def _port(reading: Reading, port: int) -> Iterator[str]:
    engine = reading.engine
    if engine and engine.port_flags and reading.takes_flags and listening.is_elsewhere(engine, reading.program, port):
        yield f"{engine.port_flags[0]}={port}"


def of_weights(reading: Reading, directory: str, name: str) -> Injection:
    """Return the flags by which an engine is told its weights and the model's name in requests."""
    engine = reading.engine
    if engine is None:
        return Injection(left_out="the engine is not recognised")
    if models.names_model(reading):
        return Injection()
    if not reading.takes_flags:
        why = "no flag is added to a command" if reading.programs else "the entry point of its image takes no flags"
        return Injection(left_out=why)
    if not engine.gives_model:
        return Injection(left_out=f"{engine.name} has no flag for a directory of weights")
    named = options.given(reading.program.arguments, engine.name_flags)
    names = [f"{engine.gives_name}={name}"] if engine.gives_name and name and not named else []
    return Injection((f"{engine.gives_model}={directory}", *names))
