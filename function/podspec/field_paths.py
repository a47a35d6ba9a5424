"""The fields of a pod that an environment variable can be set from.

Source: kubernetes v1.36, pkg/apis/core/validation, validateObjectFieldSelector.
"""

from __future__ import annotations

import re

from function.vocabulary import patterns

_PLAIN = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_BY_KEY = re.compile(rf"metadata\.(labels|annotations)\['({patterns.KEY[1:-1]})'\]")
WORDS = f"metadata.labels['<key>'], metadata.annotations['<key>'], {', '.join(_PLAIN[:-1])} or {_PLAIN[-1]}"


def is_field_path(path: str) -> bool:
    """Return whether an environment variable can be set from a field of its pod."""
    found = _BY_KEY.fullmatch(path)
    if found is None:
        return path in _PLAIN
    domain, slash, _ = found[2].partition("/")
    return not slash or len(domain) <= patterns.LONGEST_DOMAIN
