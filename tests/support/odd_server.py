"""`python -m tests.support.odd_server serve …`: the server, with kinds of `test/v1` that are odd.

They take long, answer much, or have bugs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

if os.environ.get("WITHOUT_RICH"):
    sys.modules["rich"] = None  # type: ignore[assignment]  # to import it fails, as where it is not installed

from function import registry
from function.core import ComposedResource, Composer, HoldDecision, Request, Result, deadline
from function.main import main
from function.vocabulary import conditions

API_VERSION = "test/v1"
NOTHING = Result(ready=True, conditions=())


def steps(request: Request) -> Result:
    """Computes for `spec.seconds`, step by step."""
    end = time.monotonic() + request.xr["spec"]["seconds"]
    while time.monotonic() < end:
        deadline.check()
    return NOTHING


def stuck(request: Request) -> Result:
    """Computes for `spec.seconds` in one step."""
    end = time.monotonic() + request.xr["spec"]["seconds"]
    while time.monotonic() < end:
        pass
    return NOTHING


def large(request: Request) -> Result:
    """Composes an object of `spec.bytes`."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": "x" * int(request.xr["spec"]["bytes"])}}
    return Result(ready=True, conditions=(), resources={"large": ComposedResource(manifest)})


def bug(request: Request) -> Result:
    """Has a Secret in its locals, in its message, and in the message of what caused it."""
    token = request.xr["spec"]["token"]
    try:
        return {}[token]
    except KeyError as problem:
        raise ValueError(f"not a token: {token!r}") from problem


def _composer(kind: str, compose: Callable[[Request], Any]) -> Composer:
    return Composer(
        api_version=API_VERSION,
        kind=kind,
        conditions=(),
        invalid=conditions.INVALID_ENDPOINT,
        requirements=lambda _: (),
        compose=compose,
        held=lambda *_: HoldDecision(()),
    )


COMPOSERS = {
    (API_VERSION, kind): _composer(kind, compose)
    for kind, compose in (("Steps", steps), ("Stuck", stuck), ("Large", large), ("Bug", bug))
}

if __name__ == "__main__":
    registry.COMPOSERS = {**registry.COMPOSERS, **COMPOSERS}
    main()
