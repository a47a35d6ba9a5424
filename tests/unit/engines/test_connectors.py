"""How two engines hand KV caches over, and what the sidecar must be told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.engines import connectors
from function.engines.connectors import Connector
from function.vocabulary import versions
from tests.support import engine_containers as c
from tests.support.engine_containers import read, script


def vllm(name: str, *nested: str, **env: Any) -> Any:
    inner = {"kv_connector_extra_config": {"connectors": [{"kv_connector": one} for one in nested]}} if nested else {}
    return read("--model=m", "--kv-transfer-config", json.dumps({"kv_connector": name, **inner}), **env)


def told(protocol: str, by: str) -> Connector:
    return Connector(protocol, by)


ASSUMED = Connector("nixlv2", "")
UNKNOWN = Connector("nixlv2", "", "llm-d's sidecar has no protocol for its connector")
SGL = ("python3", "-m", "sglang.launch_server", "--model-path=m")
PROTOCOLS = [
    (vllm("NixlConnector"), told("nixlv2", "NixlConnector")),
    (vllm("NixlPushConnector"), told("nixlv2", "NixlPushConnector")),
    (vllm("MooncakeConnector"), told("mooncake", "MooncakeConnector")),
    (vllm("LMCacheConnectorV1"), told("shared-storage", "LMCacheConnectorV1")),
    (vllm("MooncakeStoreConnector"), told("shared-storage", "MooncakeStoreConnector")),
    (vllm("ExampleConnector"), told("shared-storage", "ExampleConnector")),
    (
        vllm("OffloadingConnector"),
        Connector("nixlv2", "", "llm-d's sidecar has no protocol for OffloadingConnector before v0.10"),
    ),
    (vllm("P2pNcclConnector"), UNKNOWN),
    (vllm("MultiConnector", "OffloadingConnector", "NixlConnector"), told("nixlv2", "NixlConnector")),
    (vllm("MultiConnector", "LMCacheConnectorV1", "MooncakeConnector"), told("mooncake", "MooncakeConnector")),
    (vllm("MultiConnector", "P2pNcclConnector", "LMCacheConnectorV1"), told("shared-storage", "LMCacheConnectorV1")),
    (vllm("MultiConnector", "MultiConnector"), ASSUMED),
    (read('--kv-transfer-config={"kv_connector":"MooncakeConnector"}'), told("mooncake", "MooncakeConnector")),
    (read('--kv_transfer_config={"kv_connector":"MooncakeConnector"}'), told("mooncake", "MooncakeConnector")),
    (read("--kv-transfer-config.kv_connector", "MooncakeConnector"), told("mooncake", "MooncakeConnector")),
    (read("--kv-transfer-config.kv_connector=MooncakeConnector"), told("mooncake", "MooncakeConnector")),
    (
        script('vllm serve m --kv-transfer-config \'{"kv_connector": "MooncakeConnector"}\''),
        told("mooncake", "MooncakeConnector"),
    ),
    (
        read("--kv-transfer-config=$(K)", K='{"kv_connector":"MooncakeConnector"}'),
        told("mooncake", "MooncakeConnector"),
    ),
    *(
        (read(f"--kv-transfer-config={text}"), ASSUMED)
        for text in ("$(K)", "{", "[]", '"x"', "{}", '{"kv_connector": 1}')
    ),
    (read('--kv-transfer-config={"kv_connector":"MultiConnector","kv_connector_extra_config":[]}'), ASSUMED),
    (read("--kv-transfer-config"), ASSUMED),
    (read(), ASSUMED),
    (read(*SGL, image=c.SGLANG), told("sglang", "SGLang")),
    (read("trtllm-serve", "m", image=c.TRTLLM), ASSUMED),
    (read(image=c.OTHER), ASSUMED),
]


@pytest.mark.parametrize(("given", "want"), PROTOCOLS)
def test_the_engines_connector_gives_the_sidecars_protocol(given: Any, want: Connector) -> None:
    assert connectors.connector(given) == want


def test_a_later_sidecar_knows_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "SIDECAR_IMAGE", "registry.example.org:443/sidecar:v0.10.0")
    assert connectors.connector(vllm("OffloadingConnector")) == told("offloading", "OffloadingConnector")


BOOTSTRAP = [
    (read(*SGL, image=c.SGLANG), 8998),
    (read(*SGL, "--disaggregation-bootstrap-port", "9000", image=c.SGLANG), 9000),
    (read(*SGL, "--disaggregation-bootstrap-port=$(P)", image=c.SGLANG), 8998),
    (vllm("MooncakeConnector"), 8998),
    (vllm("MooncakeConnector", VLLM_MOONCAKE_BOOTSTRAP_PORT="9000"), 9000),
    (vllm("MooncakeConnector", VLLM_MOONCAKE_BOOTSTRAP_PORT=c.SECRET), 8998),
    (
        script(
            "export VLLM_MOONCAKE_BOOTSTRAP_PORT=9000; vllm serve m --kv-transfer-config.kv_connector MooncakeConnector"
        ),
        9000,
    ),
    (vllm("NixlConnector"), None),
    (read(), None),
]


@pytest.mark.parametrize(("given", "want"), BOOTSTRAP)
def test_the_prefill_engine_tells_its_bootstrap_port(given: Any, want: int | None) -> None:
    assert connectors.bootstrap_port(given, connectors.connector(given).protocol) == want
