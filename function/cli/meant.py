"""Whether a value or a text is meant as an object of ours, sound or not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from function.contracts.cloud import credentials
from function.core import dig
from function.publish.catalog import BY_KIND, GROUPS
from function.validation import objects
from function.vocabulary import crossplane, versions

_HELD = ((versions.CORE, "Secret"), (versions.CORE, "ConfigMap"), (versions.PROVIDER_KUBERNETES, "Object"))
_KINDS = frozenset(kind for _, kind in BY_KIND)
_VERSION = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, sorted(GROUPS)))})/v\d", re.IGNORECASE)
_KIND = re.compile(rf"\bkind[\"']?:\s*[\"']?(?:{'|'.join(sorted(_KINDS))})\b")


def is_ours(value: Any) -> bool:
    """Whether a value is an object of one of our groups or was meant to be, whatever is missing in it."""
    if not isinstance(value, Mapping):
        return False
    group, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(group, str) or not group:
        return isinstance(kind, str) and kind in _KINDS
    if group.rpartition("/")[0] in GROUPS:
        return True
    return isinstance(kind, str) and kind in _KINDS and objects.is_ours({"apiVersion": group, "kind": kind})


def takes_part(value: Mapping[str, Any]) -> bool:
    """Whether checks and plans look at an object of a foreign kind: it holds keys, or was composed of one of ours."""
    kind = value["apiVersion"], value["kind"]
    labels = dig(value, "metadata", "labels")
    is_composed = isinstance(labels, Mapping) and crossplane.COMPOSITE in labels
    return kind in _HELD or kind[1] in credentials.KINDS or is_composed


def mentions(text: str) -> bool:
    """Whether a text that cannot be read as YAML names an apiVersion of ours."""
    return bool(_VERSION.search(text))


def names_a_kind(text: str) -> bool:
    """Whether a text names one of our kinds, as the target of a patch does."""
    return bool(_KIND.search(text))
