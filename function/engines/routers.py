"""Programs that take requests for engines, in the same container or elsewhere.

They are no engines: they have no model of their own, and no flag is added to them. They are known because they, and not
the engine behind them, have the port of their pod. Their images are compared before those of engines, because
`vllm-router` is no vLLM.
"""

from __future__ import annotations

from function.engines.server import LOCALHOST, Server

ROUTERS = (
    Server(
        name="SGLang's router",
        source="sglang-router 0.3.2: sglang_router/router_args.py",
        programs=(("sglang-router",), ("smg",), ("amg",)),
        modules=("sglang_router.launch_router", "sglang_router.launch_server"),
        images=("sgl-router", "sglang-router", "sgl-model-gateway"),
        port=30000,
        tls_flags=("--tls-cert-path",),
    ),
    Server(
        name="vLLM's router",
        source="vllm-router 0.1.17: vllm_router/router_args.py",
        programs=(("vllm-router",),),
        modules=("vllm_router.launch_router",),
        images=("vllm-router",),
        port=30000,
        host=LOCALHOST,
    ),
    Server(
        name="Dynamo's frontend",
        source="ai-dynamo 1.6.1: dynamo/frontend/frontend_args.py",
        modules=("dynamo.frontend",),
        images=("ai-dynamo", "dynamo-frontend"),
        port_flags=("--http-port",),
        port_variables=("DYN_HTTP_PORT",),
        port=8000,
        host_flags=("--http-host",),
        host_variables=("DYN_HTTP_HOST",),
        tls_flags=("--tls-cert-path",),
        tls_variables=("DYN_TLS_CERT_PATH",),
    ),
    Server(
        name="Triton's OpenAI frontend",
        source="Triton Inference Server 25.09: python/openai/openai_frontend/main.py",
        scripts=("openai_frontend/main.py",),
        model_flags=("--model-repository",),
        port_flags=("--openai-port",),
        port=9000,
        health="/health/ready",
        hub_flags=("--tokenizer",),
    ),
    Server(
        name="TensorRT-LLM's disaggregated server",
        source="TensorRT-LLM 1.2.1: tensorrt_llm/commands/serve.py",
        programs=(("trtllm-serve", "disaggregated"), ("trtllm-serve", "disaggregated_mpi_worker")),
        port_flags=(),
        port=8000,
        host="localhost",
        file_flags=("--config_file", "-c"),
    ),
    Server(
        name="LiteLLM",
        source="litellm 1.110.2: litellm/proxy/proxy_cli.py",
        programs=(("litellm",),),
        images=("litellm",),
        port=4000,
        port_variables=("PORT",),
        host_variables=("HOST",),
        tls_flags=("--ssl_certfile_path",),
        health="/health/readiness",
        live="/health/liveliness",
    ),
)
