"""What one pass leaves for the next as JSON, in the proxy's ConfigMap or in an annotation of it."""

from __future__ import annotations

from typing import Any

from function.core import json_text


def read(text: Any) -> dict[str, Any]:
    """Return an object that a pass has written; nothing if there is none, or if it is not legible."""
    found = json_text.parse(text)
    return found if isinstance(found, dict) else {}
