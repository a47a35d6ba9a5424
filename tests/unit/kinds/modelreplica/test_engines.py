"""What follows from the engine in a container: its port, its probes, what it is given, and what is said of it.

The situations are those of public reports, each with its whole kind: other engines, other helpers, other connectors.
"""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Request
from tests.support import arrivals, replicas
from tests.support.engine_containers import KSERVE, LLAMA, NIM, OLLAMA, OTHER, SGLANG, TEI, TGI, TRITON, TRTLLM

SHELL = ["/bin/bash", "-c"]


def settled(*members: Any, spec: Any = None, cached: bool = False, **engine: Any) -> Any:
    """The answer once everything has arrived and runs."""
    there = replicas.engine("e", *members, **engine)
    cache = {"modelCacheRef": {"name": "weights"}} if cached else {}
    xr = replicas.replica(**(spec or {"engines": [there]}), **cache)
    objects = [replicas.cache(staged="abc")] if cached else []
    first = replicas.compose(xr, *objects)
    return replicas.compose(arrivals.again(Request(xr=xr), first, arrivals.running), *objects)


def accepted(result: Any) -> str:
    return replicas.said(result, "ModelAccepted")


def container(result: Any, key: str = "deployment-e") -> dict[str, Any]:
    workload = replicas.manifests(result)[key]["spec"]
    template = workload.get("template") or workload["leaderWorkerTemplate"]["leaderTemplate"]
    return dict(template["spec"]["containers"][0])


def env(result: Any, key: str = "deployment-e") -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in container(result, key)["env"]}


SCRIPTS = [
    ("ray start --head --port=6379\nuntil ray status; do sleep 5; done\nexec vllm serve org/big", 8000, "by default"),
    ("ray start --head --port=6379; exec vllm serve org/big --port 9000", 9000, "from --port"),
    (
        "dcgm-exporter --port 9400 & exec python3 -m sglang.launch_server --port 9000 --host 0.0.0.0",
        9000,
        "from --port",
    ),
    ("node_exporter --port=9100 & exec trtllm-serve org/m --host 0.0.0.0", 8000, "by default"),
    ("vllm serve m --host 127.0.0.1 --port 8001 & exec sglang-router --port 9000", 9000, "from --port"),
]


@pytest.mark.parametrize(("script", "port", "source"), SCRIPTS)
def test_a_helpers_port_is_not_the_engines(script: str, port: int, source: str) -> None:
    leader = replicas.member(script, role="Leader", command=SHELL)
    worker = replicas.member("exec ray start --address=$(MODELPLANE_LEADER_ADDRESS):6379", role="Worker", command=SHELL)
    result = settled(leader, worker)
    got = container(result, "leaderworkerset-e")
    assert got["readinessProbe"]["httpGet"]["port"] == port
    assert [p["containerPort"] for p in got["ports"]] == [port]
    assert env(result, "leaderworkerset-e")["MODELPLANE_PORT"] == str(port)
    assert f"port {port} {source}" in accepted(result)


ON_A_CACHE = [
    (TGI, ("--model-id", "/mnt/models", "--port", "8080"), (), "port 8080 from --port"),
    (TGI, (), ("--model-id=/mnt/models", "--port=8000"), "given --model-id=/mnt/models --port=8000"),
    (TEI, (), ("--model-id=/mnt/models", "--port=8000"), "given --model-id=/mnt/models --port=8000"),
    (
        KSERVE,
        (),
        ("--model_dir=/mnt/models", "--model_name=Qwen/Qwen3-8B", "--http_port=8000"),
        "KServe (by its image)",
    ),
    (LLAMA, ("-m", "/mnt/models/m.gguf"), ("--port=8000",), "llama.cpp (by its image)"),
    (NIM, (), (), "not told of its weights at /mnt/models (the entry point of its image takes no flags)"),
    (OTHER, ("--dir=/mnt/models",), (), "not recognised, so it is given no flags (spec.engines[].runtime can name it)"),
]


@pytest.mark.parametrize(("image", "args", "given", "said"), ON_A_CACHE)
def test_an_engine_is_given_only_flags_that_it_knows(image: str, args: Any, given: Any, said: str) -> None:
    result = settled(replicas.member(*args, image=image), cached=True)
    assert container(result).get("args", []) == [*args, *given]
    assert said in accepted(result)


def test_the_user_can_name_the_engine_of_a_rebuilt_image() -> None:
    result = settled(replicas.member(image=OTHER), cached=True, runtime="vLLM")
    assert container(result)["args"] == ["--model=/mnt/models", "--served-model-name=Qwen/Qwen3-8B"]
    assert "engine e: vLLM (by spec.engines[].runtime), port 8000 by default" in accepted(result)


HUB = [
    ((), "1", ""),
    (("--model=/mnt/models", "--served-model-name=org/m"), "1", ""),
    (("--tokenizer=org/tokenizer",), None, "not given HF_HUB_OFFLINE, because --tokenizer may need a hub"),
    (("--speculative-config", '{"model": "org/draft"}'), None, "because --speculative-config may need a hub"),
    (("--lora-modules", "a=org/a"), None, "because --lora-modules may need a hub"),
    (("--model=org/other",), None, "because --model may need a hub"),
]


@pytest.mark.parametrize(("args", "want", "said"), HUB)
def test_an_engine_that_needs_the_hub_is_not_kept_from_it(args: Any, want: str | None, said: str) -> None:
    result = settled(replicas.member(*args), cached=True)
    assert env(result).get("HF_HUB_OFFLINE") == want
    assert said in accepted(result)
    assert ("may need a hub" in accepted(result)) is (want is None)


def test_workers_load_what_the_leader_is_told() -> None:
    leader = replicas.member("--tokenizer=org/t", role="Leader")
    result = settled(leader, replicas.member(role="Worker"), cached=True)
    gang = replicas.manifests(result)["leaderworkerset-e"]["spec"]["leaderWorkerTemplate"]
    worker = gang["workerTemplate"]["spec"]["containers"][0]
    assert "HF_HUB_OFFLINE" not in {variable["name"] for variable in worker["env"]}


def test_what_the_user_says_of_the_hub_is_the_users() -> None:
    users = {"name": "HF_HUB_OFFLINE", "value": "0"}
    result = settled(replicas.member("--tokenizer=org/t", env=[users]), cached=True)
    assert env(result)["HF_HUB_OFFLINE"] == "0"
    assert "HF_HUB_OFFLINE" not in accepted(result)


def test_each_engine_stays_offline_in_its_own_way() -> None:
    assert (
        env(settled(replicas.member("-m", "/mnt/models/m.gguf", image=LLAMA), cached=True))["LLAMA_ARG_OFFLINE"] == "1"
    )
    assert "HF_HUB_OFFLINE" not in env(settled(replicas.member(image=OLLAMA), cached=True))


PROBES = [
    ({"image": SGLANG, "command": ["sglang", "serve"]}, "/health", "/health"),
    ({"image": TRTLLM, "command": ["trtllm-serve", "m"]}, "/health", "/health"),
    ({"image": TRITON, "command": ["tritonserver"]}, "/v2/health/ready", "/v2/health/live"),
    ({"image": NIM}, "/v1/health/ready", "/v1/health/live"),
    ({"image": KSERVE}, "/v2/health/ready", "/v2/health/live"),
    ({"image": OLLAMA}, "/api/version", "/api/version"),
    ({"image": OTHER}, "/health", "/health"),
    ({"image": TRITON, "command": ["python3", "openai_frontend/main.py"]}, "/health/ready", "/health/ready"),
]


@pytest.mark.parametrize(("fields", "ready", "live"), PROBES)
def test_probes_ask_what_the_engine_answers(fields: Any, ready: str, live: str) -> None:
    got = container(settled(replicas.member(**fields)))
    paths = [got[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
    assert paths == [ready, ready, live]


def test_an_engine_with_tls_is_probed_over_it_and_named() -> None:
    member = replicas.member(
        "--model=org/m", "--port=8443", "--ssl-certfile=/tls/tls.crt", "--ssl-keyfile=/tls/tls.key"
    )
    result = settled(member)
    assert container(result)["readinessProbe"]["httpGet"] == {"path": "/health", "port": 8443, "scheme": "HTTPS"}
    assert "--ssl-certfile makes it serve TLS, so its probes ask over HTTPS" in accepted(result)
    assert "BackendTLSPolicy" in accepted(result)
    starting = replicas.compose(replicas.replica(replicas.engine("e", member)))
    xr = replicas.replica(replicas.engine("e", member))
    there = replicas.compose(arrivals.again(Request(xr=xr), starting, arrivals.starting))
    assert "port 8443 (--ssl-certfile makes it serve TLS" in replicas.said(there, "ModelReady")


LOOPBACK = [
    (replicas.member("--host=127.0.0.1"), "--host 127.0.0.1 is loopback, where no other pod reaches vLLM"),
    (replicas.member("x", image=SGLANG, command=["sglang", "serve"]), "SGLang listens on 127.0.0.1:30000 unless told"),
    (replicas.member("--uds=/run/s"), "vLLM listens on no port with --uds"),
]


@pytest.mark.parametrize(("member", "want"), LOOPBACK)
def test_an_engine_on_loopback_is_named(member: Any, want: str) -> None:
    xr = replicas.replica(replicas.engine("e", member))
    there = replicas.compose(arrivals.again(Request(xr=xr), replicas.compose(xr), arrivals.starting))
    assert want in replicas.said(there, "ModelReady")


def test_the_user_names_the_engine_for_messages_too() -> None:
    xr = replicas.replica(replicas.engine("e", replicas.member(image=OTHER, command=["/start.sh"]), runtime="SGLang"))
    there = replicas.compose(arrivals.again(Request(xr=xr), replicas.compose(xr), arrivals.starting))
    assert "SGLang listens on 127.0.0.1:30000" in replicas.said(there, "ModelReady")


def test_two_ports_that_disagree_are_refused_with_both_places() -> None:
    member = replicas.member("--port=9000", readinessProbe={"httpGet": {"port": 8000}})
    result = replicas.compose(replicas.replica(replicas.engine("e", member)))
    where = "spec.engines[0].members[0].template.spec.containers[0]"
    said = replicas.said(result, "ModelAccepted")
    assert said.startswith(f"False InvalidSpec: {where}.args: --port is port 9000, but readinessProbe in ")
    assert f"{where}.readinessProbe.httpGet.port is 8000" in said


def vllm(connector: str, **env_: str) -> Any:
    config = f'{{"kv_connector": "{connector}"}}'
    variables = [{"name": name, "value": value} for name, value in env_.items()]
    return replicas.member("--model=m", "--kv-transfer-config", config, env=variables)


def sglang(*args: str) -> Any:
    return replicas.member("--model-path=m", "--host=0.0.0.0", *args, image=SGLANG, command=["sglang", "serve"])


PORT = "--disaggregation-bootstrap-port=9000"
SPLIT = [
    (vllm("NixlConnector"), vllm("NixlConnector"), "nixlv2", None, "handed over by nixlv2, because of NixlConnector"),
    (vllm("MooncakeConnector"), vllm("MooncakeConnector"), "mooncake", None, "by mooncake with bootstrap port 8998"),
    (
        vllm("MooncakeConnector", VLLM_MOONCAKE_BOOTSTRAP_PORT="9000"),
        vllm("MooncakeConnector"),
        "mooncake",
        "9000",
        "by mooncake with bootstrap port 9000",
    ),
    (vllm("LMCacheConnectorV1"), vllm("LMCacheConnectorV1"), "shared-storage", None, "because of LMCacheConnectorV1"),
    (sglang(), sglang(), "sglang", None, "by sglang with bootstrap port 8998, because of SGLang"),
    (sglang(PORT), sglang(PORT), "sglang", "9000", "by sglang with bootstrap port 9000"),
    (vllm("MooncakeConnector"), replicas.member("m"), "mooncake", None, "because of MooncakeConnector"),
    (replicas.member("m"), replicas.member("m"), "nixlv2", None, "assumed: KV blocks of 16 tokens"),
    (vllm("OffloadingConnector"), vllm("OffloadingConnector"), "nixlv2", None, "no protocol for OffloadingConnector"),
]


@pytest.mark.parametrize(("prefill", "decode", "protocol", "bootstrap", "said"), SPLIT)
def test_the_sidecar_is_told_what_the_engines_say(
    prefill: Any, decode: Any, protocol: str, bootstrap: str | None, said: str
) -> None:
    result = settled(spec=replicas.split(prefill, decode))
    pod = replicas.manifests(result)["deployment-decode"]["spec"]["template"]["spec"]
    sidecar = pod["initContainers"][0]
    assert f"--kv-connector={protocol}" in sidecar["args"]
    assert {v["value"] for v in sidecar.get("env", ())} == ({bootstrap} if bootstrap else set())
    has_nixl = "VLLM_NIXL_SIDE_CHANNEL_HOST" in {v["name"] for v in pod["containers"][0]["env"]}
    assert has_nixl is (protocol == "nixlv2")
    assert said in accepted(result)
