"""Between Crossplane's protobuf and our plain data. Nothing but this and the server touches protobuf."""

from function.wire.decode import Call, MalformedRequest, decode
from function.wire.encode import LARGEST_RESPONSE, TooLarge, encode, fatal

__all__ = ["LARGEST_RESPONSE", "Call", "MalformedRequest", "TooLarge", "decode", "encode", "fatal"]
