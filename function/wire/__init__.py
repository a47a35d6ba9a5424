"""Between Crossplane's protobuf and our plain data. Nothing but this and the server touches protobuf."""

from function.wire.decode import Call, decode
from function.wire.encode import LARGEST_RESPONSE, TooLarge, encode, fatal
from function.wire.lazy import MalformedRequest
from function.wire.peek import Origin, peek
from function.wire.verify import flaw, type_of, verify

__all__ = [
    "LARGEST_RESPONSE",
    "Call",
    "MalformedRequest",
    "Origin",
    "TooLarge",
    "decode",
    "encode",
    "fatal",
    "flaw",
    "peek",
    "type_of",
    "verify",
]
