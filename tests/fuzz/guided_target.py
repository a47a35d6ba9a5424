"""`python -m tests.fuzz.guided_target TARGET OPTIONS`: one target under libFuzzer, which ends this process."""

from __future__ import annotations

import logging
import sys

import atheris
import structlog

from tests.fuzz.targets import TARGETS


class Fault(Exception):
    """A law that an answer breaks."""


def main() -> None:
    name, *options = sys.argv[1:]
    target = TARGETS[name]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with atheris.instrument_imports(include=list(target.modules), enable_loader_override=False):
        run = target.load()

    def once(data: bytes) -> None:
        for fault in run(data):
            raise Fault(fault)

    atheris.Setup([sys.argv[0], *options], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
