"""`python -m tests.fuzz.guided`: atheris chooses the bytes by the code that they reach.

Each target runs in a process of its own, because libFuzzer ends its process, with a bounded number of runs. An input
that finds a fault is kept in `build/fuzz`, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.targets import TARGETS

_ROOT = Path(__file__).parents[2]
_FOUND = _ROOT / "build" / "fuzz"
_SECONDS, _MEGABYTES = 10, 2048
"""Limits for one input, beyond which it is a fault."""
_RUNS = {"door": 1 / 4}
"""Runs of a target that takes longer than others, as a part of what was asked for."""
_AFRESH = ("sh", "-c", '"$@"; exit $?', "sh")
"""libFuzzer reads the most memory that the process ever had, and Linux keeps that of the parent beyond exec, but not
beyond a fork (getrusage(2), fs/exec.c): a large parent would be taken for an input that needs much."""
_MISSING = "atheris is not installed: it exists for CPython before 3.15 on Linux x86_64. Coverage guides no input here."


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("--target", choices=TARGETS, action="append", help="One of them, not all.")
    parser.add_argument("--runs", type=int, default=20000, help="Of each target.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--optional", action="store_true", help="Succeed where atheris is not installed.")
    parser.add_argument("--repeat", type=Path, help="Run the target once, with the bytes of a file.")
    given = parser.parse_args()
    if given.repeat:
        return _repeat(given.target[0], given.repeat.read_bytes())
    if not is_installed():
        print(_MISSING)
        return 0 if given.optional else 1
    return 1 if sum(run(target, given.seed, given.runs) for target in given.target or TARGETS) else 0


def is_installed() -> bool:
    return importlib.util.find_spec("atheris") is not None


def run_all(seed: int, runs: int) -> tuple[int, int]:
    """Run every target, if atheris is installed, and return how many found no fault, and how many found one."""
    if not is_installed():
        print(_MISSING)
        return 0, 0
    failed = sum(run(target, seed, runs) for target in TARGETS)
    return len(TARGETS) - failed, failed


def run(target: str, seed: int, runs: int) -> int:
    """Run a target in its own process, print its counts, and return 1 if it found a fault."""
    runs = max(1, int(runs * _RUNS.get(target, 1)))
    _FOUND.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(TARGETS[target].seeds()):
            (Path(folder) / f"{number}").write_bytes(data)
        limits = [f"-timeout={_SECONDS}", f"-rss_limit_mb={_MEGABYTES}", f"-max_len={TARGETS[target].longest}"]
        options = [f"-runs={runs}", f"-seed={seed}", *limits, f"-artifact_prefix={_FOUND}/{target}-", folder]
        done = subprocess.run(
            [*_AFRESH, sys.executable, "-m", "tests.fuzz.guided_target", target, *options],
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    is_sound = done.returncode == 0
    reached = (re.findall(r" cov: (\d+)", done.stderr) or ["no"])[-1]
    found = "0 faults" if is_sound else "a fault"
    print(f"guided {target}: {runs} runs with seed {seed}, {reached} places reached: {found}", flush=True)
    if not is_sound:
        print(_told(target, done.stdout + done.stderr))
    return 0 if is_sound else 1


def _told(target: str, output: str) -> str:
    """What libFuzzer says of a fault, and how to repeat it."""
    kept = [line.rpartition(" ")[2] for line in output.splitlines() if "Test unit written to" in line]
    again = [f"again: python -m tests.fuzz.guided --target {target} --repeat {file}" for file in kept]
    return "\n  ".join([*(line for line in output.splitlines()[-40:] if line.strip()), *again])


def _repeat(target: str, data: bytes) -> int:
    signal.alarm(_SECONDS)
    found = list(TARGETS[target].load()(data))
    print("\n".join(found) or "no fault")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
