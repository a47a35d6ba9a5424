"""Containers of engines, as Kubernetes has them, and what is read of them."""

from __future__ import annotations

from typing import Any

from function.engines import reading
from function.engines.reading import Reading

VLLM = "vllm/vllm-openai:v0.33.0"
SGLANG = "lmsysorg/sglang:v0.5.23"
TRTLLM = "nvcr.io/nvidia/tensorrt-llm/release:1.2.1"
TGI = "ghcr.io/huggingface/text-generation-inference:3.3.4"
TEI = "ghcr.io/huggingface/text-embeddings-inference:1.8"
LLAMA = "ghcr.io/ggml-org/llama.cpp:server-cuda"
NIM = "nvcr.io/nim/meta/llama-3.1-8b-instruct:2.1"
KSERVE = "kserve/huggingfaceserver:v0.21.0-gpu"
OLLAMA = "ollama/ollama:0.17.4"
TRITON = "nvcr.io/nvidia/tritonserver:25.09-vllm-python-py3"
OTHER = "registry.example.org/team/serve:1"


def container(*args: str, image: str = VLLM, command: tuple[str, ...] = (), **env: Any) -> dict[str, Any]:
    """A container. A variable that is a dict is its valueFrom."""
    written = [{"name": k, "valueFrom": v} if isinstance(v, dict) else {"name": k, "value": v} for k, v in env.items()]
    return {
        "name": "engine",
        "image": image,
        **({"command": [*command]} if command else {}),
        **({"args": [*args]} if args else {}),
        **({"env": written} if written else {}),
    }


def read(*args: str, runtime: str | None = None, **fields: Any) -> Reading:
    return reading.read(container(*args, **fields), runtime)


def script(text: str, **fields: Any) -> Reading:
    return read(text, command=("/bin/sh", "-c"), **fields)


SECRET = {"secretKeyRef": {"name": "s", "key": "k"}}
