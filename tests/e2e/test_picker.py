"""Prefill and decode, chosen by llm-d's real picker under the rights and the configuration that we compose for it.

Envoy asks the picker, real routing sidecars take what it chose, and stand-ins for the engines remember who was asked
what.
"""

import functools
from collections.abc import Iterator

import pytest

from function.manifests import definitions
from tests.e2e import client, inference, pairs, pins
from tests.e2e.client import Answer
from tests.e2e.engines import HANDOVER
from tests.e2e.kube import Api, Object, Refused
from tests.e2e.objects import changed
from tests.e2e.pairs import Parts, Picker
from tests.e2e.programs import Site
from tests.e2e.serving_pair import MANY, PREFIX, SHORT, TAIL, Serving, running, text
from tests.e2e.waiting import until

COPIES = 2
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
KINDS = ("inferenceobjectives", "inferencemodelrewrites")
EXTENSION, LLMD = "inference.networking.x-k8s.io", "llm-d.ai"
GROUPS = {EXTENSION: pins.INFERENCE_EXTENSION, LLMD: pins.PICKER}
REWRITES = (f"{EXTENSION}/v1alpha2", "InferenceModelRewrite")


@pytest.fixture(scope="module")
def pools(site: Site, cluster: Api) -> Iterator[None]:
    """The kind InferencePool is the one that our serving stack installs. In the end it is the tests' own."""
    cluster.apply(*definitions.bundle("function.kinds.servingstack").values())
    until(lambda: inference.established(cluster), "the kinds of the serving stack to be established")
    yield
    inference.install(cluster, site, pins.INFERENCE_EXTENSION)


@pytest.fixture(scope="module")
def parts(cluster: Api, pools: None) -> Iterator[Parts]:
    """A pair of vLLM on the inference cluster, with two pods of each phase."""
    composed = pairs.composed("pair", *pairs.vllm("NixlConnector"), copies=COPIES)
    pairs.apply(cluster, composed)
    yield composed
    pairs.remove(cluster, composed)


# The picker's rights


@pytest.fixture
def groups(site: Site, cluster: Api, request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """The API groups whose kinds are there for a picker to watch, beside its pool. In the end all is as it was."""
    define(site, cluster, *request.param)
    yield request.param
    define(site, cluster, EXTENSION)


def define(site: Site, cluster: Api, *groups: str) -> None:
    """Have the optional kinds of these groups there, and no others."""
    wanted = {f"{kind}.{group}" for kind in KINDS for group in groups}
    there = {one["metadata"]["name"] for one in cluster.list(*CRD)}
    for name in wanted - there:
        kind, _, group = name.partition(".")
        [path] = site.build(GROUPS[group]).files("crds").glob(f"*{group}_{kind}.yaml")
        cluster.apply_text("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", path.read_text())
    for one in cluster.list(*CRD):
        kind, _, group = one["metadata"]["name"].partition(".")
        if kind in KINDS and group in GROUPS and one["metadata"]["name"] not in wanted:
            cluster.delete(one)
            until(functools.partial(gone, cluster, one), f"{one['metadata']['name']} to be gone")
    until(lambda: inference.established(cluster), "the optional kinds to be established")


def gone(cluster: Api, one: Object) -> bool:
    return cluster.current(one) is None


@pytest.mark.parametrize(
    "groups", [(), (EXTENSION,), (EXTENSION, LLMD)], ids=["none", "extension", "llm-d"], indirect=True
)
def test_a_picker_serves_whatever_optional_kinds_are_installed(
    site: Site, cluster: Api, parts: Parts, groups: tuple[str, ...]
) -> None:
    """It is ready once it has read its pool, and it reads that only when it may watch all kinds that are there. Our
    serving stack installs none of them.
    """
    with pairs.picker(site, cluster, parts) as picker:
        assert "is forbidden" not in picker.start().log.read_text()


@pytest.mark.parametrize("groups", [(EXTENSION,)], ids=["extension"], indirect=True)
def test_a_picker_without_a_right_never_serves(site: Site, cluster: Api, parts: Parts, groups: tuple[str, ...]) -> None:
    """So the test above would notice one that is missing in the Role."""
    role = parts["picker-role"]
    cluster.apply(changed(role, "rules.1.resources", ["inferencepools", "inferenceobjectives"]))
    try:
        with pairs.picker(site, cluster, parts) as picker:
            until(lambda: is_refused(picker), "the right to be gone")
            log = picker.launch().log
            until(log.read_text, "a refusal", holds=lambda said: "is forbidden" in said)
            assert not picker.serves
    finally:
        cluster.apply(role)


def is_refused(picker: Picker) -> bool:
    """Whether its account may not list one of the optional kinds."""
    try:
        pairs.as_account(picker.cluster, picker.pod).list(*REWRITES, picker.pod["metadata"]["namespace"])
    except Refused:
        return True
    return False


# Requests


def test_an_engine_that_cannot_prefill_for_itself_never_has_to(site: Site, cluster: Api, pools: None) -> None:
    """SGLang: even a short prompt is prefilled on another pod. This pair is gone before the next is there, because two
    pickers would listen on the same ports.
    """
    parts = pairs.composed("sglang", *pairs.sglang())
    pairs.apply(cluster, parts)
    with running(site, cluster, parts) as pair:
        prompt = text(SHORT)
        assert client.complete(pair.url, prompt).status == 200

        for phase in ("prefill", "decode"):
            [engine] = pair.of(phase).values()
            until(lambda one=engine: one.prompts.count(prompt) == 1, f"{phase}, which may end after the answer")
    pairs.remove(cluster, parts)


@pytest.fixture(scope="module")
def pair(site: Site, cluster: Api, parts: Parts) -> Iterator[Serving]:
    with running(site, cluster, parts) as serving:
        yield serving


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
    assert {(len(one.prefill), len(one.decode)) for one in pair.until_all_take(SHORT)} == {(0, 1)}


def test_long_prompts_with_nothing_in_common_go_to_all_pods(pair: Serving) -> None:
    assert {(len(one.prefill), len(one.decode)) for one in pair.until_all_take(PREFIX)} == {(1, 1)}


def test_what_prompts_begin_with_stays_on_the_pods_that_have_it(pair: Serving) -> None:
    """Each prompt goes on differently, at such a length that the rest is prefilled elsewhere again."""
    prefix = text(PREFIX)
    asked = [pair.ask(prefix + text(TAIL)) for _ in range(MANY)]

    [(prefilled, decoded)] = {(*one.prefill, *one.decode) for one in asked}
    assert (prefilled in pair.of("prefill"), decoded in pair.of("decode")) == (True, True)


def test_a_prompt_that_is_cached_is_not_prefilled_again(pair: Serving) -> None:
    prompt = text(PREFIX)
    first, second = pair.ask(prompt), pair.ask(prompt + text(SHORT))

    assert [len(one.prefill) for one in (first, second)] == [1, 0]
    assert first.decode == second.decode


def test_an_answer_is_passed_on_as_it_comes(pair: Serving) -> None:
    """Each event arrives before the next is sent, through the sidecar and the gateway; a prefill is never streamed."""
    prefix = text(PREFIX)
    [decode] = [pair.engines[name] for name in pair.ask(prefix).decode]
    decode.say("one")

    with client.completed(pair.url, prefix + text(TAIL)) as events:
        assert next(events) == "one"
        decode.say("two")
        assert next(events) == "two"
        decode.say(None)
        assert list(events) == []
    [prefilled] = [asked for one in pair.of("prefill").values() for asked in one.taken()]
    assert not prefilled["stream"]


def test_a_request_that_the_picker_cannot_read_is_refused(pair: Serving) -> None:
    """Without a replica's picker, as in Unified, its engines decide what they answer."""
    assert client.complete(pair.url, text(SHORT), path="/tokenize").status == 400
    assert client.ask(pair.url, path="/v1/models").status == 200  # what has no body need not be read


def test_a_pod_whose_engine_has_requests_waiting_is_avoided(pair: Serving) -> None:
    """The picker reads that from the engine itself: on a decode pod through the sidecar."""
    busy, idle = pair.of("decode").values()
    busy.waiting = 8
    try:
        pair.until_only(idle.name)
    finally:
        busy.waiting = 0
    pair.until_all_take(SHORT)


# Pods and pickers that come and go


def test_a_pod_that_is_not_ready_gets_nothing(cluster: Api, pair: Serving) -> None:
    left, other = pair.of("decode")
    set_ready(cluster, pair.pods[left], "False")

    pair.until_only(other)
    assert pair.ask(text(PREFIX)).decode == [other]

    set_ready(cluster, pair.pods[left], "True")
    pair.until_all_take(SHORT)


def set_ready(cluster: Api, pod: Object, status: str) -> None:
    """Say of a pod what a kubelet would say by its readiness probe."""
    found = cluster.get("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
    conditions = found["status"]["conditions"]
    said = [one | {"status": status} if one["type"] in ("Ready", "ContainersReady") else one for one in conditions]
    cluster.patch(found, {"status": {"conditions": said}}, "status")


def test_without_a_picker_nothing_gets_through(pair: Serving) -> None:
    """A pool that is composed with FailClose sends nobody to a pod that nobody chose."""
    pair.picker.stop()
    asked = [pair.ask(text(SHORT)) for _ in range(MANY)]
    pair.picker.start()

    assert {one.answer.status for one in asked} == {500}  # 503 would mean that the gateway went on without it
    assert not any(one.decode or one.prefill for one in asked)
    pair.until_all_take(SHORT)


def test_a_pod_that_is_gone_gets_nothing(cluster: Api, parts: Parts, pair: Serving) -> None:
    """Whoever listened at its address would still answer. This is the last story of the pair."""
    cluster.apply(changed(parts["deployment-decode"], "spec.replicas", 1))
    [left] = until(lambda: present(cluster, pair), "one decode pod to go", holds=lambda seen: len(seen) == 1)

    pair.until_only(left)


def present(cluster: Api, pair: Serving) -> list[str]:
    return [name for name in pair.of("decode") if cluster.current(pair.pods[name])]
