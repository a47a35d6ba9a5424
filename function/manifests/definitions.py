"""CRDs that no chart installs. Each bundle is a folder `crds` of JSON files with a README that names their source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

IS_ESTABLISHED = (
    "has(object.status) && has(object.status.conditions)"
    " && object.status.conditions.exists(c, c.type == 'Established' && c.status == 'True')"
)
"""CEL over a CustomResourceDefinition: whether its kind is served."""


@cache
def bundle(package: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the CRDs in a package's bundle, by name."""
    folder = files(package).joinpath("crds")
    manifests = [json.loads(f.read_text()) for f in folder.iterdir() if f.name.endswith(".json")]
    return {m["metadata"]["name"]: m for m in sorted(manifests, key=lambda m: str(m["metadata"]["name"]))}
