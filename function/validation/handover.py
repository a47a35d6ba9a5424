"""Warnings about prefill and decode engines that hand no KV caches over.

Nothing fails then: the decode engine computes every prompt itself, and the prefill engine works for nothing. Only what
can be read is judged: an engine whose flags are in a file, or in a variable that nobody here knows, is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.core import Manifest, dig
from function.engines import connectors, options, reading, shell
from function.engines.reading import Reading
from function.podspec import engine_index
from function.schema import Path
from function.validation.finding import Finding

_PHASES = ("Prefill", "Decode")


def warnings(index: int, deployment: Manifest) -> Iterator[Finding]:
    """Warn about the engines of a ModelDeployment in serving mode PrefillDecode."""
    if dig(deployment, "spec", "serving", "mode") != "PrefillDecode":
        return
    found = [entry for phase in _PHASES for entry in _engines(deployment, phase)]
    for path, read in found:
        if flag := _missing(read):
            problem = (
                f"has no {flag}, so no KV cache is handed over, and the decode engine computes every prompt itself"
            )
            yield Finding(index, path, problem, "no-handover")
    told = [(path, connector) for path, read in found if (connector := connectors.connector(read)).told]
    if len(told) == len(_PHASES):
        (_, prefill), (path, decode) = told
        if prefill.protocol != decode.protocol:
            problem = (
                f"hands KV caches over by {decode.protocol}, because of {decode.told}, but the prefill engine by "
                f"{prefill.protocol}"
            )
            yield Finding(index, path, problem, "no-handover")


def _engines(deployment: Manifest, phase: str) -> Iterator[tuple[Path, Reading]]:
    """Yield the container of the first member of each engine of a phase, with its path."""
    for at, engine in enumerate(deployment["spec"]["engines"]):
        containers = engine["members"][0]["template"]["spec"]["containers"]
        position = engine_index(containers)
        if engine.get("phase") == phase and position is not None:
            path = ("spec", "engines", at, "members", 0, "template", "spec", "containers", position)
            yield path, reading.read(containers[position], engine.get("runtime"))


def _missing(read: Reading) -> str:
    """Return the flag of an engine's connector if it is certainly not given; "" otherwise."""
    words, engine = read.program.arguments, read.engine
    if engine is None or not (read.takes_flags or read.program.server is engine):
        return ""
    flag = engine.connector_flag
    is_told = options.given(words, (flag, *engine.file_flags)) or options.nested(words, flag)
    return "" if is_told or any(map(shell.is_unresolved, words)) else flag
