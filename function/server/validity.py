"""The periods in which certificates are valid, read from their DER (RFC 5280, 4.1).

Python's `ssl` checks periods only during a handshake, and does not show them for certificates of one's own.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime

Period = tuple[float, float]
"""Begin and end, in seconds since 1970."""
_BLOCK = re.compile(rb"-----BEGIN (X509 )?CERTIFICATE-----(?P<der>.+?)-----END (X509 )?CERTIFICATE-----", re.DOTALL)
"""Of PEM. The longer label is an old one, which OpenSSL reads as well (PEM_read_bio_X509)."""
_VERSION = 0xA0
_UTC_TIME = 0x17
_LONG = 0x80
_BEFORE_VALIDITY = 3
"""Fields between a certificate's version and its validity: serial number, signature, issuer."""


def of_chain(pem: bytes) -> Period:
    """Return the period in which all certificates of a PEM file are valid."""
    begins, ends = zip(*_periods(pem), strict=True)
    return max(begins), min(ends)


def of_any(pem: bytes) -> Period:
    """Return the period from the first to the last moment at which a certificate of a PEM file is valid."""
    begins, ends = zip(*_periods(pem), strict=True)
    return min(begins), max(ends)


def _periods(pem: bytes) -> Iterator[Period]:
    for block in _BLOCK.finditer(pem):
        yield _period(base64.b64decode(block["der"]))


def _period(der: bytes) -> Period:
    (_, certificate), *_ = _elements(der)
    (_, signed), *_ = _elements(certificate)
    fields = [content for tag, content in _elements(signed) if tag != _VERSION]
    begin, end = (_seconds(tag, content) for tag, content in _elements(fields[_BEFORE_VALIDITY]))
    return begin, end


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and content of each element of a DER sequence's content."""
    at = 0
    while at < len(der):
        tag, length, at = der[at], der[at + 1], at + 2
        if length & _LONG:  # the low bits count the bytes of the length
            size = length & ~_LONG
            length, at = int.from_bytes(der[at : at + size], "big"), at + size
        yield tag, der[at : at + length]
        at += length


def _seconds(tag: int, content: bytes) -> float:
    text = content.decode("ascii")
    form = "%y%m%d%H%M%SZ" if tag == _UTC_TIME else "%Y%m%d%H%M%SZ"
    moment = datetime.strptime(text, form).replace(tzinfo=UTC)
    if tag == _UTC_TIME and moment.year >= 2050:  # noqa: PLR2004  (RFC 5280, 4.1.2.5.1: 50 is 1950)
        moment = moment.replace(year=moment.year - 100)
    return moment.timestamp()
