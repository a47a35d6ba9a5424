"""What `kubectl apply` makes of an object: a merge of three states.

Fields that the new manifest has are set. Fields that the manifest had when it was last applied, and has no longer, are
removed: kubectl keeps that manifest in an annotation. All others stay, such as replicas that an autoscaler has set.
Lists are replaced as a whole. Source: kubectl v1.36, `jsonmergepatch`, which kinds of CRDs are patched with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from function.core import Manifest, dig_text
from function.planning import desired

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def applied(old: Manifest, new: Manifest) -> dict[str, Any]:
    """The object after `kubectl apply`.

    Args:
        old: The object in the cluster.
        new: The manifest to apply.
    """
    return _merged(desired.authored(old), _last(old), desired.authored(new))


def _last(old: Manifest) -> Mapping[str, Any]:
    """The manifest that was applied last; empty if kubectl did not apply it."""
    try:
        found = json.loads(dig_text(old, "metadata", "annotations", LAST_APPLIED) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _merged(old: Mapping[str, Any], last: Any, new: Mapping[str, Any]) -> dict[str, Any]:
    was = last if isinstance(last, Mapping) else {}
    merged = {name: value for name, value in old.items() if name in new or name not in was}
    for name, value in new.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(old.get(name), Mapping):
            merged[name] = _merged(old[name], was.get(name), value)
        else:
            merged[name] = value
    return merged
