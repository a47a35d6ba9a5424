"""Rules of labels and annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.fault import Fault, Path, must_be
from function.vocabulary import patterns

MOST_ANNOTATIONS = 248 * 1024
"""Bytes of annotations, keys and values. Kubernetes accepts 256 KiB (k8s.io/apimachinery v0.36, pkg/api/validation,
TotalAnnotationSizeLimitB). The difference is for annotations of Modelplane, LeaderWorkerSet and the cluster's
network."""
_LABEL_VALUE = "a label value: up to 63 letters, digits, dashes, dots and underscores, a letter or digit at both ends"
_LONGEST_VALUE = 63


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a template's labels and annotations."""
    metadata = template.get("metadata", {})
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    for field, entries in (("labels", labels), ("annotations", annotations)):
        for key in entries:
            yield from _key(("metadata", field), key)
    for key, value in labels.items():
        if len(value) > _LONGEST_VALUE or not re.fullmatch(patterns.LABEL_VALUE, value):
            yield must_be(("metadata", "labels", key), _LABEL_VALUE, value)
    size = sum(_bytes(key) + _bytes(value) for key, value in annotations.items())
    if size > MOST_ANNOTATIONS:
        problem = f"may have {MOST_ANNOTATIONS} bytes together, keys and values, not {size}"
        yield Fault(("metadata", "annotations"), problem, "rule")


def _key(path: Path, key: str) -> Iterator[Fault]:
    is_short = len(key) <= patterns.LONGEST_KEY and len(key.partition("/")[0]) <= patterns.LONGEST_DOMAIN
    if not is_short or not re.fullmatch(patterns.KEY, key):
        yield Fault((*path, key[: patterns.LONGEST_KEY]), f"must have a key that is {patterns.KEY_WORDS}", "key")


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
