"""The tokens of a KV block. llm-d's picker compares prompts in blocks of this size."""

from __future__ import annotations

import re

from function.engines import options
from function.engines.reading import Reading
from function.engines.table import ENGINES

_FLAGS = tuple(dict.fromkeys(flag for engine in ENGINES for flag in engine.block_flags))


def told(reading: Reading) -> int | None:
    """Return the tokens of a KV block according to the engine's flags. An unknown engine may have any of the flags."""
    flags = reading.engine.block_flags if reading.engine else _FLAGS
    number = options.value(reading.program.arguments, flags) or ""
    return int(number) if re.fullmatch("[1-9][0-9]{0,5}", number, re.ASCII) else None


def default(reading: Reading) -> int | None:
    """Return the engine's default; None for an engine that is not known or has no such default."""
    return reading.engine.block if reading.engine else None
