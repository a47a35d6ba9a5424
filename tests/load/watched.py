"""The function's server, which also tells what its heap holds. Started as `python -m tests.load.watched serve …`.

For each line on its standard input, it writes the bytes of its heap as a line to another file. Its calls are computed
as in any server: nothing is measured unless somebody asks.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from threading import Thread

ANSWERS = "MODELPLANE_HEAP_ANSWERS"
"""The environment variable that names the file descriptor of the answers."""
_SMALL = re.compile(r"# bytes in allocated blocks\s*=\s*([0-9,]+)")
_STDERR = 2


class _Mallinfo2(ctypes.Structure):
    """glibc 2.33, malloc.h."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def live() -> int:
    """Bytes that are allocated and not freed: what CPython's allocator for small objects holds, and what malloc does.

    Raises AttributeError without glibc 2.33.
    """
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    found = mallinfo2()
    return int(found.uordblks + found.hblkhd) + _small()


def _small() -> int:
    """Bytes of objects up to 512 bytes. CPython only tells them in a report on standard error."""
    with tempfile.TemporaryFile() as report:
        kept = os.dup(_STDERR)
        os.dup2(report.fileno(), _STDERR)
        try:
            sys._debugmallocstats()
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
        report.seek(0)
        found = _SMALL.search(report.read().decode())
    assert found
    return int(found[1].replace(",", ""))


def _answer_questions() -> None:
    answers = int(os.environ[ANSWERS])
    for _ in sys.stdin:
        os.write(answers, f"{live()}\n".encode())


def main() -> None:
    """Run the command of the arguments."""
    from function.main import main as command

    Thread(target=_answer_questions, daemon=True).start()
    command()


if __name__ == "__main__":
    main()
