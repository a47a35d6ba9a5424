"""A prefill/decode pair that takes requests, and who was asked for each of them.

A prompt's length decides where it is prefilled, and what it begins with decides which pods take it.
"""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e import client, pairs, picker_gateway
from tests.e2e.client import Answer
from tests.e2e.engines import Engine
from tests.e2e.kube import Api, Object
from tests.e2e.pairs import ROLE, Parts, Picker
from tests.e2e.programs import Site
from tests.e2e.waiting import until

CHARACTERS = 4  # of a token, as the picker estimates it (llm-d router v0.9, dataproducer/tokenizer/estimate.go)
PREFIX, TAIL, SHORT = 1024, 512, 40  # tokens; a tail alone is enough to be prefilled elsewhere
MANY = 12  # requests to pods at random: that one of two pods takes them all happens once in 2048 times
prompts = itertools.count(1)


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

    def until_all_take(self, tokens: int) -> list["Taken"]:
        """Ask with prompts of a length until each pod of the phases that take them had one, and give who was asked."""
        phases = ("prefill", "decode") if tokens >= PREFIX else ("decode",)
        wanted = {name for phase in phases for name in self.of(phase)}
        asked: list[Taken] = []
        late: set[str] = set()  # a prefill may end after the answer

        def had() -> set[str]:
            late.update(name for name, one in self.engines.items() if asked and one.completions)
            asked.append(self.ask(text(tokens)))
            return late.union(*((*one.prefill, *one.decode) for one in asked))

        until(had, f"each of {wanted} to be asked", holds=lambda seen: seen == wanted)
        return asked

    def until_only(self, name: str) -> None:
        """Ask with short prompts until one decode pod takes all of many."""

        def takers() -> set[str]:
            return {self.ask(text(SHORT)).answer.model for _ in range(MANY)}

        until(takers, f"all requests to go to {name}", holds=lambda seen: seen == {name})


@dataclass(frozen=True, slots=True)
class Taken:
    answer: Answer
    prefill: list[str]
    decode: list[str]


@contextlib.contextmanager
def running(site: Site, cluster: Api, parts: Parts) -> Iterator[Serving]:
    """Run a pair: what is in its pods, its picker, and a gateway before them."""
    pods = [one for phase in ("prefill", "decode") for one in pairs.pods(cluster, parts, f"deployment-{phase}")]
    with (
        pairs.serving(site, *pods) as engines,
        pairs.picker(site, cluster, parts) as picker,
        picker_gateway.serving(site, cluster, parts) as url,
    ):
        picker.start()
        serving = Serving(url, picker, engines, {one["metadata"]["name"]: one for one in pods})
        serving.until_all_take(PREFIX)
        yield serving


def text(tokens: int) -> str:
    """Words that no other text begins with."""
    number = f"{next(prompts):07x} "
    return (number * tokens)[: CHARACTERS * tokens]
