"""URLs of endpoints that are well written, and lead nowhere all the same."""

from __future__ import annotations

from collections.abc import Iterator

from function.core import InvalidSpec, Manifest
from function.kinds.modelendpoint import model as modelendpoint
from function.kinds.modelendpoint import target
from function.validation.flaw import Flaw


def flaws(index: int, manifest: Manifest) -> Iterator[Flaw]:
    """Of an object whose fields are right: what the function would refuse of its URL."""
    if manifest["kind"] != modelendpoint.KIND:
        return
    try:
        target.parse(modelendpoint.parse(manifest))
    except InvalidSpec as why:
        yield Flaw(index, ("spec", "url"), why.condition.message.removeprefix("spec.url: "), "value")
