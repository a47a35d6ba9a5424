"""A composition function that is called over gRPC, with the messages of Crossplane's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as fnv1_grpc
from google.protobuf import json_format, struct_pb2

from function.core import ComposedResource, Condition, Event, Manifest, Request, Requirement, Result, plain
from function.sandbox.errors import Fatal, Unreachable
from function.sandbox.sealed import Sealed

_TIMEOUT = 60
"""Seconds for one call."""
_PATIENCE = 10
"""Seconds for a connection."""
_LARGEST = 256 * 1024 * 1024
_STATUSES = {
    fnv1.STATUS_CONDITION_TRUE: "True",
    fnv1.STATUS_CONDITION_FALSE: "False",
    fnv1.STATUS_CONDITION_UNKNOWN: "Unknown",
}


class RemoteFunction:
    """The function at `target` (host and port), called without TLS."""

    def __init__(self, target: str, patience: float = _PATIENCE) -> None:
        """`patience` is the timeout of the connection, in seconds."""
        self._target, self._patience, self._is_connected = target, patience, False
        sizes = [("grpc.max_receive_message_length", _LARGEST), ("grpc.max_send_message_length", _LARGEST)]
        self._channel = grpc.insecure_channel(target, options=sizes)
        self._stub = fnv1_grpc.FunctionRunnerServiceStub(self._channel)  # type: ignore[no-untyped-call]  # generated

    def __call__(self, request: Request) -> Result:
        """Call the function.

        Raises:
            Fatal: The result is fatal, or the call failed.
            Unreachable: There is no server at the target.
        """
        if not self._is_connected:
            self._connect()
        try:
            response = self._stub.RunFunction(encode(request), timeout=_TIMEOUT)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                raise Unreachable(f"no function answers at {self._target}: {error.details()}") from error
            raise Fatal(f"{error.code().name}: {error.details()}") from error
        return decode(response)

    def _connect(self) -> None:
        try:
            grpc.channel_ready_future(self._channel).result(timeout=self._patience)
        except grpc.FutureTimeoutError as error:
            problem = f"no function answers at {self._target} in plain text within {self._patience} seconds"
            raise Unreachable(problem) from error
        self._is_connected = True

    def close(self) -> None:
        self._channel.close()


def encode(request: Request) -> fnv1.RunFunctionRequest:
    return fnv1.RunFunctionRequest(
        meta=fnv1.RequestMeta(tag=""),
        observed=fnv1.State(
            composite=_resource(request.xr),
            resources={key: _resource(m) for key, m in request.observed.items()},
        ),
        required_resources={
            name: fnv1.Resources(items=[_resource(m) for m in found]) for name, found in request.required.items()
        },
    )


def decode(response: fnv1.RunFunctionResponse) -> Result:
    """The result in a response. Raises Fatal for a fatal one."""
    fatal = [r.message for r in response.results if r.severity == fnv1.SEVERITY_FATAL]
    if fatal:
        raise Fatal(fatal[0])
    composite = response.desired.composite
    return Result(
        ready=composite.ready == fnv1.READY_TRUE,
        conditions=tuple(Condition(c.type, _STATUSES[c.status], c.reason, c.message) for c in response.conditions),
        resources={
            key: ComposedResource(_plain(r.resource), r.ready == fnv1.READY_TRUE)
            for key, r in response.desired.resources.items()
        },
        status=_plain(composite.resource).get("status") or {},
        events=tuple(
            Event(r.reason or "ComposeResources", r.message, r.severity == fnv1.SEVERITY_WARNING)
            for r in response.results
        ),
        requirements=tuple(
            _requirement(name, response.requirements.resources[name])
            for name in sorted(response.requirements.resources)
        ),
        ttl=int(response.meta.ttl.seconds),
    )


def weight(manifest: Manifest) -> int:
    """The bytes of an object in a request. Those of a stored one are counted once."""
    return manifest.weight(_weight) if isinstance(manifest, Sealed) else _weight(manifest)


def _weight(manifest: Manifest) -> int:
    return _resource(manifest).ByteSize()


def _resource(manifest: Manifest) -> fnv1.Resource:
    struct = struct_pb2.Struct()
    struct.update(plain(manifest))
    return fnv1.Resource(resource=struct)


def _requirement(name: str, selector: fnv1.ResourceSelector) -> Requirement:
    return Requirement(
        name=name,
        api_version=selector.api_version,
        kind=selector.kind,
        match_name=selector.match_name if selector.HasField("match_name") else None,
        match_labels=dict(selector.match_labels.labels),
        namespace=selector.namespace if selector.HasField("namespace") else None,
    )


def _plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    found: dict[str, Any] = _whole(json_format.MessageToDict(struct))
    return found


def _whole(value: Any) -> Any:
    """A value with whole floats as ints: a Struct has only floats, and Kubernetes distinguishes them."""
    if isinstance(value, Mapping):
        return {k: _whole(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_whole(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
