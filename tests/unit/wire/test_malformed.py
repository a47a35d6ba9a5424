"""What Crossplane can never send is refused with its place, and never taken for a bug or an answer."""

from __future__ import annotations

import copy
from contextlib import suppress

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from function import wire
from function.server.runner import Runner
from function.wire import messages
from tests.bench import fleet, shuffled

XR = fleet.deployment("single", 2)
CLUSTERS = fleet.clusters(2)
REPLICAS = fleet.replicas(2, 2, "single")
OBSERVED = {"replica": {**REPLICAS[0], "status": {}}}
"""It has not served, so the replicas on its cluster are read."""
RUNNER = Runner(workers=1)


def request(xr=XR, observed=OBSERVED, clusters=CLUSTERS, replicas=REPLICAS) -> bytes:
    found = {"cluster-cluster-00000": clusters[:1], "clusters": clusters, "own-replicas": []}
    found["replicas-on-cluster-00000"] = replicas
    return shuffled.request(xr, observed, found, tag="t")


def without(manifest, *path):
    """A copy that lacks one field."""
    changed = copy.deepcopy(manifest)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return changed


def test_the_request_itself_is_sound() -> None:
    assert not bugs(RUNNER.answer(request()))


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (request(xr=without(XR, "metadata")), "observed.composite.resource.metadata"),
        (request(xr=without(XR, "metadata", "name")), "observed.composite.resource.metadata.name"),
        (request(xr={**XR, "metadata": "x"}), "observed.composite.resource.metadata"),
        (request(xr={**XR, "kind": 7}), "observed.composite.resource.kind"),
        (request(xr={**XR, "apiVersion": ["v1"]}), "observed.composite.resource.apiVersion"),
        (request(xr={**XR, "metadata": {**XR["metadata"], "labels": ["x"]}}), "composite.resource.metadata.labels"),
        (request(observed={"r": without(REPLICAS[0], "metadata")}), "observed.resources[r].resource.metadata"),
        (request(observed={"r": {}}), "observed.resources[r].resource.apiVersion"),
        (request(observed={"r": {**REPLICAS[0], "kind": None}}), "observed.resources[r].resource.kind"),
        (request(clusters=[CLUSTERS[0], {}]), "required_resources[clusters].items[1].resource"),
        (request(clusters=[without(CLUSTERS[0], "metadata", "name")]), "].items[0].resource.metadata.name"),
        (request(replicas=[{**REPLICAS[0], "metadata": []}]), "[replicas-on-cluster-00000].items[0]"),
        (
            request(replicas=[{**REPLICAS[0], "metadata": {"name": 7}}]),
            "00000].items[0].resource.metadata.name",
        ),
        (b"\xff\xff\xff", "not a RunFunctionRequest"),
    ],
)
def test_an_object_without_identity_is_refused_with_its_place(data: bytes, path: str) -> None:
    with pytest.raises(wire.MalformedRequest) as refused:
        RUNNER.answer(data)
    assert path in str(refused.value)


GARBAGE = [
    b"\x1a\x05ab",
    b"\x1a\x02\xff\xfe",
    b"\x1a",
    b"\x11\x00",
    b"\x2a\x03\x0a\xff\xff",
    b"\x77",
    b"\x20",
    b"\x32\x01",
]


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("path", ["spec", "replicas", "status", "kind"])
def test_bytes_that_are_no_value_are_refused_with_their_place(garbage: bytes, path: str) -> None:
    """Objects are decoded when they are read, so it is noticed while composing."""
    place, spoil = _SPOILT[path]
    parsed = messages.Request.FromString(request())
    spoil(parsed, garbage)
    with pytest.raises(wire.MalformedRequest) as refused:
        RUNNER.answer(parsed.SerializeToString())
    assert str(refused.value).startswith(f"{place}: ")


def _spoil_spec(parsed, garbage):
    parsed.observed.composite.resource.fields["spec"] = garbage


def _spoil_inside(parsed, garbage):
    spec = messages.Value.FromString(parsed.observed.composite.resource.fields["spec"])
    spec.struct_value.fields["replicas"] = garbage
    parsed.observed.composite.resource.fields["spec"] = spec.SerializeToString()


def _spoil_status(parsed, garbage):
    parsed.required_resources["clusters"].items[0].resource.fields["status"] = garbage


def _spoil_observed(parsed, garbage):
    parsed.observed.resources["replica"].resource.fields["kind"] = garbage


_SPOILT = {
    "spec": ("observed.composite.resource.spec", _spoil_spec),
    "replicas": ("observed.composite.resource.spec.replicas", _spoil_inside),
    "status": ("required_resources[clusters].items[0].resource.status", _spoil_status),
    "kind": ("observed.resources[replica].resource.kind", _spoil_observed),
}


@pytest.mark.parametrize("field", ["desired", "context"])
def test_what_passes_through_must_be_readable(field: str) -> None:
    parsed = messages.Request.FromString(request())
    setattr(parsed, field, b"\x0a\xff")
    with pytest.raises(wire.MalformedRequest, match=field):
        RUNNER.answer(parsed.SerializeToString())


def test_objects_may_nest_deeper_than_protobuf_reads_at_once() -> None:
    """Kubernetes stores them, and a template of a tenant must not cost other tenants anything."""
    deep: object = "end"
    for _ in range(200):
        deep = {"k": deep}
    replica = {**REPLICAS[0], "spec": {**REPLICAS[0]["spec"], "deep": deep}}
    cluster = {**CLUSTERS[0], "status": {**CLUSTERS[0]["status"], "deep": deep}}
    data = request(replicas=[replica], observed={"replica": replica}, clusters=[cluster])
    assert not bugs(RUNNER.answer(data))


def test_a_bug_on_a_sound_request_stays_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("function.registry.of", lambda _: broken)
    assert bugs(RUNNER.answer(request()))


# Whatever arrives


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_answered(data: bytes) -> None:
    answered_or_refused(data)


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_request_with_wrong_bytes_is_refused_or_answered(data) -> None:
    """A few bytes of it are others, and it may end early."""
    changed = bytearray(SOUND)
    for _ in range(data.draw(st.integers(0, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(changed)), st.integers(0, len(changed))))
    answered_or_refused(bytes(changed[:end]))


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_object_with_wrong_bytes_in_it_is_refused_or_answered(data) -> None:
    """The lengths around it are right, so that it is noticed only when it is read."""
    parsed = messages.Request.FromString(SOUND)
    objects = [
        parsed.observed.composite,
        *parsed.observed.resources.values(),
        *(item for found in parsed.required_resources.values() for item in found.items),
    ]
    fields = data.draw(st.sampled_from(objects)).resource.fields
    key = data.draw(st.sampled_from(sorted(fields)))
    held = bytearray(fields[key])
    for _ in range(data.draw(st.integers(1, 3))):
        held[data.draw(st.integers(0, len(held) - 1))] = data.draw(st.integers(0, 255))
    fields[key] = bytes(held)
    answered_or_refused(parsed.SerializeToString())


SOUND = request()


def answered_or_refused(data: bytes) -> None:
    with suppress(wire.MalformedRequest):
        assert bugs(RUNNER.answer(data)) == []


def bugs(answer: bytes) -> list[str]:
    response = fnv1.RunFunctionResponse.FromString(answer)
    return [r.message for r in response.results if r.severity == fnv1.SEVERITY_FATAL and "bug" in r.message]
