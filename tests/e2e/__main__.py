"""`python -m tests.e2e`: build what is missing, start it, and run the stories.

What stands after `--` goes to pytest, as do options that are not known here: `python -m tests.e2e -k typo`.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.e2e import builds, network, pins

NO_GO = 4
NOT_BUILT = 5
HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("--build-only", action="store_true", help="build what is missing, and run nothing")
    arguments, pytest = parser.parse_known_args()
    toolchain = builds.toolchain()
    if toolchain is None:
        print("The end-to-end tests build their programs from Go modules: `go` must be on the PATH.", file=sys.stderr)
        return NO_GO
    try:
        build(builds.cache(), toolchain)
    except builds.Unbuildable as error:
        print(error, file=sys.stderr)
        return NOT_BUILT
    return 0 if arguments.build_only else run(pytest)


def build(root: Path, toolchain: str) -> None:
    print(f"cache  {root}", flush=True)
    builds.install(root)
    for module in pins.MODULES:
        builds.build(module, root, toolchain)


def run(pytest: list[str]) -> int:
    """Run pytest, in a network of its own where that can be had."""
    command = [sys.executable, "-m", "pytest", str(HERE), "-s", "-p", "no:cacheprovider", *pytest]
    enclosed = network.enclose(command)
    if enclosed is None:
        print(
            "warn   no network namespace can be made here: one run at a time, on fixed ports 8080 and 9443", flush=True
        )
    inside = {network.INSIDE: "1"} if enclosed else {}
    with subprocess.Popen(enclosed or command, env=os.environ | inside) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:  # pytest got it as well, and stops what it started
            return process.wait()


if __name__ == "__main__":
    sys.exit(main())
