"""The pods of KServe's LLMInferenceServices: a service's pod specs, completed by what KServe's presets have."""

from __future__ import annotations

import copy
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.conversion import pods
from function.conversion.kubernetes import is_dump
from function.conversion.notes import NotConvertible, Notes, Path, items, mapping, text, texts, whole
from function.conversion.pods import MemberParts
from function.engines import injection

_MAIN = "main"
"""The container that serves."""
_IMAGE = "vllm/vllm-openai:v0.23.0"
"""vLLM's own image, for services that take theirs from a preset."""
_ADDITIONAL = "VLLM_ADDITIONAL_ARGS"
_ROCE = "KSERVE_INFER_ROCE"
_RPC_PORT = 5555
"""The presets' port of data parallel."""
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@dataclass(frozen=True, slots=True)
class Serving:
    """What the pods of one engine serve."""

    name: str
    """The model's name in requests."""
    source: Mapping[str, Any]
    """The LLMInferenceService."""
    engine: int
    """Index of the engine."""
    phase: str = ""
    """Prefill, Decode, or empty."""
    has_weights: bool = True
    """Whether the weights are at /mnt/models."""


def size(workload: Mapping[str, Any], path: Path) -> int:
    """Return the number of pods of a group (KServe v0.17, ParallelismSpec.GetSize)."""
    given = {name: _parallelism(workload, name, path) for name in ("data", "dataLocal", "pipeline")}
    if given["data"] or given["dataLocal"]:
        return max(1, (given["data"] or 1) // (given["dataLocal"] or 1))
    return given["pipeline"] or 1


def _parallelism(workload: Mapping[str, Any], name: str, path: Path) -> int | None:
    found = whole(workload, "parallelism", name, at=path)
    if found is not None and found < 1:
        raise NotConvertible((*path, "parallelism", name), "must be at least 1")
    return found


def member(workload: Mapping[str, Any], path: Path, serving: Serving, notes: Notes, *, role: str) -> MemberParts:
    """Convert one pod spec of a workload: its worker's for a Worker, else its template's. Raises NotConvertible."""
    which = "worker" if role == "Worker" else "template"
    at = (*path, which)
    spec = copy.deepcopy(mapping(workload, which, at=path))
    target: Path = ("spec", "engines", serving.engine, "members", int(role == "Worker"))
    inside = Notes(at, target, beside=notes.beside)
    container = _container(spec, at)
    _complete(container, workload, path, serving, inside, role=role)
    metadata = {
        "labels": texts(workload, "labels", at=path),
        "annotations": texts(workload, "annotations", at=path),
    }
    parts = pods.member({"metadata": metadata, "spec": spec}, inside, is_dump=is_dump(serving.source))
    inside.carried((), ("template", "spec"))
    for note in inside.written:  # the source has a pod's spec where a template is read
        source = note.source
        if source[: len(at) + 1] == (*at, "spec"):
            source = (*at, *source[len(at) + 1 :])
        elif source[: len(at) + 1] == (*at, "metadata"):
            source = (*path, *source[len(at) + 1 :])
        moved = type(note)(note.verdict, source, note.target, note.message)
        if moved not in notes.written:
            notes.written.append(moved)
    return parts


def engine_name(parts: MemberParts) -> str:
    """Return the engine's name: that of vLLM or SGLang if the image is one of theirs."""
    image = str(pods.engine_of(parts.template)["image"])
    return next((name for word, name in _ENGINES.items() if word in image), "engine")


_ENGINES = {"vllm": "vllm", "llm-d": "vllm", "sglang": "sglang"}


def _container(spec: dict[str, Any], at: Path) -> dict[str, Any]:
    """Return the container that serves, which is added if there is none."""
    containers = items(spec, "containers", at=at)
    for index, container in enumerate(containers):
        if not isinstance(container, dict):
            raise NotConvertible((*at, "containers", index), "must be a map of fields")
    found: dict[str, Any] | None = next((one for one in containers if one.get("name") == _MAIN), None)
    if found is None and len(containers) == 1:
        found = containers[0]
    if found is None:
        found = {"name": _MAIN}
        containers.insert(0, found)
    spec["containers"] = containers
    return found


def _complete(
    container: dict[str, Any], workload: Mapping[str, Any], path: Path, serving: Serving, notes: Notes, *, role: str
) -> None:
    at: Path = ("spec", "containers", 0)
    about = notes.at(at, ("template", *at))
    if container.get("image") is None:
        container["image"] = _IMAGE
        about.left((), ("image",), f"KServe's preset has the image; {_IMAGE} is assumed")
    _probes(container, about)
    if items(container, "command", at=about.source):
        return
    additional = _additional(container, about)
    own = [*_strings(container, "args", about), *additional]
    flags = [*_flags(workload, path, serving, own, role), *own]
    start = ["vllm", "serve", *([injection.WEIGHTS] if serving.has_weights else [])]
    local = _parallelism(workload, "dataLocal", path)
    is_data = bool(_parallelism(workload, "data", path) or local)
    if role == "Worker" and is_data:
        script = f'exec {" ".join(start)} "$@" --data-parallel-start-rank=$((MODELPLANE_RANK * {local or 1}))'
        container["command"], container["args"] = ["/bin/sh", "-c"], [script, "vllm", *flags]
    else:
        container["command"], container["args"] = start, flags
    _order(container)
    about.changed(
        (), ("command",), "KServe's preset has the command; it is vllm serve, with flags for model and parallelism"
    )


def _order(container: dict[str, Any]) -> None:
    """Put the fields that were added where people look for them."""
    rest = dict(container)
    container.clear()
    container.update({name: rest.pop(name) for name in ("name", "image", "command", "args") if name in rest}, **rest)


def _flags(workload: Mapping[str, Any], path: Path, serving: Serving, own: Sequence[str], role: str) -> Iterator[str]:
    """Yield the flags that the presets make of a service, except those that its args set."""
    given = {word.partition("=")[0].replace("_", "-") for word in own if word.startswith("--")}
    for flag in _all_flags(workload, path, serving, role):
        if flag.partition("=")[0] not in given:
            yield flag


def _all_flags(workload: Mapping[str, Any], path: Path, serving: Serving, role: str) -> Iterator[str]:
    yield f"--served-model-name={serving.name}"
    if serving.phase == "Decode" and role != "Worker":
        yield "--port=$(MODELPLANE_PORT)"
    number = {
        name: _parallelism(workload, name, path) for name in ("tensor", "pipeline", "data", "dataLocal", "dataRPCPort")
    }
    if number["tensor"]:
        yield f"--tensor-parallel-size={number['tensor']}"
    if number["pipeline"]:
        yield f"--pipeline-parallel-size={number['pipeline']}"
    if number["data"] or number["dataLocal"]:
        yield f"--data-parallel-size={number['data'] or 1}"
    if role != "Standalone":
        yield from _group_flags(number, role)
    if mapping(workload, "parallelism", at=path).get("expert") is True:
        yield "--enable-expert-parallel"
    yield from _model_flags(serving.source)


def _model_flags(source: Mapping[str, Any]) -> Iterator[str]:
    """Yield the flags about the model itself."""
    if mapping(source, "spec").get("trustRemoteCode") is True:
        yield "--trust-remote-code"
    if config := speculator(source):
        yield f"--speculative-config={config}"
    yield from _lora(source)


def _group_flags(number: Mapping[str, int | None], role: str) -> Iterator[str]:
    """Yield the flags of pods that serve together (vLLM v0.23, Parallelism and Scaling)."""
    if number["data"] or number["dataLocal"]:
        yield f"--data-parallel-size-local={number['dataLocal'] or 1}"
        yield "--data-parallel-address=$(MODELPLANE_LEADER_ADDRESS)"
        yield f"--data-parallel-rpc-port={number['dataRPCPort'] or _RPC_PORT}"
    else:
        yield f"--nnodes={number['pipeline']}"
        yield "--node-rank=$(MODELPLANE_RANK)"
        yield "--master-addr=$(MODELPLANE_LEADER_ADDRESS)"
    if role == "Worker":
        yield "--headless"


def _lora(source: Mapping[str, Any]) -> Iterator[str]:
    """Yield the flags of LoRA adapters of the hub (vLLM v0.23, LoRA Adapters)."""
    lora = mapping(source, "spec", "model", "lora")
    adapters = items(lora, "adapters", at=("spec", "model", "lora"))
    at: Path = ("spec", "model", "lora", "adapters")
    named = [found for index, one in enumerate(adapters) if (found := adapter(one, (*at, index)))]
    if not named:
        return
    yield "--enable-lora"
    for field, flag in (
        ("maxRank", "max-lora-rank"),
        ("maxAdapters", "max-loras"),
        ("maxCpuAdapters", "max-cpu-loras"),
    ):
        value = whole(lora, field, at=("spec", "model", "lora"))
        if value is not None:
            yield f"--{flag}={value}"
    yield "--lora-modules"
    yield from named


def speculator(source: Mapping[str, Any]) -> str | None:
    """Return vLLM's speculative config for a service's speculator; None if it has none that vLLM could take."""
    at: Path = ("spec", "speculator")
    config: dict[str, Any] = {
        name: int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) else value
        for name, value in mapping(source, *at, "config").items()
    }
    uri = text(source, *at, "model", "uri")
    if not config.get("method") or (uri is not None and not uri.startswith("hf://")):
        return None
    return json.dumps({**config, **({"model": uri.removeprefix("hf://")} if uri else {})})


def adapter(value: Any, at: Path) -> str | None:
    """Return a LoRA adapter of the hub as vLLM's flag has it: name=repository. None for any other."""
    uri, name = text(value, "uri", at=at), text(value, "name", at=at)
    return f"{name}={uri.removeprefix('hf://')}" if uri and name and uri.startswith("hf://") else None


def _additional(container: dict[str, Any], notes: Notes) -> list[str]:
    """Take the variable that the presets append to the command out of the container, and return its words."""
    variables = items(container, "env", at=notes.source)
    found: list[str] = []
    for index, variable in enumerate(list(variables)):
        name = variable.get("name") if isinstance(variable, dict) else None
        if name == _ROCE:
            variables.remove(variable)
            notes.lost(("env", index), f"{_ROCE} is read by the presets' script; set NCCL_IB_HCA and others yourself")
        if name != _ADDITIONAL:
            continue
        value = variable.get("value")
        try:
            found = shlex.split(value) if isinstance(value, str) else []
        except ValueError:
            value = None
        if not isinstance(value, str):
            notes.left(("env", index), None, f"{_ADDITIONAL} cannot be read as words: write them into args")
            continue
        variables.remove(variable)
        notes.changed(("env", index), ("args",), f"{_ADDITIONAL} is part of args")
    if container.get("env") is not None:
        container["env"] = variables
    return found


def _strings(container: Mapping[str, Any], name: str, notes: Notes) -> list[str]:
    found = items(container, name, at=notes.source)
    for index, word in enumerate(found):
        if not isinstance(word, str):
            raise NotConvertible((*notes.source, name, index), "must be a string")
    return found


def _probes(container: dict[str, Any], notes: Notes) -> None:
    for name in _PROBES:
        action = mapping(container, name, "httpGet", at=notes.source)
        if action.get("path") == "/health":
            del container[name]
            notes.changed((name,), None, "is Modelplane's own, which allows more time")
        elif action.get("scheme") == "HTTPS":
            action["scheme"] = "HTTP"
            notes.changed((name, "httpGet", "scheme"), None, "is HTTP: there is no TLS between the gateway and pods")
