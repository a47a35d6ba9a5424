"""Which model an engine is told, and under which names it answers."""

from __future__ import annotations

from typing import Any

import pytest

from function.engines import models
from tests.support import engine_containers as c
from tests.support.engine_containers import read, script

NAMED = [
    (read(), False),
    (read("--max-model-len=8192"), False),
    (read("--max-model-len", "8192"), False),
    (read("--served-model-name", "a", "b"), False),
    (read("--lora-modules", "a=/x", "b=/y"), False),
    (read("--model-loader-extra-config={}"), False),
    (read("Qwen/Qwen3-8B"), True),
    (read("--port", "8000", "Qwen/Qwen3-8B"), True),
    (read("--enforce-eager", "Qwen/Qwen3-8B"), True),
    (read("--model=Qwen/Qwen3-8B"), True),
    (read("--model", "Qwen/Qwen3-8B"), True),
    (read("--config=/etc/vllm.yaml"), True),
    (read("$(ENGINE_ARGS)"), True),
    (read("--model-path=/mnt/models", image=c.SGLANG), True),
    (read("--model_path", "/mnt/models", image=c.SGLANG), True),
    (read("--model-id=/mnt/models", image=c.TGI), True),
    (read("--model=/mnt/models", image=c.TGI), False),
    (read(image=c.TGI, MODEL_ID="org/m"), True),
    (read(image=c.TGI, MODEL_ID=c.SECRET), True),
    (read("$(ENGINE_ARGS)", image=c.TGI), True),
    (read("-hf", "org/m", image=c.LLAMA), True),
    (read(image=c.OTHER), True),
]


@pytest.mark.parametrize(("given", "want"), NAMED)
def test_a_model_is_named_in_any_form(given: Any, want: bool) -> None:
    """In doubt it is: vLLM exits when it gets two."""
    assert models.names_model(given) is want


NAMES = [
    (read("org/m"), ("org/m",)),
    (read("--model=org/m"), ("org/m",)),
    (read("org/m", "--model=org/n"), ("org/m",)),
    (read("--model=/mnt/models"), ("/mnt/models",)),
    (read("--model=org/m", "--served-model-name=a"), ("a",)),
    (read("--model=org/m", "--served-model-name", "a", "b", "--port=1"), ("a", "b")),
    (read("--model=org/m", "--served_model_name", "a"), ("a",)),
    (read("--model=org/m", "--lora-modules", "l=org/l", '{"name": "k", "path": "/k"}'), ("org/m", "l", "k")),
    (read(), None),
    (read("--model=$(MODEL)"), None),
    (read("--model=$(MODEL)", MODEL="org/m"), ("org/m",)),
    (read("--model=$(MODEL)", MODEL=c.SECRET), None),
    (read("--model=org/m", "--served-model-name=$(NAME)"), None),
    (read("org/m", "--config=/x.yaml"), None),
    (script("vllm serve org/m --port 1"), ("org/m",)),
    (script("vllm serve $M", M="org/m"), ("org/m",)),
    (script("vllm serve $M"), None),
    (script("vllm serve org/m --host 127.0.0.1 & vllm-router --host 0.0.0.0"), None),
    (read("--served-model-name=a", command=("/start.sh",)), ("a",)),
    (read("--model=org/m", command=("/start.sh",)), None),
    (read("--model_id=org/m", image=c.KSERVE), ("model",)),
    (read("--model_name=a", image=c.KSERVE), ("a",)),
    (read(image=c.NIM), None),
    (read(image=c.NIM, NIM_SERVED_MODEL_NAME="a,b"), ("a", "b")),
    (read(image=c.NIM, NIM_SERVED_MODEL_NAME=c.SECRET), None),
    (read(image=c.OLLAMA), None),
    (read("--model-repository=/m", image=c.TRITON, command=("tritonserver",)), None),
    (read("--model-id=org/m", image=c.TGI), None),  # takes requests for any name
    (read("sglang", "serve", "org/m", image=c.SGLANG), None),  # so does this
    (read("--model=org/m", image=c.OTHER), None),
    (read("--model=org/m", image=c.OTHER, runtime="vLLM"), ("org/m",)),
]


@pytest.mark.parametrize(("given", "want"), NAMES)
def test_the_names_are_those_that_requests_must_have(given: Any, want: tuple[str, ...] | None) -> None:
    """Unknown rather than wrong, and none for an engine that does not look at them."""
    assert models.served_names(given) == want


@pytest.mark.parametrize("text", ["[" * 100_000, '{"name": ' * 100_000, "[NaN]", "{"], ids=lambda text: text[:9])
def test_adapters_that_cannot_be_read_are_none(text: str) -> None:
    assert list(models.adapters(text)) == []
