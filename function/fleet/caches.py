"""The names under which engines serve the weights of ModelCaches, read from their specs and statuses."""

from __future__ import annotations

from function.api.weights import SOURCES
from function.core import Manifest, dig

_NAMES = ("repo", "servedModelName")
"""A repository's name, or the name that another source gives to its model."""


def model(cache: Manifest) -> str:
    """Return the model's name by the spec of a cache; empty if it has none. The spec need not be valid."""
    return _first(*(dig(cache, "spec", source.field, name) for source in SOURCES for name in _NAMES))


def model_on(status: Manifest) -> str:
    """Return the model's name by the status of a cache on one cluster, whose weights may be of an earlier spec."""
    return _first(*(dig(status, name) for name in _NAMES))


def _first(*names: object) -> str:
    return next((name for name in names if isinstance(name, str) and name), "")
