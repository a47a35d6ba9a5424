"""Selectors with texts written into them, evaluated on a device that has nothing."""

from __future__ import annotations

import json

from function import cel

_DEVICE = cel.Device("gpu.nvidia.com")


def outcome(selector: str, *texts: str) -> cel.Outcome | cel.EvaluationError:
    """Each {} in the selector stands for a text."""
    start, *parts = selector.split("{}")
    quoted = [json.dumps(text, ensure_ascii=False) for text in texts]
    written = start + "".join(quote + part for quote, part in zip(quoted, parts, strict=True))
    return cel.compiled(written).evaluate(_DEVICE)


def holds(selector: str, *texts: str) -> bool:
    found = outcome(selector, *texts)
    assert not isinstance(found, cel.EvaluationError), found
    return found is cel.MATCH


def fails(selector: str, *texts: str) -> bool:
    return isinstance(outcome(selector, *texts), cel.EvaluationError)
