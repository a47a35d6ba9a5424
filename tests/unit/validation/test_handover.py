"""What `modelplane validate` says of prefill and decode engines that hand no KV caches over."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation.validate import validate
from tests.support.samples import DEPLOYMENT, edited

NIXL = '--kv-transfer-config={"kv_connector": "NixlConnector", "kv_role": "kv_both"}'
MOONCAKE = '--kv-transfer-config={"kv_connector": "MooncakeConnector", "kv_role": "kv_consumer"}'
NESTED = "--kv-transfer-config.kv_connector=NixlConnector"
VLLM = "vllm/vllm-openai:v0.23.0"
AT = "spec.engines[{}].members[0].template.spec.containers[0]"


def engine(phase: str, container: dict[str, Any]) -> dict[str, Any]:
    devices = DEPLOYMENT["spec"]["engines"][0]["members"][0]["nodeSelector"]
    template = {"spec": {"containers": [{"name": "engine", "image": VLLM, **container}]}}
    return {"name": phase.lower(), "phase": phase, "members": [{"nodeSelector": devices, "template": template}]}


def said(prefill: dict[str, Any], decode: dict[str, Any]) -> list[tuple[str, str]]:
    xr = edited(DEPLOYMENT, "spec.serving.mode", "PrefillDecode")
    xr = edited(xr, "spec.engines", [engine("Prefill", prefill), engine("Decode", decode)])
    return [(found.field, found.message) for found in validate([xr]) if found.code == "no-handover"]


SILENT = (
    "has no --kv-transfer-config, so no KV cache is handed over, and the decode engine computes every prompt itself"
)


def test_an_engine_without_a_connector_is_named() -> None:
    assert said({}, {"args": [NIXL]}) == [(AT.format(0), SILENT)]
    assert said({"args": [NIXL]}, {}) == [(AT.format(1), SILENT)]


def test_two_engines_that_hand_over_in_different_ways_are_named() -> None:
    want = "hands KV caches over by mooncake, because of MooncakeConnector, but the prefill engine by nixlv2"
    assert said({"args": [NIXL]}, {"args": [MOONCAKE]}) == [(AT.format(1), want)]


QUIET: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"args": [NIXL]}, {"args": [NIXL]}),
    ({"args": ["--kv_transfer_config", NIXL.partition("=")[2]]}, {"args": [NESTED]}),
    ({"args": ["--config=/etc/vllm.yaml"]}, {"args": [NIXL]}),
    ({"command": ["sh", "-c", "vllm serve x $EXTRA"]}, {"args": [NIXL]}),
    ({"command": ["sh", "-c", "vllm serve x --kv-transfer-config=$KV"]}, {"args": [NIXL]}),
    ({"command": ["/start.sh"]}, {"args": [NIXL]}),
    ({"image": "lmsysorg/sglang:v0.5.21"}, {"image": "lmsysorg/sglang:v0.5.21"}),
    ({"image": "registry.example.org/engine:1"}, {"image": "registry.example.org/engine:1"}),
]


@pytest.mark.parametrize(("prefill", "decode"), QUIET)
def test_what_hands_over_or_cannot_be_read_is_not_named(prefill: dict[str, Any], decode: dict[str, Any]) -> None:
    assert said(prefill, decode) == []


def test_unified_engines_need_no_connector() -> None:
    assert [found for found in validate([DEPLOYMENT]) if found.code == "no-handover"] == []
