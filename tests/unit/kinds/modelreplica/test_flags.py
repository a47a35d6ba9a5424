"""What is read of an engine's command line, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from function.kinds.modelreplica import flags


def line(*args: str, command: tuple[str, ...] = (), image: str = "vllm/vllm-openai:v0.33.0", **variables: str) -> Any:
    return flags.read(image=image, command=command, args=args, variables=variables)


def shell(script: str, **variables: str) -> Any:
    return line(script, command=("/bin/sh", "-c"), **variables)


PORTS = [
    (line("--port=9000"), 9000),
    (line("--port", "9000"), 9000),
    (line("--port", "9000", "--port=9001"), 9001),
    (line("--port"), None),
    (line("--port=http"), None),
    (line("--port=0"), None),
    (line("--port=65536"), None),
    (line("--port=9e3"), None),
    (line("--report=9000"), None),
    (line(), None),
    (line("--port=$(PORT)", PORT="9000"), 9000),
    (line("--port=$(MODELPLANE_PORT)"), None),
    (line("serve", command=("vllm", "--port", "9000")), 9000),
    (shell("vllm serve x --port 9000"), 9000),
    (shell("vllm serve x \\\n  --port=9000 \\\n  --headless"), 9000),
    (shell("vllm serve x --port $PORT", PORT="9000"), 9000),
    (shell("vllm serve x --port=${PORT}", PORT="9000"), 9000),
    (shell("vllm serve x --port $MODELPLANE_PORT"), None),
    (shell("sleep 5; exec vllm serve x --port 9000;"), 9000),
    (shell("vllm serve 'a model' --port '9000' && echo done"), 9000),
    (shell("vllm serve x --port 9000 --chat-template 'it''s"), 9000),
    (line("vllm serve x --port 9000", command=("bash", "-euo", "pipefail", "-ec")), 9000),
    (line("-c", "vllm serve x --port 9000", command=("/bin/bash",)), 9000),
    (line("vllm serve x --port 9000", command=("/usr/bin/env", "bash", "-c")), 9000),
    (line("--chat-template", "{{ x }} --port 9000"), None),
]


@pytest.mark.parametrize(("given", "want"), PORTS)
def test_the_port_is_what_it_is_told(given: Any, want: int | None) -> None:
    """As an option of args, of a command, or of a shell's script; never a guess, never a crash."""
    assert flags.port(given) == want


NAMED = [
    (line(), False),
    (line("--max-model-len=8192"), False),
    (line("Qwen/Qwen3-8B"), True),
    (line("--model=Qwen/Qwen3-8B"), True),
    (line("--model", "Qwen/Qwen3-8B"), True),
    (line("--model-path=/mnt/models"), True),
    (line("--model_path", "/mnt/models"), True),
    (line("--config=/etc/vllm.yaml"), True),
    (line("$(ENGINE_ARGS)"), True),
    (line("--model-loader-extra-config={}"), False),
]


@pytest.mark.parametrize(("given", "want"), NAMED)
def test_a_model_is_named_in_any_form(given: Any, want: bool) -> None:
    assert flags.names_model(given) is want


ENGINES = [
    (line(), flags.VLLM),
    (line(image="lmsysorg/sglang:v0.5.23"), flags.SGLANG),
    (line(image="nvcr.io/nvidia/tensorrt-llm/release:1.2.1"), flags.TENSORRT_LLM),
    (line(image="registry.example.org/serve:1", command=("python3", "-m", "sglang.launch_server")), flags.SGLANG),
    (line(image="registry.example.org/serve:1"), None),
    (shell("trtllm-serve Qwen/Qwen3-8B"), flags.TENSORRT_LLM),
]


@pytest.mark.parametrize(("given", "want"), ENGINES)
def test_command_and_image_give_the_engine_away(given: Any, want: str | None) -> None:
    assert flags.engine_type(given) == want


BLOCKS = [
    (line("--block-size=32"), 32, 16),
    (line("--block_size", "32"), 32, 16),
    (line("--page-size", "64", image="lmsysorg/sglang:v0.5.23"), 64, 1),
    (line(), None, 16),
    (line(image="registry.example.org/serve:1"), None, None),
]


@pytest.mark.parametrize(("given", "told", "default"), BLOCKS)
def test_the_block_size_is_told_or_the_engines(given: Any, told: int | None, default: int | None) -> None:
    assert (flags.block_size(given), flags.default_block_size(given)) == (told, default)


SGLANG = "lmsysorg/sglang:v0.5.23"
UNHEARD = [
    (line(), 8000, ""),
    (line("--port=9000"), 9000, ""),
    (line(command=("vllm", "serve")), 8001, "vLLM listens on 0.0.0.0:8000 unless told --port 8001"),
    (line(image=SGLANG), 8000, "SGLang listens on 127.0.0.1:30000 unless told --host 0.0.0.0 --port 8000"),
    (line("--host=0.0.0.0", image=SGLANG), 8000, "SGLang listens on 127.0.0.1:30000 unless told --port 8000"),
    (line("--port=9000", image=SGLANG), 9000, "SGLang listens on 127.0.0.1:30000 unless told --host 0.0.0.0"),
    (line("--host", "::", "--port", "$(P)", image=SGLANG), 8000, ""),
    (shell("trtllm-serve x"), 8000, "TensorRT-LLM listens on localhost:8000 unless told --host 0.0.0.0"),
    (line(image="registry.example.org/serve:1"), 8000, ""),
]


@pytest.mark.parametrize(("given", "port", "want"), UNHEARD)
def test_an_engine_that_will_not_be_heard_is_told_of(given: Any, port: int, want: str) -> None:
    assert flags.unheard(given, port) == want
