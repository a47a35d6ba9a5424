"""The real server in a process of its own, and Crossplane's part of the conversation."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1
from google.protobuf import json_format

from function.core import Manifest, Requirement, plain
from function.sandbox.settle import MOST_CALLS, resolve
from function.vocabulary import crossplane, labels

_START_SECONDS = 120
_STOP_SECONDS = 15


@dataclass
class Server:
    """One `modelplane serve`, with all that it logs."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def stop(self) -> int:
        """Its exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_STOP_SECONDS)


@contextlib.contextmanager
def running(
    *options: str, module: str = "function", first: Callable[[], None] | None = None, **environment: str
) -> Iterator[Server]:
    """On a free port of loopback, in plain text unless the options say otherwise.

    `first` is called in the process, before its program begins.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", module, "serve", "--address", "127.0.0.1:0", *(options or ("--insecure",))]
        with log.open("wb") as out:
            env = {k: v for k, v in os.environ.items() if k not in ("TLS_SERVER_CERTS_DIR", "INSECURE", "ADDRESS")}
            env |= environment
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env, preexec_fn=first)  # noqa: PLW1509
        try:
            yield Server(process, _port(process, log), log)
        finally:
            process.kill()
            process.wait(_STOP_SECONDS)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """As its first line of log says, once it listens."""
    for _ in range(_START_SECONDS * 10):
        if found := re.search(r'"port": (\d+)|port\S*=\S*?(\d+)\b', log.read_text()):
            return int(found[1] or found[2])
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            break
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


class Crossplane:
    """Calls the function as Crossplane does: until what it asks for settles."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.stub = grpcv1.FunctionRunnerServiceStub(channel)

    def reconcile(
        self, xr: Manifest, objects: list[Manifest], observed: dict[str, Manifest] | None = None
    ) -> fnv1.RunFunctionResponse:
        req = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="test"))
        req.observed.composite.resource.update(plain(xr))
        for key, manifest in (observed or {}).items():
            req.observed.resources[key].resource.update(plain(manifest))
        asked: dict[str, fnv1.ResourceSelector] = {}
        for _ in range(MOST_CALLS):
            rsp = self.stub.RunFunction(req, timeout=30)
            before, asked = asked, dict(rsp.requirements.resources)
            if asked == before:
                return rsp
            req.ClearField("required_resources")
            for name, items in resolve(map(_requirement, asked.items()), objects).items():
                req.required_resources[name].SetInParent()
                for item in items:
                    req.required_resources[name].items.add().resource.update(plain(item))
        raise AssertionError("requirements did not settle")


def _requirement(asked: tuple[str, fnv1.ResourceSelector]) -> Requirement:
    name, selector = asked
    return Requirement(
        name,
        selector.api_version,
        selector.kind,
        match_name=selector.match_name or None,
        match_labels=dict(selector.match_labels.labels),
        namespace=selector.namespace if selector.HasField("namespace") else None,
    )


def desired(rsp: fnv1.RunFunctionResponse, kind: str) -> dict[str, Manifest]:
    """What is to be composed, of a kind, by key."""
    manifests = {k: json_format.MessageToDict(r.resource) for k, r in rsp.desired.resources.items()}
    return {key: manifest for key, manifest in manifests.items() if manifest["kind"] == kind}


def created(manifests: dict[str, Manifest], **status: object) -> dict[str, Manifest]:
    """As an API server would give back what a ModelDeployment composed."""
    owner = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "uid": "1", "controller": True}
    return {
        key: {
            **manifest,
            "metadata": {
                **manifest["metadata"],
                "uid": f"uid-{key}",
                "creationTimestamp": "2026-10-01T08:00:00Z",
                "ownerReferences": [{**owner, "name": manifest["metadata"]["labels"][labels.DEPLOYMENT]}],
                "annotations": {**manifest["metadata"].get("annotations", {}), crossplane.COMPOSITION_KEY: key},
            },
            "status": status,
        }
        for key, manifest in manifests.items()
    }


def said(rsp: fnv1.RunFunctionResponse) -> dict[str, tuple[bool, str]]:
    """Each condition's status and reason."""
    return {c.type: (c.status == fnv1.STATUS_CONDITION_TRUE, c.reason) for c in rsp.conditions}
