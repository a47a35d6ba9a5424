"""Programs that run beside the tests: started with a log each, asked whether they serve, stopped by their number."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.waiting import TooLong, until

START = 300.0
STOP = 15.0
TAIL = 30
WIDEST = 500  # providers log whole objects


class DoesNotServe(Exception):
    """A program died, or did not say in time that it serves; the message ends with its log's end."""


@dataclass(frozen=True, slots=True)
class Process:
    """A program that was started."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    @property
    def runs(self) -> bool:
        return self.popen.poll() is None

    def tail(self, lines: int = TAIL) -> str:
        last = self.log.read_text(errors="replace").splitlines()[-lines:]
        return "\n".join(line[:WIDEST] for line in last)

    def stop(self) -> None:
        """Ask it to end, and end it if it does not."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self.runs:
                self.popen.send_signal(sign)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.popen.wait(STOP)


@dataclass(slots=True)
class Processes:
    """All that runs, in order of start."""

    folder: Path
    running: list[Process] = field(default_factory=list)

    def start(self, name: str, program: Path, *arguments: str, serves: Callable[[], bool], **env: str) -> Process:
        """Start a program, and wait for its own word that it serves."""
        began = time.monotonic()
        process = self.launch(name, program, *arguments, **env)
        self.await_service(process, serves, began)
        return process

    def launch(self, name: str, program: Path, *arguments: str, **env: str) -> Process:
        """Start a program without waiting for it."""
        log = self.folder / "log" / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            popen = subprocess.Popen(
                [str(program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=os.environ | {"NO_PROXY": "127.0.0.1,localhost"} | env,
                cwd=self.folder,
            )
        process = Process(name, popen, log)
        self.running.append(process)
        return process

    def await_service(self, process: Process, serves: Callable[[], bool], began: float) -> None:
        with contextlib.suppress(TooLong):
            until(lambda: serves() or not process.runs, process.name, seconds=START)
        if not process.runs or not serves():
            raise DoesNotServe(f"{process.name} does not serve; its log ends with:\n{process.tail()}")
        print(f"start  {process.name} in {time.monotonic() - began:.1f} s", flush=True)

    def stop(self, *processes: Process) -> None:
        """Stop some, or all: the last started first."""
        for process in reversed(processes or tuple(self.running)):
            process.stop()
            self.running.remove(process)


def ports(count: int) -> list[int]:
    """Free loopback ports: all are held until all are known, so that they differ."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in held]


def healthy(port: int, path: str) -> Callable[[], bool]:
    """A probe: whether a plain HTTP endpoint on loopback says that all is well."""

    def probe() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", path)
                return connection.getresponse().status == http.HTTPStatus.OK
            finally:
                connection.close()
        return False

    return probe


def listens(port: int, address: str = "127.0.0.1") -> Callable[[], bool]:
    """A probe: whether something accepts connections."""

    def probe() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=5):
            return True
        return False

    return probe
