"""The engines that are recognised, one row each.

A row states facts of a foreign program, with the version and the source that they were read from. Order matters only
for images: the first row whose text is in the image's repository wins. Routers come before engines.

What no row says is not known. An engine that is not in the table is served all the same: it has a port and probes, but
it is given no flag, and nobody knows under which name it answers.
"""

from __future__ import annotations

from function.engines.server import LOCALHOST, Server

_VLLM_HUB_JSON = (
    ("--speculative-config", ("model", "tokenizer")),
    ("--default-mm-loras", ("*",)),
)

VLLM = Server(
    name="vLLM",
    source="vllm 0.33.0: vllm/entrypoints/common/cli_args.py, vllm/engine/arg_utils.py, docker/Dockerfile",
    programs=(("vllm", "serve"),),
    modules=("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"),
    images=("vllm",),
    entry_takes_flags=True,
    bare_images=("nvidia/vllm", "rocm/vllm"),
    model_flags=("--model",),
    positional_model=True,
    file_flags=("--config",),
    gives_model="--model",
    name_flags=("--served-model-name",),
    checks_names=True,
    gives_name="--served-model-name",
    port=8000,
    unix_flags=("--uds",),
    silent_flags=("--headless",),
    tls_flags=("--ssl-certfile", "--ssl-keyfile"),
    hub_flags=(
        "--tokenizer",
        "--hf-config-path",
        "--speculative-model",
        "--spec-model",
        "--generation-config",
        "--chat-template",
    ),
    hub_json=_VLLM_HUB_JSON,
    hub_lists=("--lora-modules",),
    block_flags=("--block-size",),
    block=16,
    connector_flag="--kv-transfer-config",
    llmd_type="vllm",
)
"""`--generation-config` may also be `auto` or `vllm`. `--speculative-model` is of versions before 0.10."""

SGLANG = Server(
    name="SGLang",
    source="sglang 0.5.23: sglang/srt/arg_groups/fields, sglang/cli/serve.py",
    programs=(("sglang", "serve"),),
    modules=("sglang.launch_server",),
    images=("sglang",),
    model_flags=("--model-path", "--model"),
    positional_model=True,
    file_flags=("--config",),
    name_flags=("--served-model-name",),
    port=30000,
    host=LOCALHOST,
    tls_flags=("--ssl-certfile", "--ssl-keyfile"),
    hub_flags=(
        "--tokenizer-path",
        "--speculative-draft-model-path",
        "--speculative-draft-model",
        "--speculative-token-map",
        "--uno-lora-path",
        "--chat-template",
    ),
    hub_lists=("--lora-paths",),
    block_flags=("--page-size",),
    block=1,
    llmd_type="sglang",
)
"""Its images start NVIDIA's entry point, which runs `args` as a program. It takes requests for any model name."""

TENSORRT_LLM = Server(
    name="TensorRT-LLM",
    source="TensorRT-LLM 1.2.1: tensorrt_llm/commands/serve.py, docs/source/commands/trtllm-serve",
    programs=(
        ("trtllm-serve", "serve"),
        ("trtllm-serve", "embeddings"),
        ("trtllm-serve", "rerank"),
        ("trtllm-serve", "mm_embedding_serve"),
        ("trtllm-serve",),
    ),
    images=("tensorrt-llm", "trtllm", "trt-llm"),
    positional_model=True,
    file_flags=("--config", "--extra_llm_api_options"),
    name_flags=("--served_model_name",),
    port=8000,
    host="localhost",
    hub_flags=("--tokenizer", "--chat_template"),
    block=32,
    llmd_type="trtllm-serve",
)
"""The tokens of a KV block are set in the file: kv_cache_config.tokens_per_block."""

TRITON = Server(
    name="Triton",
    source="Triton Inference Server 25.09: src/command_line_parser.cc, docs/user_guide",
    programs=(("tritonserver",),),
    images=("tritonserver",),
    model_flags=("--model-repository", "--model-store"),
    port_flags=("--http-port",),
    port=8000,
    host_flags=("--http-address",),
    checks_names=True,
    health="/v2/health/ready",
    live="/v2/health/live",
    llmd_type="triton-tensorrt-llm",
)
"""A model repository holds models of any names, so the model is not the name in requests."""

TGI = Server(
    name="TGI",
    source="text-generation-inference 3.3: docs/source/reference/launcher.md, Dockerfile",
    programs=(("text-generation-launcher",),),
    images=("text-generation-inference", "tgi"),
    entry_takes_flags=True,
    model_flags=("--model-id",),
    model_variables=("MODEL_ID",),
    gives_model="--model-id",
    port_flags=("--port", "-p"),
    port_variables=("PORT",),
    port=80,
    host_flags=("--hostname",),
    host_variables=("HOSTNAME",),
    hub_flags=("--tokenizer-config-path",),
    hub_lists=("--lora-adapters",),
    hub_variables=("LORA_ADAPTERS", "TOKENIZER_CONFIG_PATH"),
)
"""Its image sets PORT=80; the program alone listens on 3000. It takes requests for any model name."""

TEI = Server(
    name="TEI",
    source="text-embeddings-inference 1.8: docs/source/en/cli_arguments.md, Dockerfile",
    programs=(("text-embeddings-router",),),
    images=("text-embeddings-inference",),
    entry_takes_flags=True,
    model_flags=("--model-id",),
    model_variables=("MODEL_ID",),
    gives_model="--model-id",
    name_flags=("--served-model-name",),
    name_variables=("SERVED_MODEL_NAME",),
    port_flags=("--port", "-p"),
    port_variables=("PORT",),
    port=80,
    host_flags=("--hostname",),
    host_variables=("HOSTNAME",),
)
"""Its image sets PORT=80; the program alone listens on 3000. It takes requests for any model name."""

LLAMA_CPP = Server(
    name="llama.cpp",
    source="llama.cpp b11434: tools/server/README.md, .devops/cuda.Dockerfile",
    programs=(("llama-server",), ("llama", "serve")),
    images=("llama.cpp", "llama-server"),
    entry_takes_flags=True,
    model_flags=("--model", "-m", "--hf-repo", "-hf", "-hfr", "--model-url", "-mu", "--docker-repo", "-dr"),
    model_variables=("LLAMA_ARG_MODEL", "LLAMA_ARG_HF_REPO", "LLAMA_ARG_MODEL_URL", "LLAMA_ARG_DOCKER_REPO"),
    file_flags=("--models-preset",),
    name_flags=("--alias", "-a"),
    name_variables=("LLAMA_ARG_ALIAS",),
    port_variables=("LLAMA_ARG_PORT",),
    port=8080,
    host_variables=("LLAMA_ARG_HOST",),
    tls_flags=("--ssl-cert-file", "--ssl-key-file"),
    tls_variables=("LLAMA_ARG_SSL_CERT_FILE", "LLAMA_ARG_SSL_KEY_FILE"),
    offline="LLAMA_ARG_OFFLINE",
    hub_flags=("--spec-draft-hf", "-hfd", "-hfrd", "--hf-repo-draft", "--hf-repo-v", "-hfv", "-hfrv", "--mmproj-url"),
    hub_variables=("LLAMA_ARG_SPEC_DRAFT_HF_REPO", "LLAMA_ARG_HFD_REPO", "LLAMA_ARG_MMPROJ_URL"),
)
"""The program alone listens on loopback; its image sets LLAMA_ARG_HOST=0.0.0.0. The default port becomes 9931 in a
later release. Its model is one file, so a directory is nothing to give it. It takes requests for any model name."""

NIM = Server(
    name="NIM",
    source="NIM LLM 2.1: docs, reference/environment-variables and reference/architecture",
    images=("/nim/",),
    model_variables=("NIM_MODEL_PATH", "NIM_MODEL_NAME", "NIM_MODEL_PROFILE"),
    name_variables=("NIM_SERVED_MODEL_NAME",),
    checks_names=True,
    port_flags=(),
    port_variables=("NIM_SERVER_PORT", "NIM_HTTP_API_PORT"),
    port=8000,
    host_flags=(),
    tls_variables=("NIM_SSL_MODE",),
    health="/v1/health/ready",
    live="/v1/health/live",
    hub_variables=("NIM_DRAFT_MODEL_PATH", "NIM_PEFT_SOURCE"),
    llmd_type="vllm",
)
"""It is set by variables. NIM_MODEL_NAME and NIM_HTTP_API_PORT are of versions before 2. The model of an image is known
only to the image."""

KSERVE = Server(
    name="KServe",
    source="kserve 0.21.0: kserve/model_server.py, python/huggingfaceserver/huggingfaceserver/__main__.py",
    modules=("huggingfaceserver",),
    images=("huggingfaceserver",),
    entry_takes_flags=True,
    model_flags=("--model_dir", "--model_id"),
    gives_model="--model_dir",
    name_flags=("--model_name",),
    default_name="model",
    checks_names=True,
    gives_name="--model_name",
    port_flags=("--http_port",),
    port=8080,
    host_flags=(),
    tls_flags=("--ssl_certfile", "--ssl_keyfile"),
    health="/v2/health/ready",
    live="/v2/health/live",
    hub_flags=("--tokenizer", "--hf-config-path", "--speculative-model", "--generation-config"),
    hub_json=_VLLM_HUB_JSON,
    hub_lists=("--lora-modules",),
    block_flags=("--block-size",),
    connector_flag="--kv-transfer-config",
)
"""It takes vLLM's engine flags too. Its OpenAI API is below /openai."""

OLLAMA = Server(
    name="Ollama",
    source="ollama 0.17.4: envconfig/config.go, server/routes.go, Dockerfile",
    programs=(("ollama", "serve"),),
    images=("ollama",),
    checks_names=True,
    port_flags=(),
    port_variables=("OLLAMA_HOST",),
    port=11434,
    host_flags=(),
    host_variables=("OLLAMA_HOST",),
    health="/api/version",
    offline="",
)
"""The program alone listens on loopback; its image sets OLLAMA_HOST=0.0.0.0. Models are pulled while it runs, under
names of its own registry."""

ENGINES = (VLLM, SGLANG, TENSORRT_LLM, TRITON, TGI, TEI, LLAMA_CPP, NIM, KSERVE, OLLAMA)

BY_NAME = {engine.name: engine for engine in ENGINES}
"""Engines by the word in `engines[].runtime`."""
