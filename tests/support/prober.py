"""`python prober.py PORT`: asks the probes as the kubelet does, until its standard input ends; then tells what came.

It is a process of its own, so that the load that a test makes does not delay it. It needs the standard library only.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time

PATHS = ("/healthz", "/readyz")
_TIMEOUT = 60
_PAUSE = 0.02


def main(port: int) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("asking", flush=True)
    asked, failed, slowest = 0, [], 0.0
    while not ended.wait(_PAUSE):
        for path in PATHS:
            start = time.monotonic()
            if problem := _asked(port, path):
                failed.append(f"{path}: {problem}")
            asked, slowest = asked + 1, max(slowest, time.monotonic() - start)
    print(json.dumps({"asked": asked, "failed": failed, "slowest": slowest}))


def _asked(port: int, path: str) -> str:
    """What is wrong with the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        text = response.read().decode()
    except OSError as problem:
        return repr(problem)
    else:
        return "" if response.status == http.HTTPStatus.OK else f"{response.status} {text}"
    finally:
        connection.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
