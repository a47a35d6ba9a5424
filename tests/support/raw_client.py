"""A client that does what gRPC's own clients do not: announce a request and not send it, or not read a response."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from typing import Self

RUN = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
WINDOW = 65_535
"""Bytes of a response, or of a connection, that a client takes if it says nothing (RFC 9113, 6.9.2)."""
_DATA, _HEADERS, _SETTINGS, _PING, _WINDOW_UPDATE = 0, 1, 4, 6, 8
_END = _ACK = 0x1
_END_OF_HEADERS = 0x4
_INITIAL_WINDOW = 4
_FRAME = 16_384
"""Bytes of a frame, at most."""


class RawClient:
    """An HTTP/2 connection, whose frames are written one by one (RFC 9113, RFC 7541)."""

    def __init__(self, port: int, window: int = WINDOW, connection_window: int = WINDOW) -> None:
        """The windows are how many bytes it takes of each response, and of all of them."""
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._writing = threading.Lock()
        self._socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self._frame(_SETTINGS, 0, 0, struct.pack(">HI", _INITIAL_WINDOW, window))
        if connection_window > WINDOW:
            self._take(0, connection_window - WINDOW)
        self._next = 1
        self._reading: threading.Thread | None = None
        self.received = 0
        """Bytes of responses."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    # Requests

    def call(self, path: str = RUN, timeout: str = "") -> int:
        """Begin a call, and return its stream. A timeout is written as gRPC does, such as `1S`."""
        stream, self._next = self._next, self._next + 2
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
            **({"grpc-timeout": timeout} if timeout else {}),
        }
        block = b"".join(b"\0" + _text(name) + _text(value) for name, value in headers.items())
        self._frame(_HEADERS, _END_OF_HEADERS, stream, block)
        return stream

    def announce(self, stream: int, size: int, sent: int = 0) -> None:
        """Send the head of a message of a size, and so many of its bytes."""
        self._frame(_DATA, 0, stream, struct.pack(">BI", 0, size) + bytes(sent))

    def trickle(self, stream: int, count: int = 1) -> None:
        self._frame(_DATA, 0, stream, bytes(count))

    def send(self, stream: int, message: bytes) -> None:
        """Send a whole request, which fits into a frame."""
        assert len(message) < _FRAME - 5
        self._frame(_DATA, _END, stream, struct.pack(">BI", 0, len(message)) + message)

    # Responses

    def read(self, *, pause: float | None = None) -> None:
        """Read in a thread, and answer pings, until the connection is closed.

        With a pause, it takes more of the responses: so many seconds after each frame. Otherwise it never does.
        """
        self._reading = threading.Thread(target=self._read, args=(pause,), daemon=True)
        self._reading.start()

    def ended(self, seconds: float) -> bool:
        """Return whether the server closes the connection within a time."""
        if self._reading is None:
            self.read()
        assert self._reading
        self._reading.join(seconds)
        return not self._reading.is_alive()

    def _read(self, pause: float | None) -> None:
        with contextlib.suppress(OSError), self._socket.makefile("rb") as incoming:
            while len(head := incoming.read(9)) == 9:
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                payload = incoming.read(int.from_bytes(head[:3], "big"))
                if kind == _PING and not flags & _ACK:
                    self._frame(_PING, _ACK, 0, payload)
                if kind == _DATA:
                    self.received += len(payload)
                if kind == _DATA and payload and pause is not None:
                    time.sleep(pause)
                    self._take(0, len(payload))
                    self._take(stream, len(payload))

    def _take(self, stream: int, more: int) -> None:
        self._frame(_WINDOW_UPDATE, 0, stream, struct.pack(">I", more))

    def _frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        head = struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream)
        with self._writing:
            self._socket.sendall(head + payload)


def _text(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()
