"""Secrets on the control cluster."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions


def opaque(*, name: str, namespace: str, labels: Mapping[str, str], data: Mapping[str, str]) -> dict[str, Any]:
    """Return a Secret. `data` is clear text by key."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Secret",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "type": "Opaque",
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in sorted(data.items())},
    }
