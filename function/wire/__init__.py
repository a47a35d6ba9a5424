"""Conversion between Crossplane's protobuf and our plain data. Only this package and the server touch protobuf."""

from function.wire.decode import Call, decode
from function.wire.encode import LARGEST_RESPONSE, TooLarge, encode, fatal
from function.wire.lazy import MalformedRequest
from function.wire.peek import Origin, peek
from function.wire.verify import diagnose, type_of, verify

__all__ = [
    "LARGEST_RESPONSE",
    "Call",
    "MalformedRequest",
    "Origin",
    "TooLarge",
    "decode",
    "diagnose",
    "encode",
    "fatal",
    "peek",
    "type_of",
    "verify",
]
