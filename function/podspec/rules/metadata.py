"""Rules of labels and annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.fault import Fault, must_be
from function.podspec.rules import selectors
from function.vocabulary import patterns

MOST_ANNOTATIONS = 248 * 1024
"""Bytes of annotations, keys and values. Kubernetes accepts 256 KiB (k8s.io/apimachinery v0.36, pkg/api/validation,
TotalAnnotationSizeLimitB). The difference is for annotations of Modelplane, LeaderWorkerSet and the cluster's
network."""
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_COSTS = 2**31


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a template's labels and annotations."""
    metadata = template.get("metadata", {})
    yield from selectors.labels(("metadata", "labels"), metadata.get("labels", {}))
    annotations, at = metadata.get("annotations", {}), ("metadata", "annotations")
    for key in annotations:
        if not patterns.is_key(key.lower()):
            yield selectors.no_key(at, key)
    size = sum(_bytes(key) + _bytes(value) for key, value in annotations.items())
    if size > MOST_ANNOTATIONS:
        yield Fault(at, f"may have {MOST_ANNOTATIONS} bytes together, keys and values, not {size}", "rule")
    if not _is_cost(annotations.get(_DELETION_COST, "0")):
        yield must_be((*at, _DELETION_COST), f"a whole number from {-_COSTS} to {_COSTS - 1}", "")


def _is_cost(text: str) -> bool:
    digits = text.removeprefix("-")
    is_plain = digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0") and text != "-0"
    is_short = len(digits) <= len(str(_COSTS))  # Python converts no text of thousands of digits
    return is_plain and is_short and -_COSTS <= int(text) < _COSTS


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
