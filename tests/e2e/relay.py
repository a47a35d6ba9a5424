"""A way to an API server that can be cut, and mended."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

HERE = "127.0.0.1"


@dataclass(slots=True)
class Relay:
    """Passes connections on from one port on loopback to another."""

    target: int
    port: int = 0
    listener: socket.socket | None = None
    open: list[socket.socket] = field(default_factory=list)

    def mend(self) -> None:
        self.listener = socket.create_server((HERE, self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def cut(self) -> None:
        """From now on connections are refused, and those that are open end."""
        for one in (self.listener, *self.open):
            if one:
                with contextlib.suppress(OSError):  # it has ended already
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
        self.listener = None
        self.open.clear()

    def accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it was closed
            while True:
                near, _ = listener.accept()
                far = socket.create_connection((HERE, self.target))
                self.open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=(source, sink), daemon=True).start()


def pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):  # either end may be cut
        while content := source.recv(65536):
            sink.sendall(content)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def to(target: int) -> Iterator[Relay]:
    relay = Relay(target)
    relay.mend()
    try:
        yield relay
    finally:
        relay.cut()
