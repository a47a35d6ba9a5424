"""Specs that our definitions accept, by kind: of the samples of tests, and of examples."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from function.cli import files
from function.publish.catalog import BY_KIND
from tests.support.admission import is_admitted
from tests.support.api_cases import GOOD, GOOD_TEMPLATES
from tests.support.samples import ALL

_EXAMPLES = Path(__file__).parents[2] / "examples"


def _objects() -> Iterator[dict[str, Any]]:
    for sample in (*ALL, *GOOD.values(), *GOOD_TEMPLATES.values()):
        yield json.loads(json.dumps(sample))
    for loaded in files.examine([_EXAMPLES])[0]:
        yield json.loads(json.dumps(loaded.manifest))


def _found() -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for manifest in _objects():
        kind = manifest.get("apiVersion", ""), manifest.get("kind", "")
        if kind in BY_KIND and is_admitted(manifest):
            found[kind].append(manifest["spec"])
    return found


SPECS: Mapping[tuple[str, str], list[dict[str, Any]]] = _found()
