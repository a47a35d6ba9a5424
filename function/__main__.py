"""The program `modelplane`, also as `python -m function`."""

from __future__ import annotations

import signal


def run() -> None:
    """Run the command line. While it is imported, Ctrl-C ends the process at once, and without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from function.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()


if __name__ == "__main__":
    run()
