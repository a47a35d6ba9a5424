"""What one pass leaves for the next as JSON, in the proxy's ConfigMap or in an annotation of it."""

from __future__ import annotations

import json
from typing import Any


def read(text: Any) -> dict[str, Any]:
    """Return an object that a pass has written; nothing if there is none, or if it is not legible."""
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
