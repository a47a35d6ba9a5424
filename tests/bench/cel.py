"""Selectors: our evaluation beside celpy's own, in the same run."""

from __future__ import annotations

import statistics
import sys
import timeit
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from rich.console import Console
from rich.table import Table

from function import cel

_DEVICE = cel.Device(
    driver="gpu.nvidia.com",
    attributes=(
        ("architecture", "Hopper"),
        ("cudaComputeCapability", cel.Version("9.0.0")),
        ("productName", "NVIDIA H100 80GB HBM3"),
    ),
    capacity=(("memory", "80Gi"),),
)
_SELECTORS: Mapping[str, str] = {
    "driver": 'device.driver == "gpu.nvidia.com"',
    "memory": 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0',
    "typical": 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'
    ' && device.attributes["gpu.nvidia.com"].architecture == "Hopper"',
    "version": 'device.attributes["gpu.nvidia.com"].cudaComputeCapability.isGreaterThan(semver("8.9.0"))',
    "pattern": 'device.attributes["gpu.nvidia.com"].productName.matches("H[0-9]+")',
    "loop": 'device.attributes["gpu.nvidia.com"].exists(k, k.startsWith("product"))',
}
_RUNS = 7
_COUNT = count()


def main() -> None:
    """Print the table: medians of several runs, in microseconds."""
    table = Table("selector", "compile µs", "ours µs", "celpy µs", "celpy / ours")
    for name, text in _SELECTORS.items():
        selector = cel.compiled(text)
        ours = _median(lambda selector=selector: selector.evaluate(_DEVICE))
        theirs = _celpy(text)
        shown, ratio = (f"{theirs:.0f}", f"{theirs / ours:.0f}") if theirs else ("fails", "")
        table.add_row(name, f"{_median(lambda text=text: _compile(text)):.0f}", f"{ours:.2f}", shown, ratio)
    Console(width=100).print(table)


def _compile(text: str) -> None:
    """With an end of its own each time, so that it is not known."""
    cel.compiled(f"{text} // {next(_COUNT)}")


def _celpy(text: str) -> float | None:
    """celpy's own evaluator, given what it lacks as plain functions; None where it fails."""
    limit = sys.getrecursionlimit()
    import celpy

    environment = celpy.Environment()
    functions = {
        "quantity": lambda amount: celpy.celtypes.IntType(int(float(cel.quantity.parse(str(amount))))),
        "semver": celpy.celtypes.StringType,
        "compareTo": lambda one, other: celpy.celtypes.IntType((one > other) - (one < other)),
        "isGreaterThan": lambda one, other: celpy.celtypes.BoolType(one > other),
    }
    program = environment.program(environment.compile(text), functions=functions)
    device = celpy.json_to_cel(
        {
            "driver": _DEVICE.driver,
            "attributes": {
                _DEVICE.driver: {k: v.text if isinstance(v, cel.Version) else v for k, v in _DEVICE.attributes}
            },
            "capacity": {_DEVICE.driver: {k: int(float(cel.quantity.parse(v))) for k, v in _DEVICE.capacity}},
        }
    )
    try:
        return _median(lambda: program.evaluate({"device": device}))
    except celpy.CELEvalError:
        return None
    finally:
        sys.setrecursionlimit(limit)


def _median(run: Callable[[], Any]) -> float:
    """Microseconds of one run."""
    timer = timeit.Timer(run)
    number, _ = timer.autorange()
    number = max(number // 5, 1)
    return statistics.median(timer.repeat(_RUNS, number)) / number * 1e6


if __name__ == "__main__":
    main()
