"""The port of an engine, where it was taken from, and two sources that disagree."""

from __future__ import annotations

from typing import Any

import pytest

from function.engines import ports, reading
from function.engines.ports import Conflict, Port
from tests.support import engine_containers as c


def port(*args: str, ports_: Any = None, probe: Any = None, **fields: Any) -> Port | Conflict:
    given = c.container(*args, **fields)
    given |= {"ports": ports_} if ports_ else {}
    given |= {"readinessProbe": probe} if probe else {}
    return ports.port(given, reading.read(given))


def shell(text: str, **fields: Any) -> Port | Conflict:
    return port(text, command=("sh", "-c"), **fields)


def http(number: Any, **more: Any) -> dict[str, Any]:
    return {"httpGet": {"port": number, **more}}


HTTP, ADMIN = {"name": "http", "containerPort": 9000}, {"name": "admin", "containerPort": 9001}
DEFAULT = Port(8000, "", "")
TOLD = [
    (port(), DEFAULT),
    (port(ports_=[{"containerPort": 9000}]), Port(9000, "ports[0]", "ports[0].containerPort")),
    (port(ports_=[ADMIN, HTTP]), Port(9000, "ports[1]", "ports[1].containerPort")),
    (port(ports_=[ADMIN, {"containerPort": 9002}]), DEFAULT),
    (port(ports_=[ADMIN, {"containerPort": 53, "protocol": "UDP"}]), Port(9001, "ports[0]", "ports[0].containerPort")),
    (port(ports_=[{"containerPort": "9000"}]), DEFAULT),
    (port(probe=http(9000)), Port(9000, "readinessProbe", "readinessProbe.httpGet.port")),
    (port(probe={"tcpSocket": {"port": 9000}}), Port(9000, "readinessProbe", "readinessProbe.tcpSocket.port")),
    (port(probe=http("admin"), ports_=[HTTP, ADMIN]), Port(9000, "ports[0]", "ports[0].containerPort")),
    (port(probe=http(9001), ports_=[HTTP, ADMIN]), Port(9000, "ports[0]", "ports[0].containerPort")),
    (
        port(probe=http("admin"), ports_=[{**HTTP, "name": "a"}, ADMIN]),
        Port(9001, "readinessProbe", "readinessProbe.httpGet.port"),
    ),
    (port(probe=http("nobody")), DEFAULT),
    (port(probe=http(9000, host="127.0.0.1")), DEFAULT),
    (port(probe={"exec": {"command": ["true"]}}), DEFAULT),
    (port(probe={"grpc": {"port": 9000}}), DEFAULT),
    (port("--port=9000"), Port(9000, "--port", "args")),
    (port("--port", "9000"), Port(9000, "--port", "args")),
    (port("--port", "9000", "--port=9001"), Port(9001, "--port", "args")),
    (port("serve", command=("vllm", "--port", "9000")), Port(9000, "--port", "command")),
    *(
        (port(*given), DEFAULT)
        for given in (
            ("--port",),
            ("--port=http",),
            ("--port=0",),
            ("--port=65536",),
            ("--port=9e3",),
            ("--report=9000",),
        )
    ),
    (port("--port=$(PORT)", PORT="9000"), Port(9000, "--port", "args")),
    (port("--port=$(MODELPLANE_PORT)"), DEFAULT),
    (port("--port=$(MODELPLANE_PORT)", MODELPLANE_PORT="9000"), Port(9000, "--port", "args")),
    (port(MODELPLANE_PORT="9000"), Port(9000, "MODELPLANE_PORT", "env[0].value")),
    (port(MODELPLANE_PORT=c.SECRET), DEFAULT),
    (shell("vllm serve x --port 9000"), Port(9000, "--port", "args")),
    (shell("vllm serve x \\\n  --port=9000 \\\n  --headless"), Port(9000, "--port", "args")),
    (shell("vllm serve x --port $PORT", PORT="9000"), Port(9000, "--port", "args")),
    (shell("vllm serve x --port=${PORT:-9000}"), Port(9000, "--port", "args")),
    (shell("vllm serve x --port=${MODELPLANE_PORT:-9000}"), DEFAULT),
    (shell("vllm serve x --port $MODELPLANE_PORT"), DEFAULT),
    (shell("sleep 5; exec vllm serve x --port 9000;"), Port(9000, "--port", "args")),
    (shell("vllm serve 'a model' --port '9000' && echo done"), Port(9000, "--port", "args")),
    (shell("vllm serve x --port 9000 --chat-template 'it''s"), Port(9000, "--port", "args")),
    (port("--chat-template", "{{ x }} --port 9000"), DEFAULT),
    (shell("ray start --head --port=6379\nuntil ray status; do sleep 5; done\nexec vllm serve x"), DEFAULT),
    (shell("ray start --head --port=6379; python3 -m sglang.launch_server --port 9000"), Port(9000, "--port", "args")),
    (shell("dcgm-exporter --port 9400 & exec vllm serve x"), DEFAULT),
    (shell("vllm serve x & node_exporter --port 9400"), DEFAULT),
    (shell("vllm serve x --host 127.0.0.1 --port 8001 & sglang-router --port 9000"), Port(9000, "--port", "args")),
    (shell("./a --port 1 & ./b --port 2", image=c.OTHER), DEFAULT),
    (shell("sleep 1; ./serve --port 9000", image=c.OTHER), Port(9000, "--port", "args")),
    (port("--port=9000", image=c.OTHER), Port(9000, "--port", "args")),
    (port("-p", "9000", image=c.TGI), Port(9000, "-p", "args")),
    (port("--http-port=9000", image=c.TRITON, command=("tritonserver",)), Port(9000, "--http-port", "args")),
    (port("--grpc-port=9000", image=c.TRITON, command=("tritonserver",)), DEFAULT),
    (port("--http_port=9000", image=c.KSERVE), Port(9000, "--http_port", "args")),
    (port(image=c.TGI, PORT="9000"), Port(9000, "PORT", "env[0].value")),
    (port("--port=9000", image=c.TGI, PORT="9001"), Port(9000, "--port", "args")),
    (port(PORT="9000"), DEFAULT),
    (port(image=c.NIM, NIM_SERVER_PORT="9000"), Port(9000, "NIM_SERVER_PORT", "env[0].value")),
    (port(image=c.LLAMA, LLAMA_ARG_PORT="9000"), Port(9000, "LLAMA_ARG_PORT", "env[0].value")),
    (port(image=c.OLLAMA, OLLAMA_HOST="0.0.0.0:9000"), Port(9000, "OLLAMA_HOST", "env[0].value")),
    (port(image=c.OLLAMA, OLLAMA_HOST="0.0.0.0"), Port(11434, "Ollama's default", "")),
    (port(command=["llama-server", "-m", "/m.gguf"]), Port(8080, "llama.cpp's default", "")),
    (port(command=["sglang", "serve", "org/m"]), Port(30000, "SGLang's default", "")),
    (port(command=["llama-server", "--port", "$(MODELPLANE_PORT)"]), DEFAULT),
    (port(image=c.OLLAMA, command=["python", "serve.py"]), DEFAULT),
    (
        port("--port=9000", ports_=[HTTP], probe=http("http"), MODELPLANE_PORT="9000"),
        Port(9000, "ports[0]", "ports[0].containerPort"),
    ),
]


@pytest.mark.parametrize(("got", "want"), TOLD)
def test_the_first_source_that_tells_decides(got: Any, want: Port) -> None:
    assert got == want


CONFLICTS = [
    (port("--port=9000", ports_=[{"containerPort": 8080}]), "ports[0].containerPort", "args"),
    (port("--port=9000", probe=http(8080)), "readinessProbe.httpGet.port", "args"),
    (port("--port=9000", MODELPLANE_PORT="8080"), "args", "env[0].value"),
    (port(ports_=[HTTP], probe=http(8080)), "ports[0].containerPort", "readinessProbe.httpGet.port"),
    (port(ports_=[HTTP, ADMIN], probe=http(8080)), "ports[0].containerPort", "readinessProbe.httpGet.port"),
    (
        port("--port=9000", ports_=[{**HTTP, "name": "a"}, ADMIN], probe=http("admin")),
        "readinessProbe.httpGet.port",
        "args",
    ),
    (shell("vllm serve x --port 9000", probe=http(8080)), "readinessProbe.httpGet.port", "args"),
    (port(image=c.TGI, PORT="9000", ports_=[{"containerPort": 80}]), "ports[0].containerPort", "env[0].value"),
]


@pytest.mark.parametrize(("got", "first", "other"), CONFLICTS)
def test_two_sources_that_disagree_are_both_named(got: Any, first: str, other: str) -> None:
    assert isinstance(got, Conflict)
    assert (got.first.field, got.other.field) == (first, other)


def test_a_probe_that_asks_the_sidecar_tells_nothing() -> None:
    given = {**c.container("--port=8001"), "readinessProbe": http(8000)}
    assert ports.port(given, reading.read(given), sidecar=8000) == Port(8001, "--port", "args")
