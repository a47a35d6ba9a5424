"""Stand-ins for the engines of a prefill/decode pair: they say who they are, and remember what they were asked."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from tests.e2e import openai
from tests.e2e.pod_network import EVERY_ADDRESS, PodNetwork

Body = dict[str, Any]
HANDOVER = "kv_transfer_params"
# What the picker reads of vLLM (llm-d router v0.9, pkg/epp/framework/plugins/datalayer/extractor/metrics).
METRICS = """\
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{model_name="qwen"}} {waiting}
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{model_name="qwen"}} 0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{{model_name="qwen"}} 0.1
"""


@dataclass(slots=True)
class Engine(openai.StandIn):
    """An engine that has some requests waiting. `completions` are the bodies of those that it was asked for."""

    waiting: int = 0
    completions: list[Body] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [one["messages"][0]["content"] for one in self.completions]

    def taken(self) -> list[Body]:
        """Return what it was asked for since the last call."""
        taken, self.completions = self.completions, []
        return taken


@contextmanager
def serving(name: str, address: str, port: int, network: PodNetwork | None = None) -> Iterator[Engine]:
    """Serve until the end of the block: in a pod's network on every address, as engines do, or else on one."""
    engine = Engine(name, EVERY_ADDRESS if network else address, port)
    with network.entered() if network else nullcontext():
        server = openai.Server(engine, Handler)
    with openai.running(server):
        yield engine


class Handler(openai.Handler):
    def do_GET(self) -> None:
        engine = self.server.stand_in
        assert isinstance(engine, Engine)
        if self.path == "/metrics":
            self.whole(METRICS.format(waiting=engine.waiting).encode(), "text/plain; version=0.0.4")
        elif self.path == "/query":  # Mooncake's bootstrap server
            self.whole(json.dumps({"0": {"engine_id": engine.name}}).encode())
        else:
            super().do_GET()

    def do_POST(self) -> None:
        """Complete a request. One that is only prefilled is told where its KV cache is, as by vLLM's NixlConnector."""
        engine = self.server.stand_in
        assert isinstance(engine, Engine)
        asked = json.loads(self.body())
        engine.completions.append(asked)
        if asked.get("stream"):
            return self.stream(engine)
        prefills = (asked.get(HANDOVER) or {}).get("do_remote_decode")
        handover = {"remote_engine_id": engine.name, "remote_block_ids": [1, 2]} if prefills else None
        choice = {"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"model": engine.name, "choices": [choice], "usage": usage, HANDOVER: handover}
        return self.whole(json.dumps(answer).encode())

    def body(self) -> bytes:
        """Read the body, in chunks if it comes so: a proxy that passes it on as it arrives knows no length."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)
