"""Whether an engine needs a hub although its weights are there."""

from __future__ import annotations

from typing import Any

import pytest

from function.engines import offline
from tests.support import engine_containers as c
from tests.support.engine_containers import read, script

SGL = ("python3", "-m", "sglang.launch_server")
NEEDS = [
    (read(), ""),
    (read("--model=/mnt/models", "--served-model-name=org/m", "--tokenizer", "/mnt/models/tok"), ""),
    (read("--model=./m", "--tokenizer=../t", "--hf-config-path=~/c"), ""),
    (read("--model=s3://bucket/m"), ""),
    (read("--model=org/m"), "--model"),
    (read("--model=gpt2"), "--model"),
    (read("org/m"), "the model"),
    (read("--tokenizer=org/tokenizer"), "--tokenizer"),
    (read("--tokenizer", "org/tokenizer"), "--tokenizer"),
    (read("--tokenizer=$(TOKENIZER)", TOKENIZER="org/tokenizer"), "--tokenizer"),
    (read("--tokenizer=$(TOKENIZER)", TOKENIZER=c.SECRET), "--tokenizer"),
    (read("--tokenizer-mode=slow", "--tokenizer-revision=main"), ""),
    (read("--hf-config-path=org/c"), "--hf-config-path"),
    (read("--generation-config=vllm"), ""),
    (read("--generation-config=org/g"), "--generation-config"),
    (read("--chat-template=/t.jinja"), ""),
    (read("--chat-template=examples/t.jinja"), ""),
    (read("--chat-template={{ a/b }}"), ""),
    (read("--chat-template=org/t"), "--chat-template"),
    (read("--speculative-config", '{"method": "ngram", "num_speculative_tokens": 3}'), ""),
    (read("--speculative-config", '{"model": "[ngram]"}'), ""),
    (read("--speculative-config", '{"model": "/mnt/draft"}'), ""),
    (read("--speculative-config", '{"model": "org/draft"}'), "--speculative-config"),
    (read('--speculative_config={"model": "org/draft"}'), "--speculative-config"),
    (read("--speculative-config.model", "org/draft"), "--speculative-config"),
    (read("--speculative-config=$(S)"), "--speculative-config"),
    (read("--speculative-config", "[" * 100_000), ""),
    (read("--speculative-config=no json"), ""),
    (read("--speculative-model=org/draft"), "--speculative-model"),
    (read("--spec-model=org/draft"), "--spec-model"),
    (read("--lora-modules", "a=/a", "b=/b"), ""),
    (read("--lora-modules", "a=/a", "b=org/b"), "--lora-modules"),
    (read("--lora-modules", '{"name": "a", "path": "org/a"}'), "--lora-modules"),
    (read('--lora-modules=[{"name": "a", "path": "/a"}, {"name": "b", "path": "org/b"}]'), "--lora-modules"),
    (read('--default-mm-loras={"audio": "org/a"}'), "--default-mm-loras"),
    (read("--config=/etc/vllm.yaml"), "--config"),
    (read("--otlp-traces-endpoint=a/b", "--reasoning-parser=deepseek_r1"), ""),
    (script("vllm serve /mnt/models --tokenizer org/t"), "--tokenizer"),
    (script("hf download org/lora && vllm serve /mnt/models"), "hf"),
    (script("huggingface-cli download org/lora; vllm serve /mnt/models"), "huggingface-cli"),
    (script("python3 -c 'import hub; hub.snapshot_download(\"a\")'; vllm serve /mnt/models"), "python3"),
    (script("python3 -c 'print(1)'; vllm serve /mnt/models"), ""),
    (script("vllm serve /mnt/models --host localhost & vllm-router"), ""),
    (read(*SGL, "--model-path=/m", "--tokenizer-path=org/t", image=c.SGLANG), "--tokenizer-path"),
    (
        read(*SGL, "--model-path=/m", "--speculative-draft-model-path", "org/d", image=c.SGLANG),
        "--speculative-draft-model-path",
    ),
    (read(*SGL, "--model-path=/m", "--lora-paths", "a=/a", "org/b", image=c.SGLANG), "--lora-paths"),
    (read(*SGL, "--model-path=/m", '--lora-paths={"lora_name": "a", "lora_path": "/a"}', image=c.SGLANG), ""),
    (read(*SGL, "--model-path=/m", "--chat-template=chatml", image=c.SGLANG), ""),
    (read("trtllm-serve", "/m", "--tokenizer", "org/t", image=c.TRTLLM), "--tokenizer"),
    (read("trtllm-serve", "/m", "--extra_llm_api_options", "/x.yaml", image=c.TRTLLM), "--extra_llm_api_options"),
    (read("--model-id", "/mnt/models", image=c.TGI), ""),
    (read("--model-id", "/m", "--lora-adapters", "a=/a,org/b", image=c.TGI), "--lora-adapters"),
    (read("--model-id=/m", image=c.TGI, LORA_ADAPTERS="org/b"), "LORA_ADAPTERS"),
    (read(image=c.TGI, MODEL_ID="org/m"), "MODEL_ID"),
    (read(image=c.TGI, MODEL_ID="/m"), ""),
    (read(image=c.TEI, MODEL_ID=c.SECRET), "MODEL_ID"),
    (read("-m", "/mnt/models/m.gguf", image=c.LLAMA), ""),
    (read("-hf", "org/m:Q4_K_M", image=c.LLAMA), "-hf"),
    (read("-m", "/m.gguf", "-hfd", "org/d", image=c.LLAMA), "-hfd"),
    (read("--model_id=org/m", image=c.KSERVE), "--model_id"),
    (read("--model_dir=pvc://claim/m", image=c.KSERVE), ""),
    (read("--tokenizer=org/t", image=c.OTHER), "--tokenizer"),
    (read("--draft", "org/t", image=c.OTHER), "--draft"),
    (read("org/t", image=c.OTHER), "an argument"),
    (read("-psecret", "org/t", image=c.OTHER), "an argument"),
    (read("--served-model-name=org/m", "--port", "8000", image=c.OTHER), ""),
    (read("--dir=/mnt/models", image=c.OTHER, DRAFT="org/d"), "DRAFT"),
    (read("--dir=/mnt/models", image=c.OTHER, TZ="Europe/Berlin", MODEL_NAME="org/m", FILE="a/b.json"), ""),
]


@pytest.mark.parametrize(("given", "want"), NEEDS)
def test_what_names_a_repository_needs_the_hub(given: Any, want: str) -> None:
    """A path does not, nor does the model's name in requests."""
    assert offline.needs_hub(given) == want


def test_each_engine_has_its_own_variable() -> None:
    got = [offline.variable(read(image=image)) for image in (c.VLLM, c.OTHER, c.LLAMA, c.OLLAMA)]
    assert got == ["HF_HUB_OFFLINE", "HF_HUB_OFFLINE", "LLAMA_ARG_OFFLINE", ""]
