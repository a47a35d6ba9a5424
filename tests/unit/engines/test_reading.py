"""Which engine a container runs, and which of its programs takes requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.engines import ports, reading
from tests.support import engine_containers as c
from tests.support.engine_containers import read, script

KNOWN = [
    (read(), "vLLM", "image"),
    (read(image=c.SGLANG), "SGLang", "image"),
    (read(image=c.TRTLLM), "TensorRT-LLM", "image"),
    (read(image=c.TGI), "TGI", "image"),
    (read(image=c.TEI), "TEI", "image"),
    (read(image=c.LLAMA), "llama.cpp", "image"),
    (read(image=c.NIM), "NIM", "image"),
    (read(image=c.KSERVE), "KServe", "image"),
    (read(image=c.OLLAMA), "Ollama", "image"),
    (read(image=c.TRITON), "Triton", "image"),
    (read(image=c.OTHER), None, ""),
    (read(image="registry.example.org/team/serve:1-vllm"), None, ""),
    (read(image="registry.example.org:5000/team/my_vllm@sha256:00"), "vLLM", "image"),
    (read(image="registry.example.org/unvllmed"), None, ""),
    (read(image="localhost/nim/llama"), "NIM", "image"),
    (read(image="registry.example.org/minim/llama"), None, ""),
    (read(image="vllm/vllm-router:1"), None, ""),
    (read(image="nvcr.io/nvidia/ai-dynamo/vllm-runtime:1"), None, ""),
    (read(image=""), None, ""),
    (read("--model=org/vllm", image=c.TGI), "TGI", "image"),
    (read("x", image=c.OTHER, command=("vllm", "serve")), "vLLM", "command"),
    (read(image=c.OTHER, command=("/opt/venv/bin/vllm", "serve", "x")), "vLLM", "command"),
    (read(image=c.OTHER, command=("vllm", "bench", "serve")), None, ""),
    (read(image=c.OTHER, command=("python3", "-m", "vllm.entrypoints.openai.api_server")), "vLLM", "command"),
    (read(image=c.OTHER, command=("python3.12", "-u", "-m", "sglang.launch_server")), "SGLang", "command"),
    (read(image=c.OTHER, command=("python", "-m", "sglang", "serve")), "SGLang", "command"),
    (read("trtllm-serve", "x", image=c.OTHER), "TensorRT-LLM", "command"),
    (read("python3", "-m", "huggingfaceserver", image=c.OTHER), "KServe", "command"),
    (read(image=c.VLLM, command=("text-generation-launcher",)), "TGI", "command"),
    (read(image=c.OTHER, command=("numactl", "-N", "0", "vllm", "serve")), "vLLM", "command"),
    (
        read(image=c.OTHER, command=("mpirun", "-n", "8", "trtllm-llmapi-launch", "trtllm-serve")),
        "TensorRT-LLM",
        "command",
    ),
    (read(image=c.OTHER, command=("pip", "install", "vllm")), None, ""),
    (read(image=c.OTHER, command=("/start.sh",), runtime="SGLang"), "SGLang", "runtime"),
    (read(image=c.VLLM, runtime="TGI"), "TGI", "runtime"),
    (read(image=c.VLLM, runtime="unheard of"), "vLLM", "image"),
    (script("sleep 5; exec vllm serve x", image=c.OTHER), "vLLM", "command"),
    (script("echo vllm serve && ./start", image=c.OTHER), None, ""),
    (script("nohup /usr/bin/env A=b python -m sglang.launch_server &\nwait", image=c.OTHER), "SGLang", "command"),
    (script("bash -lc 'exec llama-server -m /x'", image=c.OTHER), "llama.cpp", "command"),
]


@pytest.mark.parametrize(("got", "engine", "by"), KNOWN)
def test_the_user_the_command_or_the_image_names_the_engine(got: Any, engine: str | None, by: str) -> None:
    """A model, a tag or a package of that name does not."""
    assert (got.engine and got.engine.name, got.known_by) == (engine, by)


LISTENERS = [
    (script("ray start --head --port=6379\nexec vllm serve x"), "vLLM", ("x",)),
    (script("vllm serve x --host 127.0.0.1 & exec sglang-router --port 80"), "SGLang's router", ("--port", "80")),
    (script("vllm serve x --port 1 & vllm serve y --host=localhost"), "vLLM", ("x", "--port", "1")),
    (script("if a; then vllm serve x; else vllm serve x --headless; fi"), "vLLM", ("x",)),
    (script("vllm serve x --uds /s & vllm serve y --host ::1"), "vLLM", ("y", "--host", "::1")),
    (script("sglang serve x"), "SGLang", ("x",)),
    (
        script("python3 -m dynamo.vllm & python3 -m dynamo.frontend --http-port 7"),
        "Dynamo's frontend",
        ("--http-port", "7"),
    ),
    (
        script("python3 openai_frontend/main.py --openai-port 7", image=c.TRITON),
        "Triton's OpenAI frontend",
        ("--openai-port", "7"),
    ),
    (script("trtllm-serve disaggregated -c x.yaml"), "TensorRT-LLM's disaggregated server", ("-c", "x.yaml")),
    (script('exec vllm serve x "$@"'), "vLLM", ("x",)),
    (read('exec vllm serve "$@"', "--", "a", "b c", command=("bash", "-euo", "pipefail", "-c")), "vLLM", ("a", "b c")),
    (read("--port", "9", image=c.OTHER, command=("/start.sh",)), None, ("--port", "9")),
    (read("--port", "9", image=c.OTHER), None, ("--port", "9")),
    (script("sleep 1; dcgm-exporter & ./serve --port 9", image=c.OTHER), None, ("--port", "9")),
    (script("./other --port 8 & ./serve --port 9", image=c.OTHER), None, ()),
]


@pytest.mark.parametrize(("got", "server", "arguments"), LISTENERS)
def test_the_last_program_that_is_reachable_takes_requests(got: Any, server: str | None, arguments: Any) -> None:
    """Of programs that nobody knows, the only one that is no helper. Of two, none."""
    assert (got.server and got.server.name, got.listener.arguments) == (server, arguments)


FLAGS = [
    (read(), True),
    (read("--max-model-len=1"), True),
    (read(image=c.TGI), True),
    (read(image=c.LLAMA), True),
    (read(image=c.SGLANG), False),
    (read(image=c.TRTLLM), False),
    (read(image="nvcr.io/nvidia/vllm:25.09"), False),
    (read(image="rocm/vllm:latest"), False),
    (read(image="vllm/vllm-openai-rocm:v1"), True),
    (read(image=c.OTHER), False),
    (read(image=c.OTHER, runtime="vLLM"), True),
    (read("x", command=("vllm", "serve")), False),
    (read("vllm", "serve", "x"), False),
    (script("vllm serve x"), False),
]


@pytest.mark.parametrize(("got", "want"), FLAGS)
def test_only_an_entry_point_of_a_known_engine_takes_flags(got: Any, want: bool) -> None:
    assert got.takes_flags is want


def test_variables_are_known_if_they_are_literal() -> None:
    given = c.container(A="1", B="$(A)2", D=c.SECRET, E="$(D)", MODELPLANE_PORT="9")
    known, unknown = reading.environment(given["env"])
    assert known == {"A": "1", "B": "12", "E": "$(D)", "MODELPLANE_PORT": "9"}
    assert "D" in unknown
    assert "MODELPLANE_PORT" not in unknown


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("image", "command", "args", "env", "ports", "readinessProbe")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)))
def test_a_container_of_any_types_is_read(container: dict[str, Any]) -> None:
    """What is wrong with it is said elsewhere."""
    ports.port(container, reading.read(container))
