"""`python -m tests.e2e`: build what is missing, start it, and run the stories."""

import argparse
import sys

from tests.e2e import builds, pins

NO_GO = 4


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("--build-only", action="store_true", help="build what is missing, and run nothing")
    parser.parse_args()
    toolchain = builds.toolchain()
    if toolchain is None:
        print(
            "The end-to-end tests build their programs from Go modules, and there is no `go` on the PATH.",
            file=sys.stderr,
        )
        return NO_GO
    root = builds.cache()
    builds.install(root)
    for module in pins.MODULES:
        builds.build(module, root, toolchain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
