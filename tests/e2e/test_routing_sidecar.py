"""llm-d's real routing sidecar, with the arguments and variables that we compose, for every way of handing over."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e import client, pairs
from tests.e2e.engines import HANDOVER, Body, Engine
from tests.e2e.kube import Object
from tests.e2e.programs import Site
from tests.e2e.waiting import until

PREFILL, DECODE = "198.18.4.1", "198.18.4.2"
BOOTSTRAP = 8990  # not the default
WAYS = {
    "nixlv2": pairs.vllm("NixlConnector"),
    "mooncake": pairs.vllm("MooncakeConnector", VLLM_MOONCAKE_BOOTSTRAP_PORT=str(BOOTSTRAP)),
    "shared-storage": pairs.vllm("SharedStorageConnector"),
    "sglang": pairs.sglang(f"--disaggregation-bootstrap-port={BOOTSTRAP}"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    prefill: Engine
    decode: Engine

    def ask(self, *, splits: bool) -> tuple[list[Body], list[Body]]:
        """Have a prompt completed as a picker would have it, and give what the engines were asked for."""
        port = self.prefill.port  # the sidecar's, too: a pool has one for all pods
        header = {"x_prefiller_host_port": f"{PREFILL}:{port}"} if splits else {}
        answer = client.complete(f"http://{DECODE}:{port}", "Why?", **header)
        assert answer == client.Answer(200, self.decode.name)
        if splits:
            until(lambda: self.prefill.completions, "a prefill, which may end after the answer")
        return self.prefill.taken(), self.decode.taken()


@contextlib.contextmanager
def running(site: Site, way: str) -> Iterator[Pair]:
    """Run what is in the pods of a pair, without a cluster."""
    parts = pairs.composed("sidecar", *WAYS[way])
    with contextlib.ExitStack() as stack:
        prefill, decode = (
            stack.enter_context(pairs.inside(site, pod(parts[f"deployment-{phase}"], f"{phase}-{way}", address)))
            for phase, address in (("prefill", PREFILL), ("decode", DECODE))
        )
        yield Pair(prefill, decode)


def pod(deployment: Object, name: str, address: str) -> Object:
    spec = deployment["spec"]["template"]["spec"]
    return {"metadata": {"name": name}, "spec": spec, "status": {"podIP": address}}


@pytest.mark.parametrize("way", WAYS)
def test_a_request_without_a_prefill_pod_is_passed_on_as_it_is(site: Site, way: str) -> None:
    with running(site, way) as pair:
        prefilled, [decoded] = pair.ask(splits=False)

        assert prefilled == []
        assert decoded.keys() == {"model", "messages", "max_tokens"}


def test_with_nixl_the_answer_of_the_prefill_goes_to_the_decode_engine(site: Site) -> None:
    with running(site, "nixlv2") as pair:
        [prefilled], [decoded] = pair.ask(splits=True)

        assert (prefilled["max_tokens"], decoded["max_tokens"]) == (1, client.MOST_TOKENS)
        assert prefilled[HANDOVER]["do_remote_decode"]
        assert decoded[HANDOVER]["remote_engine_id"] == pair.prefill.name


def test_with_mooncake_the_decode_engine_is_told_where_to_ask(site: Site) -> None:
    """The sidecar asks the prefill pod's bootstrap server for the engine, at the port that we tell it."""
    with running(site, "mooncake") as pair:
        [prefilled], [decoded] = pair.ask(splits=True)

        assert prefilled["max_tokens"] == 1
        assert decoded[HANDOVER]["remote_bootstrap_addr"] == f"http://{PREFILL}:{BOOTSTRAP}"
        assert decoded[HANDOVER]["remote_engine_id"] == pair.prefill.name
        assert decoded[HANDOVER]["transfer_id"] == prefilled[HANDOVER]["transfer_id"]


def test_with_a_shared_store_the_prompt_is_prefilled_first(site: Site) -> None:
    with running(site, "shared-storage") as pair:
        [prefilled], [decoded] = pair.ask(splits=True)

        assert (prefilled["max_tokens"], decoded["max_tokens"]) == (1, client.MOST_TOKENS)


@pytest.mark.parametrize("way", ["nixlv2", "shared-storage"])
def test_a_prompt_whose_prefill_fails_is_not_decoded(site: Site, way: str) -> None:
    """The client is told. A decode engine that prefilled in its place would be slow, and nobody would know why."""
    with running(site, way) as pair:
        nowhere = {"x_prefiller_host_port": f"{PREFILL}:1"}
        answer = client.complete(f"http://{DECODE}:{pair.prefill.port}", "Why?", **nowhere)

        assert (answer.status, pair.decode.taken()) == (502, [])


def test_with_sglang_both_engines_meet_in_a_room(site: Site) -> None:
    with running(site, "sglang") as pair:
        [prefilled], [decoded] = pair.ask(splits=True)

        assert prefilled == decoded
        assert (decoded["bootstrap_host"], decoded["bootstrap_port"]) == (PREFILL, BOOTSTRAP)
