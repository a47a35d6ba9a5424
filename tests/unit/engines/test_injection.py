"""Which flags an engine is given, and why it is given none."""

from __future__ import annotations

from typing import Any

import pytest

from function.engines import blocks, injection
from function.engines.injection import Injection
from tests.support import engine_containers as c
from tests.support.engine_containers import read

VLLMS = Injection(("--model=/mnt/models", "--served-model-name=org/m"))
NOTHING = Injection()
GIVEN = [
    (read(), VLLMS),
    (read("--max-model-len=1"), VLLMS),
    (read("--served-model-name", "a", "b"), Injection(("--model=/mnt/models",))),
    (read("--model=org/n"), NOTHING),
    (read("org/n"), NOTHING),
    (read("--config=x.yaml"), NOTHING),
    (read("$(ARGS)"), NOTHING),
    (read(image=c.OTHER, runtime="vLLM"), VLLMS),
    (read(image=c.TGI), Injection(("--model-id=/mnt/models", "--port=8000"))),
    (read("--model-id", "/mnt/models", "--port", "8080", "--num-shard", "1", image=c.TGI), NOTHING),
    (read(image=c.TEI), Injection(("--model-id=/mnt/models", "--port=8000"))),
    (read(image=c.KSERVE), Injection(("--model_dir=/mnt/models", "--model_name=org/m", "--http_port=8000"))),
    (read(image=c.LLAMA), Injection(("--port=8000",), "llama.cpp has no flag for a directory of weights")),
    (
        read(image=c.NIM),
        Injection(left_out="the entry point of its image takes no flags"),
    ),
    (
        read(image=c.SGLANG),
        Injection(left_out="the entry point of its image takes no flags"),
    ),
    (read("--port=1", command=("vllm", "serve")), Injection(left_out="no flag is added to a command")),
    (read("/mnt/models", command=("vllm", "serve")), NOTHING),
    (read("--model=/mnt/models", image=c.OTHER), Injection(left_out="the engine is not recognised")),
]


@pytest.mark.parametrize(("given", "want"), GIVEN)
def test_weights_are_named_to_an_engine_that_knows_the_flag(given: Any, want: Injection) -> None:
    assert injection.inject(given, weights="/mnt/models", name="org/m", port=8000) == want


def test_without_weights_or_a_name_nothing_is_made_up() -> None:
    assert injection.inject(read(), weights=None, name="org/m", port=8000) == NOTHING
    assert injection.inject(read(), weights="/w", name="", port=8000) == Injection(("--model=/w",))


PORTS = [
    (read(), ("--port=8001",)),
    (read("--port=$(P)"), ()),
    (read(image=c.KSERVE), ("--http_port=8001",)),
    (read(image=c.NIM), ()),
    (read(image=c.OTHER), ()),
    (read("x", command=("vllm", "serve")), ()),
]


@pytest.mark.parametrize(("given", "want"), PORTS)
def test_a_port_is_told_to_an_engine_that_knows_the_flag(given: Any, want: tuple[str, ...]) -> None:
    assert injection.inject(given, weights=None, name="", port=8001).args == want


BLOCKS = [
    (read("--block-size=32"), 32, 16),
    (read("--block_size", "32"), 32, 16),
    (read("--block-size=x"), None, 16),
    (read("--page-size=32"), None, 16),
    (read("--page-size", "64", image=c.SGLANG), 64, 1),
    (read(image=c.TRTLLM), None, 32),
    (read(), None, 16),
    (read("--page-size=8", image=c.OTHER), 8, None),
    (read(image=c.OTHER), None, None),
]


@pytest.mark.parametrize(("given", "told", "default"), BLOCKS)
def test_the_block_size_is_told_or_the_engines(given: Any, told: int | None, default: int | None) -> None:
    assert (blocks.told(given), blocks.default(given)) == (told, default)
