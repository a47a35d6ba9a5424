"""CEL over an object: the readiness queries that provider-kubernetes evaluates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import celpy
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError

from function.core import plain


def holds(text: str, manifest: Mapping[str, Any]) -> bool:
    """Whether a query over `object` is true. What cannot be evaluated is not."""
    try:
        return bool(_program(text).evaluate({"object": json_to_cel(plain(manifest))}))
    except (CELEvalError, TypeError):  # celpy raises the latter where a macro meets a field that is not there
        return False


@lru_cache(maxsize=64)
def _program(text: str) -> Any:
    environment = celpy.Environment()
    return environment.program(environment.compile(text))
