"""The bound on what the selectors of one deployment may cost together: the spec alone tells."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from function import cel
from function.api import modeldeployment as model
from function.core import InvalidSpec
from function.kinds.modeldeployment import selectors
from function.kinds.modeldeployment.selectors import MOST_BYTES, MOST_COST
from tests.bench.worst import SELECTORS

EXAMPLES = Path(__file__).parents[4] / "examples"
USUAL = (
    'device.driver == "gpu.nvidia.com"',
    'device.attributes["gpu.nvidia.com"].architecture == "Hopper"',
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{}Gi")) >= 0',
    'device.attributes["gpu.nvidia.com"].productName.matches("^NVIDIA (H100|H200|B{}).*$")',
    'device.attributes["gpu.nvidia.com"].all(k, k != "broken{}")',
    '"gpu.nvidia.com" in device.attributes && device.attributes["gpu.nvidia.com"].exists(k, k.startsWith("ecc{}"))',
)


def spec(texts: Iterable[str], per_request: int = 8) -> model.Spec:
    """A deployment of as few requests, members and engines as the selectors need."""
    wanted = list(texts)
    requests = [wanted[i : i + per_request] for i in range(0, len(wanted), per_request)]
    members = [requests[i : i + 16] for i in range(0, len(requests), 16)]
    engines = [{"name": f"e{i}", "members": [_member(asked)]} for i, asked in enumerate(members)]
    return model.parse({"spec": {"engines": engines}})


def _member(asked: list[list[str]]) -> dict[str, object]:
    devices = [{"name": f"r{i}", "selectors": [{"cel": text} for text in texts]} for i, texts in enumerate(asked)]
    return {
        "nodeSelector": {"devices": devices},
        "template": {"spec": {"containers": [{"name": "engine", "image": "i"}]}},
    }


def said(texts: Iterable[str]) -> str | None:
    """The problem; None where the selectors are admitted."""
    try:
        selectors.admitted(spec(texts), lambda _: None)
    except InvalidSpec as why:
        return str(why.condition.facts["problem"])
    return None


def counted(texts: Iterable[str]) -> tuple[int, int]:
    known = [cel.facts(text) for text in set(texts)]
    return sum(one.size for one in known), sum(one.price for one in known)


@pytest.mark.slow
def test_the_examples_are_far_below() -> None:
    paths = [path for path in EXAMPLES.rglob("*.yaml") if "bad-edit" not in str(path)]
    found = [d for path in paths for d in yaml.safe_load_all(path.read_text()) if d]
    deployments = [d for d in found if d["kind"] == model.KIND]
    assert len(deployments) > 3
    for deployment in deployments:
        size, cost = counted(selectors.texts(model.parse(deployment)))
        assert (size * 10 < MOST_BYTES, cost * 10 < MOST_COST) == (True, True), deployment["metadata"]["name"]


def test_64_usual_selectors_are_admitted() -> None:
    texts = [USUAL[i % len(USUAL)].replace("{}", str(i)) for i in range(64)]
    assert said(texts) is None
    size, cost = counted(texts)
    assert size * 2 < MOST_BYTES
    assert cost * 2 < MOST_COST


@pytest.mark.parametrize("text", SELECTORS.values(), ids=list(SELECTORS))
def test_one_that_kubernetes_admits_is_admitted_alone(text: str) -> None:
    try:
        cel.facts(text)
    except cel.InvalidSelector:
        return
    assert said([text]) is None


def test_each_text_counts_once() -> None:
    assert said(["lists.range(140000).all(x, x >= 0)"] * 1_000) is None


def test_the_selector_that_goes_over_is_named_with_both_sums() -> None:
    texts = [f"lists.range({i}).all(x, x >= 0)" for i in range(9_000, 9_006)]
    with pytest.raises(InvalidSpec) as caught:
        selectors.admitted(spec(texts, per_request=2), lambda _: None)
    facts = caught.value.condition.facts
    assert facts["field"] == "spec.engines[0].members[0].nodeSelector.devices[2].selectors[1].cel"
    want = (
        "(engine e0, Standalone, request r2) with it, the 6 distinct selectors of the deployment can cost 120,000 units"
    )
    assert facts["problem"].startswith(f"{want} per device, and the limit is 100,000")


def test_many_cheap_ones_are_too_many() -> None:
    """Each counts what surrounds an evaluation at least."""
    assert said(f"{i} > 0" for i in range(500)) is None
    assert "the 501 distinct selectors of the deployment can cost 100,200" in (
        said(f"{i} > 0" for i in range(501)) or ""
    )


def test_lengths_are_told_before_anything_is_read() -> None:
    """A text that is too much is not looked at, nor is any other."""
    read: list[int] = []
    texts = [f"'{letter * 9_000}' ==" for letter in "abc"]
    with pytest.raises(InvalidSpec, match="27,015 bytes, and the limit is 20,480"):
        selectors.admitted(spec(texts), read.append)
    assert read == []


def test_what_macros_copy_counts_as_length() -> None:
    texts = [f"optional.of({i}){'.optMap(x, x)' * 8}.hasValue()" for i in range(4)]
    assert sum(map(len, texts)) < 1_000
    assert "bytes, and the limit" in (said(texts) or "")


def test_bytes_count_and_not_characters() -> None:
    assert said([f"'{letter * 4_000}' == ''" for letter in "äö"]) is None
    assert "24,0" in (said([f"'{letter * 4_000}' == ''" for letter in "äöü"]) or "")


def test_whether_they_are_admitted_does_not_depend_on_what_was_compiled_before() -> None:
    texts = [f"lists.range({i}).all(x, x >= 0)" for i in range(8_000, 8_006)]
    first = said(texts)
    cel.clear_caches()
    for text in reversed(texts):
        cel.admitted(text)
    assert said(texts) == first is not None


def test_a_wrong_selector_is_told_though_the_others_cost_too_much() -> None:
    """In the order in which they are written."""
    costly = [f"lists.range({i}).all(x, x >= 0)" for i in range(9_000, 9_009)]
    assert "undeclared" in (said(["devices.driver == 'x'", *costly]) or "")
    assert "can cost" in (said([*costly, "devices.driver == 'x'"]) or "")
