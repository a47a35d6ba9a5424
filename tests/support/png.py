"""Text chunks of PNG files (W3C, "Portable Network Graphics", 11.3.3)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

_START = b"\x89PNG\r\n\x1a\n"


def with_text(png: bytes, key: str, value: str) -> bytes:
    """A PNG with a tEXt chunk before its last chunk."""
    body = b"tEXt" + key.encode("latin-1") + b"\0" + value.encode("latin-1")
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    end = png.rindex(b"IEND") - 4
    return png[:end] + chunk + png[end:]


def texts(png: bytes) -> dict[str, str]:
    """The tEXt chunks of a PNG."""
    found = (body.partition(b"\0") for kind, body in _chunks(png) if kind == b"tEXt")
    return {key.decode("latin-1"): value.decode("latin-1") for key, _, value in found}


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert png.startswith(_START)
    at = len(_START)
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        at += size + 12
