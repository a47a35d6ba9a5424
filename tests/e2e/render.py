"""Crossplane's own renderer: one reconcile by the real reconciler, without a cluster."""

import importlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from google.protobuf import json_format, struct_pb2

from function.core import Manifest, plain
from tests.e2e import pins
from tests.e2e.programs import Site

PROTOCOL = "proto/render/v1alpha1/render.proto"
Struct = struct_pb2.Struct


class Unrendered(Exception):
    """The renderer failed; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the reconciler would do."""

    xr: dict[str, Any]
    composed: tuple[dict[str, Any], ...]
    deleted: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Renderer:
    """`crossplane internal render` of a release of the core, calling a function in plain text."""

    program: Path
    messages: ModuleType
    function: str
    address: str

    def __call__(
        self,
        *,
        xr: Manifest,
        composition: Manifest,
        definition: Manifest,
        observed: Sequence[Manifest],
        required: Sequence[Manifest],
    ) -> Rendered:
        request = self.messages.RenderRequest(
            composite=self.messages.CompositeInput(
                composite_resource=struct(xr),
                composition=struct(composition),
                composite_resource_definition=struct(definition),
                functions=[self.messages.FunctionInput(name=self.function, address=self.address)],
                observed_resources=map(struct, observed),
                required_resources=map(struct, required),
            )
        )
        done = subprocess.run(
            [self.program, "internal", "render"], input=request.SerializeToString(), capture_output=True, check=False
        )
        if done.returncode:
            raise Unrendered(done.stderr.decode(errors="replace").strip())
        output = self.messages.RenderResponse.FromString(done.stdout).composite
        return Rendered(
            manifest(output.composite_resource),
            tuple(map(manifest, output.composed_resources)),
            tuple(map(manifest, output.deleted_resources)),
        )


def renderer(site: Site, version: str, function: str, address: str) -> Renderer:
    """The renderer of a release, with messages made from that release's own protocol."""
    build = site.build(pins.CROSSPLANE[version])
    stubs = site.folder / "render" / version.replace(".", "_")
    stubs.mkdir(parents=True, exist_ok=True)
    python = site.tools / "python"
    command = [python, "-m", "grpc_tools.protoc", "-I", build.folder, f"--python_out={stubs}", PROTOCOL]
    subprocess.run(command, check=True, capture_output=True)
    return Renderer(build.program, imported(stubs), function, address)


def imported(stubs: Path) -> ModuleType:
    """The generated module. Both releases speak the same protocol, which can be registered only once."""
    name = PROTOCOL.removesuffix(".proto").replace("/", ".") + "_pb2"
    if name not in sys.modules:
        sys.path.insert(0, str(stubs))
        try:
            importlib.import_module(name)
        finally:
            sys.path.remove(str(stubs))
    return sys.modules[name]


def struct(value: Manifest) -> Struct:
    made = Struct()
    made.update(plain(value))
    return made


def manifest(message: Struct) -> dict[str, Any]:
    """A Struct as data, its whole numbers as integers."""
    return dict(whole(json_format.MessageToDict(message)))


def whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: whole(child) for key, child in value.items()}
    if isinstance(value, list):
        return [whole(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
