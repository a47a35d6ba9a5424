"""`python -m tests.e2e`: build what is missing, start it, and run the stories.

Each release of Crossplane has a run of pytest to itself, and what needs none another; they go on at once, since most of
a story is waiting. Options that are not known here go to pytest: `python -m tests.e2e -k typo`.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e import builds, compared, network, pins

NO_GO = 4
NOT_BUILT = 5
FAILED = 1
NO_TESTS = 5  # pytest's exit code when nothing was selected
HERE = Path(__file__).parent
COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped)")
SUMMARY = re.compile(r"\d+ (passed|failed|error).* in \d")  # pytest's last line, quiet or not
RUNS = (*pins.CROSSPLANES, pins.NO_CROSSPLANE)


@dataclass(slots=True)
class Run:
    """A run of pytest, in a network of its own where that can be had."""

    name: str
    popen: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def follow(self, shows: threading.Lock) -> None:
        """Show each line as it comes, under the run's name."""
        assert self.popen.stdout
        for line in self.popen.stdout:
            self.lines.append(line.rstrip())
            with shows:
                print(f"{self.name:8} {line}", end="", flush=True)

    @property
    def counts(self) -> dict[str, int]:
        """How many tests passed, failed and so on, by pytest's last word."""
        summary = next((line for line in reversed(self.lines) if SUMMARY.search(line)), "")
        return {outcome.rstrip("s"): int(number) for number, outcome in COUNT.findall(summary)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("--build-only", action="store_true", help="build what is missing, and run nothing")
    parser.add_argument(
        "--only", action="append", choices=RUNS, help="a release of Crossplane, or none; again for more"
    )
    arguments, options = parser.parse_known_args()
    toolchain = builds.toolchain()
    if toolchain is None:
        print("The end-to-end tests build their programs from Go modules: `go` must be on the PATH.", file=sys.stderr)
        return NO_GO
    try:
        build(builds.cache(), toolchain)
    except builds.Unbuildable as error:
        print(error, file=sys.stderr)
        return NOT_BUILT
    return 0 if arguments.build_only else run(arguments.only or RUNS, options)


def build(root: Path, toolchain: str) -> None:
    print(f"cache  {root}", flush=True)
    builds.install(root)
    for module in pins.MODULES:
        builds.build(module, root, toolchain)


def run(names: Sequence[str], options: list[str]) -> int:
    """All runs at once, or one after the other where they would meet; the exit code is 0 when every test passed."""
    began = time.monotonic()
    isolated = network.enclose(["true"]) is not None
    if not isolated:
        print(
            "warn   no network namespace can be made here: one run at a time, on fixed ports 8080 and 9443", flush=True
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    runs = together(names, options) if isolated else [one for name in names for one in together([name], options)]
    is_whole = not options and set(names) == set(RUNS)
    return report(runs, time.monotonic() - began, is_whole=is_whole)


def together(names: Sequence[str], options: list[str]) -> list[Run]:
    """Start runs, show what they say, and wait for their ends. When this one is ended, so are they."""
    runs = [Run(name, launch(name, options)) for name in names]
    shows = threading.Lock()
    readers = [threading.Thread(target=one.follow, args=(shows,)) for one in runs]
    try:
        for reader in readers:
            reader.start()
        for one in runs:
            one.popen.wait()
    except KeyboardInterrupt:
        for one in runs:
            one.popen.terminate()
    for reader in readers:
        reader.join()
    return runs


def launch(name: str, options: list[str]) -> subprocess.Popen[str]:
    (memory(name) / "v" / compared.KEY).unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", str(HERE), "-s", f"--override-ini=cache_dir={memory(name)}"]
    command.append(f"--crossplane={name}")
    enclosed = network.enclose([*command, *options])
    return subprocess.Popen(
        enclosed or [*command, *options],
        env=os.environ | ({network.INSIDE: "1"} if enclosed else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def memory(name: str) -> Path:
    """What a run remembers: what failed, for --last-failed, and the rights that were used."""
    return HERE.parents[1] / ".pytest_cache" / "e2e" / name


def report(runs: list[Run], seconds: float, *, is_whole: bool) -> int:
    """One line for each run, one for all; fails when a run did, or when nothing ran. Tells what package/ grants and
    none of them used, when all ran."""
    for one in runs:
        told = ", ".join(f"{number} {outcome}" for outcome, number in one.counts.items()) or "no tests"
        print(f"{one.name:8} {told}, exit code {one.popen.returncode}")
    passed = sum(one.counts.get("passed", 0) for one in runs)
    sound = passed and all(one.popen.returncode in (0, NO_TESTS) for one in runs)
    if not is_whole:
        print("rights   only compared with what these stories used: unused ones are told when all run")
    elif sound and (superfluous := compared.superfluous(compared.used(memory(one.name) for one in runs))):
        print(*superfluous, sep="\n")
    print(f"== {passed} passed in {seconds:.0f} s" if sound else "== failed")
    return 0 if sound else FAILED


if __name__ == "__main__":
    sys.exit(main())
