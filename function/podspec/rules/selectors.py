"""Rules of labels, and of what selects by labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec import tables
from function.podspec.fault import Fault, Path, must_be
from function.vocabulary import patterns

_LISTED = ("In", "NotIn")
_COMPARED = ("Gt", "Lt")


def labels(path: Path, given: Mapping[str, str]) -> Iterator[Fault]:
    """Yield faults of labels' keys and values."""
    for key, value in given.items():
        if not patterns.is_key(key):
            yield no_key(path, key)
        if not is_value(value):
            yield no_value((*path, key[: patterns.LONGEST_KEY]), value)


def no_key(path: Path, key: str) -> Fault:
    """Return the fault of a key that is no label key."""
    return Fault((*path, key[: patterns.LONGEST_KEY]), f"must have a key that is {patterns.KEY_WORDS}", "key")


def is_value(text: str) -> bool:
    """Return whether a text is a label's value."""
    form = tables.LABEL_VALUE
    return len(text) <= form.longest and re.fullmatch(form.pattern, text) is not None


def no_value(path: Path, value: str) -> Fault:
    """Return the fault of a text that is no label's value."""
    form = tables.LABEL_VALUE
    return must_be(path, f"{form.meaning} (up to {form.longest} characters)", value)


def label_selector(path: Path, selector: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a label selector."""
    yield from labels((*path, "matchLabels"), selector.get("matchLabels", {}))
    for index, requirement in enumerate(selector.get("matchExpressions", ())):
        yield from requirement_faults((*path, "matchExpressions", index), requirement)


def requirement_faults(path: Path, requirement: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of the values of a requirement, of labels or of nodes."""
    operator, count = requirement["operator"], len(requirement.get("values", ()))
    at = (*path, "values")
    if operator in _LISTED and not count:
        yield Fault(at, f"must have at least 1 item with operator {operator}, not 0", "rule")
    elif operator in _COMPARED and count != 1:
        yield Fault(at, f"must have exactly 1 item with operator {operator}, not {count}", "rule")
    elif operator not in (*_LISTED, *_COMPARED) and count:
        yield Fault(at, f"must be empty with operator {operator}", "rule")


def key_lists(path: Path, term: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of matchLabelKeys and mismatchLabelKeys, of a term of pod affinity or of a spread constraint."""
    match, mismatch = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())
    selector = term.get("labelSelector")
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        if field in term and selector is None:
            yield Fault((*path, field), "needs a labelSelector", "rule")
        for index, key in enumerate(term.get(field, ())):
            if not patterns.is_key(key):
                yield must_be((*path, field, index), patterns.KEY_WORDS, key)
    for index, key in enumerate(match):
        if key in mismatch:
            yield Fault((*path, "matchLabelKeys", index), f"is in mismatchLabelKeys too, {key}", "rule")
        if key in _selected(selector or {}):
            yield Fault((*path, "matchLabelKeys", index), f"is in labelSelector too, {key}", "rule")


def _selected(selector: Mapping[str, Any]) -> set[str]:
    return {*selector.get("matchLabels", ()), *(one["key"] for one in selector.get("matchExpressions", ()))}
