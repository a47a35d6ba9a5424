"""What it takes to read a pod template, beside what it takes to parse the same template as JSON, the floor."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

from function import podspec
from tests.support import pasted, random_templates, samples

_RUNS = 15
_TIMES = 20


def main() -> None:
    """Print the table: medians of several runs, in milliseconds of CPU."""
    table = Table("pod template", "bytes of JSON", "floor ms", "ours ms", "references ms")
    for name, template in _templates().items():
        text = json.dumps(template)
        table.add_row(
            name,
            f"{len(text)}",
            f"{_median(lambda text=text: json.loads(text)):.3f}",
            f"{_median(lambda template=template: podspec.read(template)):.3f}",
            f"{_median(lambda template=template: list(podspec.references(template))):.3f}",
        )
    Console(width=100).print(table)


def _templates() -> dict[str, Any]:
    random = Random(0)
    largest = max((random_templates.template(random) for _ in range(300)), key=lambda one: len(json.dumps(one)))
    return {"an engine alone": samples.TEMPLATE, "as pasted": pasted.TEMPLATE, "largest of 300 at random": largest}


def _median(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(_RUNS):
        began = time.process_time()
        for _ in range(_TIMES):
            run()
        taken.append((time.process_time() - began) / _TIMES * 1000)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
