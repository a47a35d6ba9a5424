"""Decode a RunFunctionRequest into a Request. Objects stay encoded until they are read."""

from __future__ import annotations

from dataclasses import dataclass

from google.protobuf.message import DecodeError

from function.core import Request
from function.wire import messages
from function.wire.lazy import LazyMapping, LazyObject, MalformedRequest


@dataclass(frozen=True, slots=True)
class Call:
    """A request, and the parts of it that pass through to the response untouched."""

    request: Request
    tag: str
    desired: bytes
    context: bytes


def decode(data: bytes) -> Call:
    """Decode a request. Raises MalformedRequest. The contents of objects are checked only when they are read."""
    try:
        parsed = messages.Request.FromString(data)
    except DecodeError as error:
        raise MalformedRequest(f"not a RunFunctionRequest: {error}") from error
    request = Request(
        xr=LazyMapping(parsed.observed.composite.resource.fields),
        observed={k: LazyMapping(parsed.observed.resources[k].resource.fields) for k in parsed.observed.resources},
        required={
            name: tuple(LazyObject(item.resource.fields) for item in parsed.required_resources[name].items)
            for name in parsed.required_resources
        },
    )
    return Call(request, parsed.meta.tag, parsed.desired, parsed.context)
