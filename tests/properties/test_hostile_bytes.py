"""Requests with wrong bytes: refused with a place, or answered. `make fuzz` tries many, and coverage guides some."""

from __future__ import annotations

from random import Random

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from hypothesis import given, settings
from hypothesis import strategies as st

from function import wire
from function.server.runner import Runner
from tests.fuzz import encoding, guided, messages
from tests.fuzz.laws import faults_of_bytes
from tests.support.cases import ROOT

CASES = [ROOT / "inferenceclass" / "a-class-is-available", ROOT / "modelcaller" / "a-caller-is-known-by-its-key"]
REPLICA = ROOT / "modelreplica" / "starting-names-what-is-waited-for"


@given(st.integers(0, 2**32))
@settings(derandomize=True, max_examples=40)
def test_wrong_bytes_are_refused_with_a_place_or_answered(seed: int) -> None:
    assert faults_of_bytes(messages.invented(Random(seed), CASES)) == []


@given(st.binary(max_size=120))
@settings(derandomize=True, max_examples=40)
def test_a_value_of_any_bytes_is_refused_with_a_place_or_answered(value: bytes) -> None:
    assert faults_of_bytes(_with_spec(value)) == []


@pytest.mark.parametrize("value", dict(messages.values()).values(), ids=dict(messages.values()))
def test_a_hostile_value_is_refused_with_a_place_or_answered(value: bytes) -> None:
    """As the spec, and as a field, an item of a list and a key of it."""
    entry = encoding.entry(b"replicas", value)
    listed = encoding.field(6, encoding.field(1, value))
    for spec in (value, encoding.field(5, entry), encoding.field(5, entry * 2), listed):
        assert faults_of_bytes(_with_spec(spec)) == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_have_is_refused(number: str) -> None:
    """Crossplane converts responses into JSON, and would give up the reconcile."""
    spec = encoding.field(5, encoding.entry(b"devices", dict(messages.values())[number]))
    with pytest.raises(wire.MalformedRequest, match=r"observed\.composite\.resource\.spec\.devices: .* is no number"):
        Runner(workers=1).answer(_with_spec(spec))


@pytest.mark.parametrize("field", ["desired", "context"])
def test_what_passes_through_must_be_readable_for_an_unknown_kind_too(field: str) -> None:
    number = {"desired": 3, "context": 5}[field]
    data = _with_spec(b"").replace(b"InferenceClass", b"InferenceClasp") + encoding.field(number, b"\x0a\xff")
    with pytest.raises(wire.MalformedRequest, match=f"{field}: it cannot be read"):
        Runner(workers=1).answer(data)


def test_a_refusal_is_bounded_and_harmless() -> None:
    """Keys come from users, and the refusal goes into a gRPC status and a log."""
    key = "\u202e\x1b[2J".encode() + b"a" * 100_000
    with pytest.raises(wire.MalformedRequest) as refused:
        Runner(workers=1).answer(_with_spec(encoding.field(5, encoding.entry(key, b"\x77"))))
    assert len(str(refused.value)) <= 1024
    assert str(refused.value).isprintable()


def test_a_namespaced_object_without_a_namespace_is_no_bug() -> None:
    request = fnv1.RunFunctionRequest.FromString(encoding.answered(REPLICA))
    del request.observed.composite.resource.fields["metadata"].struct_value.fields["namespace"]
    assert faults_of_bytes(request.SerializeToString()) == []


@pytest.mark.slow
@pytest.mark.skipif(not guided.is_installed(), reason="atheris exists for CPython before 3.15 on Linux x86_64")
@pytest.mark.parametrize("target", ["texts", "selectors", "templates"])
def test_bytes_that_coverage_chooses_find_no_fault(target: str) -> None:
    assert guided.run(target, seed=1, runs=2000) == 0


def _with_spec(value: bytes) -> bytes:
    """The request of a class with this Value as its spec."""
    request = fnv1.RunFunctionRequest.FromString(encoding.answered(CASES[0]))
    del request.observed.composite.resource.fields["spec"]
    spec = encoding.field(2, encoding.field(1, encoding.field(1, encoding.entry(b"spec", value))))
    return request.SerializeToString() + spec
