"""Why nothing outside of a pod reaches an engine, and which flag does it."""

from __future__ import annotations

from typing import Any

import pytest

from function.engines import listening
from tests.support import engine_containers as c
from tests.support.engine_containers import read, script

SGL = ("python3", "-m", "sglang.launch_server")
UNHEARD = [
    (read(), 8000, ""),
    (read("--port=9000"), 9000, ""),
    (read(command=("vllm", "serve")), 8001, "vLLM listens on 0.0.0.0:8000 unless told --port 8001"),
    (
        read("--host=127.0.0.1"),
        8000,
        "--host 127.0.0.1 is loopback, where no other pod reaches vLLM; use --host 0.0.0.0",
    ),
    (read("--host", "::1"), 8000, "--host ::1 is loopback, where no other pod reaches vLLM; use --host 0.0.0.0"),
    (
        read("--host=localhost"),
        8001,
        "--host localhost is loopback, where no other pod reaches vLLM; use --host 0.0.0.0 --port 8001",
    ),
    (read("--host=::"), 8000, ""),
    (read("--host=$(HOST)"), 8000, ""),
    (read("--host=secret.example.org"), 8000, ""),
    (read("--uds=/run/s"), 8000, "vLLM listens on no port with --uds"),
    (read("--headless"), 8000, "vLLM listens on no port with --headless"),
    (read(*SGL, image=c.SGLANG), 8000, "SGLang listens on 127.0.0.1:30000 unless told --host 0.0.0.0 --port 8000"),
    (read(*SGL, "--host=0.0.0.0", image=c.SGLANG), 8000, "SGLang listens on port 30000 unless told --port 8000"),
    (read(*SGL, "--port=9000", image=c.SGLANG), 9000, "SGLang listens on 127.0.0.1:30000 unless told --host 0.0.0.0"),
    (read(*SGL, "--host", "::", "--port", "$(P)", image=c.SGLANG), 8000, ""),
    (script("trtllm-serve x"), 8000, "TensorRT-LLM listens on localhost:8000 unless told --host 0.0.0.0"),
    (read(image=c.TGI), 8000, "TGI listens on 0.0.0.0:80 unless told --port 8000"),
    (read(image=c.TGI, PORT="8000"), 8000, ""),
    (
        read(image=c.TGI, HOSTNAME="127.0.0.1", PORT="8000"),
        8000,
        "HOSTNAME 127.0.0.1 is loopback, where no other pod reaches TGI; use --hostname 0.0.0.0",
    ),
    (read(image=c.NIM), 9000, "NIM listens on 0.0.0.0:8000 unless told NIM_SERVER_PORT=9000"),
    (
        read(image=c.OLLAMA, OLLAMA_HOST="127.0.0.1:8000"),
        8000,
        "OLLAMA_HOST 127.0.0.1 is loopback, where no other pod reaches Ollama; use OLLAMA_HOST=0.0.0.0:8000",
    ),
    (
        read(image=c.OLLAMA, OLLAMA_HOST="127.0.0.1"),
        8000,
        "OLLAMA_HOST 127.0.0.1 is loopback, where no other pod reaches Ollama; use OLLAMA_HOST=0.0.0.0:8000",
    ),
    (read(image=c.OLLAMA), 8000, "Ollama listens on 0.0.0.0:11434 unless told OLLAMA_HOST=0.0.0.0:8000"),
    (
        read(image=c.OLLAMA, OLLAMA_HOST="8000"),
        8000,
        "Ollama listens on port 11434 unless told OLLAMA_HOST=0.0.0.0:8000",
    ),
    (read(image=c.OLLAMA, OLLAMA_HOST="http://[::]:8000"), 8000, ""),
    (read("--port=99999"), 8000, "--port is no port number from 1 to 65535"),
    (read("--port", "--tp=2"), 8000, "--port is no port number from 1 to 65535"),
    (read(image=c.TGI, PORT="http"), 8000, "PORT is no port number from 1 to 65535"),
    (script("vllm serve x --port=$SERVE_PORT"), 8000, ""),
    (script("vllm serve x --port=$((8000 + RANK))"), 8000, ""),
    (read(image=c.OTHER), 8000, ""),
]


@pytest.mark.parametrize(("given", "port", "want"), UNHEARD)
def test_an_engine_that_will_not_be_heard_is_told_of(given: Any, port: int, want: str) -> None:
    """With the flag that does it, and the one that helps."""
    assert listening.unheard(given.server, given.listener, port) == want


TLS = [
    (read(), ""),
    (read("--ssl-certfile=/tls/tls.crt", "--ssl-keyfile=/tls/tls.key"), "--ssl-certfile"),
    (read("--ssl_certfile", "/tls/tls.crt"), "--ssl-certfile"),
    (read("--ssl-ca-certs=/ca.crt"), ""),
    (read(*SGL, "--ssl-certfile=/c", image=c.SGLANG), "--ssl-certfile"),
    (read("--ssl-cert-file=/c", image=c.LLAMA), "--ssl-cert-file"),
    (read(image=c.LLAMA, LLAMA_ARG_SSL_CERT_FILE="/c"), "LLAMA_ARG_SSL_CERT_FILE"),
    (read(image=c.NIM, NIM_SSL_MODE="TLS"), "NIM_SSL_MODE"),
    (read(image=c.NIM, NIM_SSL_MODE="DISABLED"), ""),
    (read("--ssl-certfile=/c", image=c.OTHER), ""),
    (script("vllm serve x --ssl-certfile /c"), "--ssl-certfile"),
    (script("vllm serve x --host 127.0.0.1 --ssl-certfile /c & sglang-router --port 8000"), ""),
]


@pytest.mark.parametrize(("given", "want"), TLS)
def test_the_flag_of_tls_is_named(given: Any, want: str) -> None:
    assert listening.tls(given.server, given.listener) == want
