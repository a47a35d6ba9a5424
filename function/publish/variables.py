"""The part of the reference about what an engine's container gets besides what its user writes."""

from __future__ import annotations

from collections.abc import Iterator

from function.engines.reading import LWS
from function.kinds.modelreplica import pods, variables


def section() -> Iterator[str]:
    """Yield the lines of the section."""
    yield from ("## Variables of the engine's container", "")
    yield "Modelplane sets these variables, unless the template sets them. They come first, so values in the template"
    yield f"can refer to them, for example to `$({variables.PORT.name})`."
    yield from ("", "| variable | set in | value |", "|---|---|---|")
    yield from (f"| `{one.name}` | {one.where} | {one.value} |" for one in variables.ALL)
    yield ""
    yield f"LeaderWorkerSet adds {', '.join(f'`{name}`' for name in sorted(LWS))} and others to the pods of a gang."
    yield ""
    yield f"Weights of a ModelCache are mounted read-only at `{pods.MODELS}`, shared memory at `{pods.SHARED_MEMORY}`."
    yield ""
