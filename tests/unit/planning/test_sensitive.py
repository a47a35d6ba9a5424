"""Secret values are hidden wherever they stand, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from function.planning.sensitive import CHANGED, SENSITIVE, Tokens, masked, shown, tokens_in

CANARY = "c4n4ry"


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "Secret", "data": {"a": CANARY}, "stringData": {"b": CANARY}},
        {"spec": {"forProvider": {"manifest": {"kind": "Secret", "data": {"a": CANARY}}}}},
        {"env": [{"name": "HF_TOKEN", "value": CANARY}]},
        {"env": [{"name": "OPENAI_API_KEY", "value": CANARY}]},
        {"env": [{"name": "dbPassword", "value": CANARY}]},
        {"set": [{"name": "Authorization", "value": f"Bearer {CANARY}"}]},
        {"set": [{"name": "X-Custom", "value": f"Bearer {CANARY}"}]},
        {"values": {"auth": {"password": CANARY}}},
        {"values": {"auth": {"apiKey": CANARY, "clientSecret": CANARY}}},
        {"data": {"HF_TOKEN": CANARY}},
        {"kubeconfig": CANARY},
        {"data": {"config": f"apiVersion: v1\nkind: Config\nusers:\n- user: {{password: {CANARY}}}\n"}},
        {"data": {"tls": f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n"}},
        {"url": f"https://someone:{CANARY}@host/v1"},
        {"url": f"https://some:one@{CANARY}@host/v1"},
        {"args": ["--api-key", CANARY]},
        {"args": [f"--api-key={CANARY}"]},
        {"command": ["sh", "-c", f"exec vllm serve --hf-token {CANARY} --port 80"]},
        {"command": ["sh", "-c", f"API_KEY={CANARY} exec vllm"]},
        {"data": {"settings.json": f'{{"api_key": "{CANARY}", "port": 1}}'}},
        {"data": {"settings.yaml": f"port: 1\npassword: {CANARY}\n"}},
    ],
    ids=str,
)
def test_a_secret_value_is_hidden(value: Any) -> None:
    got = str(masked(value))

    assert (CANARY in got, SENSITIVE in got) == (False, True)


@pytest.mark.parametrize(
    "value",
    [
        {"env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]},
        {"auth": {"secretRef": {"name": "provider", "key": "api-key"}}},
        {"volumes": [{"name": "secret", "secret": {"secretName": "hf"}}]},
        {"args": ["--max-num-batched-tokens=8192", "--tokenizer", "x", "--model=Qwen/Qwen3-8B"]},
        {"args": ["--api-key=$(API_KEY)", "--api-key", "--port=80"]},
        {"tolerations": [{"key": "a/b", "operator": "Equal", "value": "gpu"}]},
        {"kind": "ConfigMap", "data": {"a": "b"}},
        {"image": "vllm/vllm-openai@sha256:0123", "url": "https://host/a@b"},
        {"selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]},
        {"cluster": {"existing": {"secretRef": {"name": "iowa-kubeconfig"}}}},
    ],
    ids=str,
)
def test_what_is_no_secret_is_shown(value: Any) -> None:
    assert masked(value) == value


def test_a_secret_that_changes_says_so() -> None:
    tokens = Tokens()
    before, same, other = (masked(f"--api-key={value}", tokens.hide) for value in ("a", "a", "b"))
    known = tokens_in(before)

    assert (before, same != other) == (same, True)
    assert [shown(before), shown(same, known), shown(other, known)] == [
        f"--api-key={SENSITIVE}", f"--api-key={SENSITIVE}", f"--api-key={CHANGED}",
    ]  # fmt: skip
