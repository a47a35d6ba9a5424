"""Prefill and decode, chosen by llm-d's real picker under the rights and the configuration that we compose for it.

Envoy asks the picker, real routing sidecars take what it chose, and stand-ins for the engines remember who was asked
what. The picker takes four characters for a token (llm-d router v0.9, dataproducer/tokenizer/estimate.go).
"""

import contextlib
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e import client, inference, pairs, picker_gateway, pins
from tests.e2e.client import Answer
from tests.e2e.engines import HANDOVER, Engine
from tests.e2e.kube import Api, Object
from tests.e2e.objects import changed
from tests.e2e.pairs import ROLE, Parts, Picker
from tests.e2e.programs import Site
from tests.e2e.waiting import until

COPIES = 2
CHARACTERS = 4  # of a token
PREFIX, TAIL, SHORT = 1024, 512, 40  # tokens; a tail alone is enough to be prefilled elsewhere
MANY = 12  # requests to pods at random: that one of two pods takes them all happens once in 2048 times
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
KINDS = ("inferenceobjectives", "inferencemodelrewrites")
EXTENSION, LLMD = "inference.networking.x-k8s.io", "llm-d.ai"
prompts = itertools.count(1)


@pytest.fixture(scope="module")
def parts(cluster: Api) -> Iterator[Parts]:
    """A pair of vLLM on the inference cluster, with two pods of each phase."""
    composed = pairs.composed("pair", *pairs.vllm("NixlConnector"), copies=COPIES)
    pairs.apply(cluster, composed)
    yield composed
    cluster.delete(composed["namespace"])


# The picker's rights


@pytest.fixture
def groups(site: Site, cluster: Api, request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """The API groups whose kinds are there for a picker to watch, beside its pool. In the end all is as it was."""
    define(site, cluster, *request.param)
    yield request.param
    define(site, cluster, EXTENSION)


def define(site: Site, cluster: Api, *groups: str) -> None:
    for module in (pins.INFERENCE_EXTENSION, pins.PICKER):
        inference.install(cluster, site, module)
    unwanted = {f"{kind}.{group}" for kind in KINDS for group in (EXTENSION, LLMD) if group not in groups}
    for one in cluster.list(*CRD):
        if one["metadata"]["name"] in unwanted:
            cluster.delete(one)
            until(functools.partial(gone, cluster, one), f"{one['metadata']['name']} to be gone")


def gone(cluster: Api, one: Object) -> bool:
    return cluster.current(one) is None


@pytest.mark.parametrize(
    "groups", [(), (EXTENSION,), (EXTENSION, LLMD)], ids=["none", "extension", "llm-d"], indirect=True
)
def test_a_picker_serves_whatever_optional_kinds_are_installed(
    site: Site, cluster: Api, parts: Parts, groups: tuple[str, ...]
) -> None:
    """It is ready once it has read its pool, and it reads that only when it may watch all kinds that are there."""
    with pairs.picker(site, cluster, parts) as picker:
        assert "is forbidden" not in picker.process.log.read_text()


@pytest.mark.parametrize("groups", [(EXTENSION,)], ids=["extension"], indirect=True)
def test_a_picker_without_a_right_never_serves(site: Site, cluster: Api, parts: Parts, groups: tuple[str, ...]) -> None:
    """So the test above would notice one that is missing in the Role."""
    role = parts["picker-role"]
    cluster.apply(changed(role, "rules.1.resources", ["inferencepools", "inferenceobjectives"]))
    try:
        with pairs.picker(site, cluster, parts, ready=False) as picker:
            until(picker.process.log.read_text, "a refusal", holds=lambda log: "is forbidden" in log)
            assert not picker.serves
    finally:
        cluster.apply(role)


# Requests


@dataclass(frozen=True, slots=True)
class Serving:
    """A pair that takes requests at a URL."""

    url: str
    picker: Picker
    engines: dict[str, Engine]
    pods: dict[str, Object]

    def of(self, phase: str) -> dict[str, Engine]:
        return {name: self.engines[name] for name, pod in self.pods.items() if pod["metadata"]["labels"][ROLE] == phase}

    def ask(self, prompt: str) -> "Taken":
        """Have a prompt completed, and give who was asked for it."""
        for one in self.engines.values():
            one.taken()
        answer = client.complete(self.url, prompt)
        asked = {phase: {name: one.taken() for name, one in self.of(phase).items()} for phase in ("prefill", "decode")}
        return Taken(
            answer, **{phase: [name for name, all_ in each.items() for _ in all_] for phase, each in asked.items()}
        )

    def spread(self, phase: str, *asked: "Taken") -> set[str]:
        return {name for one in asked for name in getattr(one, phase)}


@dataclass(frozen=True, slots=True)
class Taken:
    answer: Answer
    prefill: list[str]
    decode: list[str]


@pytest.fixture(scope="module")
def pair(site: Site, cluster: Api, parts: Parts) -> Iterator[Serving]:
    with running(site, cluster, parts) as serving:
        yield serving


@contextlib.contextmanager
def running(site: Site, cluster: Api, parts: Parts) -> Iterator[Serving]:
    """Run a pair: what is in its pods, its picker, and a gateway before them."""
    pods = [one for phase in ("prefill", "decode") for one in pairs.pods(cluster, parts, f"deployment-{phase}")]
    with (
        pairs.serving(site, *pods) as engines,
        pairs.picker(site, cluster, parts) as picker,
        picker_gateway.serving(site, cluster, parts) as url,
    ):
        serving = Serving(url, picker, engines, {one["metadata"]["name"]: one for one in pods})
        until(lambda: client.complete(url, text(SHORT)), "an answer", holds=lambda seen: seen.status == 200)
        yield serving


def text(tokens: int) -> str:
    """Words that no other text begins with."""
    number = f"{next(prompts):07x} "
    return (number * tokens)[: CHARACTERS * tokens]


def test_a_long_prompt_is_prefilled_on_one_pod_and_decoded_on_another(pair: Serving) -> None:
    """The sidecar beside the decode engine has it prefilled, and hands on what the prefill engine answered."""
    prompt = text(PREFIX)
    for one in pair.engines.values():
        one.taken()

    answer = client.complete(pair.url, prompt)

    [(prefilled, [first])] = [(name, asked) for name, one in pair.of("prefill").items() if (asked := one.taken())]
    [(decoded, [second])] = [(name, asked) for name, one in pair.of("decode").items() if (asked := one.taken())]
    assert answer == Answer(200, decoded)
    assert first["messages"] == second["messages"] == [{"role": "user", "content": prompt}]
    assert (first["max_tokens"], second["max_tokens"]) == (1, client.MOST_TOKENS)
    assert second[HANDOVER]["remote_engine_id"] == prefilled


def test_a_short_prompt_is_decoded_alone_and_any_pod_takes_it(pair: Serving) -> None:
    asked = [pair.ask(text(SHORT)) for _ in range(MANY)]

    assert [(len(one.prefill), len(one.decode)) for one in asked] == [(0, 1)] * MANY
    assert pair.spread("decode", *asked) == set(pair.of("decode"))


def test_what_prompts_begin_with_stays_on_the_pods_that_have_it(pair: Serving) -> None:
    """Each prompt goes on differently, at such a length that the rest is prefilled elsewhere again."""
    prefix = text(PREFIX)
    asked = [pair.ask(prefix + text(TAIL)) for _ in range(MANY)]

    assert [(len(one.prefill), len(one.decode)) for one in asked] == [(1, 1)] * MANY
    assert [len(pair.spread(phase, *asked)) for phase in ("prefill", "decode")] == [1, 1]


def test_a_prompt_that_is_cached_is_not_prefilled_again(pair: Serving) -> None:
    prompt = text(PREFIX)
    first, second = pair.ask(prompt), pair.ask(prompt + text(SHORT))

    assert [len(one.prefill) for one in (first, second)] == [1, 0]
    assert first.decode == second.decode


def test_prompts_with_nothing_in_common_go_to_all_pods(pair: Serving) -> None:
    asked = [pair.ask(text(PREFIX)) for _ in range(MANY)]

    assert pair.spread("prefill", *asked) == set(pair.of("prefill"))
    assert pair.spread("decode", *asked) == set(pair.of("decode"))
