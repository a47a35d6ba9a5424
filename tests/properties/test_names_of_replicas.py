"""Whatever a replica is called and made of, what it becomes has legal names that nothing else has."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from function.core import dig, plain
from function.vocabulary import names
from tests.support import replicas

pytestmark = pytest.mark.slow

DNS_1035 = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

dns_labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
xr_names = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,29}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,29}[a-z0-9])?)?", fullmatch=True)
requests = st.lists(
    st.builds(
        lambda name, count: {"name": name, "deviceClassName": "gpu.nvidia.com", "count": count},
        dns_labels,
        st.integers(1, 16),
    ),
    max_size=2,
    unique_by=lambda request: request["name"],
)
args = st.lists(
    st.sampled_from(["Qwen/Qwen3-8B", "--port=9000", "--port", "--host=::", "-x", "--port=$(P)"]), max_size=3
)
copies = st.integers(1, 64)
engine_names = dns_labels | st.sampled_from(["picker", "serving", "engine", "secret"])
"""Any, and those of other parts."""


@st.composite
def engines(draw: Any) -> dict[str, Any]:
    def member(**fields: Any) -> Any:
        return replicas.member(*draw(args), claims=draw(requests), pool=draw(st.sampled_from(["gpu", "cpu"])), **fields)

    if draw(st.booleans()):
        return replicas.engine(draw(engine_names), member(), copies=draw(copies))
    workers = draw(st.integers(1, 63))
    leader, worker = member(role="Leader"), member(role="Worker", nodes=workers)
    return replicas.engine(draw(engine_names), leader, worker, copies=draw(copies))


mixes = st.lists(engines(), min_size=1, max_size=4, unique_by=lambda engine: engine["name"])


@st.composite
def specs(draw: Any) -> dict[str, Any]:
    mix = draw(mixes)
    if len(mix) == 2 and draw(st.booleans()):
        phased = [engine | {"phase": phase} for engine, phase in zip(mix, ("Prefill", "Decode"), strict=True)]
        return {"serving": {"mode": "PrefillDecode"}, "engines": phased}
    return {"engines": mix}


@given(xr_names, dns_labels, specs())
def test_names_are_legal_and_distinct(name: str, namespace: str, spec: dict[str, Any]) -> None:
    result = replicas.compose(replicas.replica(name=name, namespace=namespace, **spec))
    there = list(replicas.manifests(result).values())
    for manifest in there:
        _legal(manifest)
    taken = Counter(thing for m in there for thing in _taken(m))
    assert [thing for thing, count in taken.items() if count > 1] == []
    objects = Counter(r.manifest["metadata"]["name"] for r in result.resources.values())
    assert max(objects.values(), default=1) == 1


@given(xr_names, xr_names, dns_labels, dns_labels, specs())
def test_replicas_share_nothing_but_their_namespace(
    name: str, other: str, namespace: str, elsewhere: str, spec: dict[str, Any]
) -> None:
    """Two names, or one name in two namespaces: no thing on the cluster, no pod that answers, no Object."""
    assume((name, namespace) != (other, elsewhere))
    one = replicas.compose(replicas.replica(name=name, namespace=namespace, **spec))
    two = replicas.compose(replicas.replica(name=other, namespace=elsewhere, **spec))
    remote = [_remote(result) for result in (one, two)]
    objects = [
        {(r.manifest["metadata"]["namespace"], r.manifest["metadata"]["name"]) for r in x.resources.values()}
        for x in (one, two)
    ]
    assert remote[0] & remote[1] == set()
    assert objects[0] & objects[1] == set()


@given(xr_names, dns_labels, specs(), specs(), st.data())
def test_an_edit_never_changes_what_is_immutable(
    name: str, namespace: str, spec: dict[str, Any], other: dict[str, Any], data: Any
) -> None:
    """For every key that both renders have. Crossplane keeps the name of a key, and the provider its Object's thing."""
    edited = _edited(spec, other, data)
    before = replicas.manifests(replicas.compose(replicas.replica(name=name, namespace=namespace, **spec)))
    after = replicas.manifests(replicas.compose(replicas.replica(name=name, namespace=namespace, **edited)))
    for key in before.keys() & after.keys():
        assert _identity(before[key]) == _identity(after[key]), key
        assert _immutable(before[key]) == _immutable(after[key]), key


@pytest.mark.parametrize(("longest", "is_gang"), [(names.DNS_LABEL, False), (names.LEADERWORKERSET, True)])
@given(name=xr_names, engine=dns_labels)
def test_a_part_is_as_long_as_its_kind_allows(longest: int, is_gang: bool, name: str, engine: str) -> None:
    replica = names.NamespacedName("ml", name)
    for part in (names.part(replica, engine, longest=longest), names.workload(replica, engine, is_gang=is_gang)):
        assert DNS_1035.fullmatch(part)
        assert len(part) <= longest


def _edited(spec: dict[str, Any], other: dict[str, Any], data: Any) -> dict[str, Any]:
    """One edit: another spec altogether, or an engine of it with other copies, image, claims or workers."""
    edit = data.draw(st.sampled_from(["spec", "copies", "image", "claims", "drop"]))
    edited = plain(spec)
    engine = data.draw(st.sampled_from(edited["engines"]))
    chosen = engine["members"][0]
    if edit == "spec":
        return other
    if edit == "copies":
        engine["copies"] = data.draw(copies)
    if edit == "image":
        chosen["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.34.0"
    if edit == "claims":
        chosen["deviceRequests"] = data.draw(requests)
    if edit == "drop" and len(edited["engines"]) > 1 and "serving" not in edited:
        edited["engines"].remove(engine)
    return edited


def _taken(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """Itself, and the headless Service that LeaderWorkerSet makes under its own name."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    return [(kind, name), *([("Service", name)] if kind == "LeaderWorkerSet" else [])]


def _legal(manifest: dict[str, Any]) -> None:
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    assert len(name) <= names.DNS_LABEL
    assert (DNS_SUBDOMAIN if kind == "Namespace" else DNS_1035).fullmatch(name), (kind, name)
    assert kind != "LeaderWorkerSet" or len(name) <= names.LEADERWORKERSET
    for labelled in _metadata(manifest):
        assert all(LABEL_VALUE.fullmatch(value) for value in (labelled.get("labels") or {}).values())


def _metadata(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    paths = (
        ("metadata",),
        ("spec", "template", "metadata"),
        ("spec", "leaderWorkerTemplate", "leaderTemplate", "metadata"),
        ("spec", "leaderWorkerTemplate", "workerTemplate", "metadata"),
    )
    return [found for path in paths if (found := dig(manifest, *path))]


def _remote(result: Any) -> set[tuple[str, ...]]:
    """What is on the cluster, and what the pods that answer are found by."""
    there = [m for m in replicas.manifests(result).values() if m["kind"] != "Namespace"]
    things = {(m["kind"], m["metadata"]["namespace"], m["metadata"]["name"]) for m in there}
    chosen = {
        ("selector", m["metadata"]["namespace"], str(m["spec"]["selector"]))
        for m in there
        if m["kind"] in ("Service", "Deployment", "InferencePool")
    }
    return things | chosen


def _identity(manifest: dict[str, Any]) -> tuple[str, ...]:
    return manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"]


def _immutable(manifest: dict[str, Any]) -> Any:
    """The API server's own rules, and what LeaderWorkerSet's webhook refuses (lws v0.8)."""
    fixed = {
        "Deployment": ("spec", "selector"),
        "LeaderWorkerSet": ("spec", "leaderWorkerTemplate", "subGroupPolicy"),
        "ResourceClaimTemplate": ("spec",),
        "RoleBinding": ("roleRef",),
        "Service": ("spec", "clusterIP"),
    }
    if manifest.get("immutable"):
        return manifest.get("type"), manifest.get("data"), manifest.get("binaryData")
    return dig(manifest, *fixed[manifest["kind"]]) if manifest["kind"] in fixed else None
