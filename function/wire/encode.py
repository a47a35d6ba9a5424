"""Encode a Result as a RunFunctionResponse."""

from __future__ import annotations

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf.message import DecodeError, Message

from function.core import Condition, Event, Requirement, Result, plain, shortened, visible
from function.wire.decode import Call
from function.wire.lazy import MalformedRequest

LARGEST_RESPONSE = 3_670_016
"""Bytes: 3.5 MiB. Crossplane's client accepts at most 4 MiB, and has no option to accept more (v2.3, internal/xfn)."""

_READY = {True: fnv1.READY_TRUE, False: fnv1.READY_FALSE}
_STATUS = {
    "True": fnv1.STATUS_CONDITION_TRUE,
    "False": fnv1.STATUS_CONDITION_FALSE,
    "Unknown": fnv1.STATUS_CONDITION_UNKNOWN,
}


class TooLarge(ValueError):
    """The response is larger than Crossplane accepts."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size / 2**20:.1f} MiB, and Crossplane takes {LARGEST_RESPONSE / 2**20:.1f} MiB at most")


def encode(call: Call, result: Result) -> fnv1.RunFunctionResponse:
    """Encode a result. Raises TooLarge and MalformedRequest. What other functions of the pipeline desired is kept."""
    rsp = _response(call)
    rsp.meta.ttl.seconds = result.ttl
    rsp.desired.composite.ready = _READY[result.ready]
    if result.status:
        rsp.desired.composite.resource.update({"status": plain(result.status)})
    for key, composed in sorted(result.resources.items()):
        rsp.desired.resources[key].Clear()
        rsp.desired.resources[key].resource.update(plain(composed.manifest))
        rsp.desired.resources[key].ready = _READY[composed.ready or result.quiet]
    rsp.conditions.extend(map(_condition, result.conditions))
    rsp.results.extend(map(_event, result.events))
    for requirement in result.requirements:
        rsp.requirements.resources[requirement.name].CopyFrom(_selector(requirement))
    if rsp.ByteSize() > LARGEST_RESPONSE:
        raise TooLarge(rsp.ByteSize())
    return rsp


def fatal(call: Call, message: str) -> fnv1.RunFunctionResponse:
    """Return a fatal result, at which Crossplane stops: it applies nothing and deletes nothing.

    Raises MalformedRequest.
    """
    rsp = _response(call)
    rsp.results.append(fnv1.Result(severity=fnv1.SEVERITY_FATAL, message=shortened(visible(message))))
    return rsp


def _response(call: Call) -> fnv1.RunFunctionResponse:
    """Return a response with what passes through. Raises MalformedRequest if that cannot be read."""
    rsp = fnv1.RunFunctionResponse(meta=fnv1.ResponseMeta(tag=call.tag))
    _pass("desired", call.desired, rsp.desired)
    if call.context:
        _pass("context", call.context, rsp.context)
    return rsp


def _pass(name: str, held: bytes, into: Message) -> None:
    try:
        into.MergeFromString(held)
    except DecodeError as problem:
        raise MalformedRequest(f"{name}: it cannot be read: {problem}") from None


def _condition(condition: Condition) -> fnv1.Condition:
    message = {"message": condition.message} if condition.message else {}
    return fnv1.Condition(type=condition.type, status=_STATUS[condition.status], reason=condition.reason, **message)


def _event(event: Event) -> fnv1.Result:
    severity = fnv1.SEVERITY_WARNING if event.warning else fnv1.SEVERITY_NORMAL
    return fnv1.Result(severity=severity, message=event.message, reason=event.reason)


def _selector(requirement: Requirement) -> fnv1.ResourceSelector:
    selector = fnv1.ResourceSelector(api_version=requirement.api_version, kind=requirement.kind)
    if requirement.match_name is not None:
        selector.match_name = requirement.match_name
    elif requirement.match_labels:
        selector.match_labels.labels.update(requirement.match_labels)
    if requirement.namespace is not None:
        selector.namespace = requirement.namespace
    return selector
