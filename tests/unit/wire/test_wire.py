"""Protobuf in, plain data; plain data, protobuf out."""

from __future__ import annotations

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from function import wire
from function.core import ComposedResource, Condition, Event, Requirement, Result, plain
from tests.bench import shuffled

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=4)


def request(xr, **required) -> bytes:
    req = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="tag"))
    req.observed.composite.resource.update(xr)
    for name, found in required.items():
        req.required_resources[name].SetInParent()
        for item in found:
            req.required_resources[name].items.add().resource.update(item)
    return req.SerializeToString()


@given(objects)
def test_what_is_read_lazily_is_what_was_sent(manifest):
    assert plain(wire.decode(request(manifest)).request.xr) == manifest


@given(objects)
def test_a_lazy_object_is_a_mapping_like_any_other(manifest):
    lazy = wire.decode(request(manifest)).request.xr
    assert lazy == manifest
    assert sorted(lazy) == sorted(manifest)
    assert len(lazy) == len(manifest)
    assert {key: lazy.get(key) for key in manifest} == manifest
    assert lazy.get("no such key\0", 7) == 7
    assert "no such key\0" not in lazy
    with pytest.raises(KeyError):
        lazy["no such key\0"]


@given(objects, st.data())
def test_a_digest_tells_content_and_nothing_else(manifest, data):
    """Neither the order of keys nor what stands under other keys."""
    other = data.draw(st.one_of(objects, st.permutations(list(manifest.items())).map(dict)))
    first, second = read({"m": manifest, "x": 1}), read({"x": 2, "m": other})
    assert (first.digest("m") == second.digest("m")) == (typed(manifest) == typed(other))


def test_a_digest_keeps_its_keys_apart():
    first, second = read({"a": "x", "b": ""}), read({"a": "", "b": "x"})
    assert first.digest("a", "b") != second.digest("a", "b")
    assert first.digest("a", "b") == second.digest("b", "a")
    assert first.digest("a") != first.digest("missing")


@given(objects)
def test_a_text_that_is_there_is_mentioned(manifest):
    lazy = read({"m": manifest})
    assert all(lazy.mentions("m", text) for text in texts(manifest))
    assert not lazy.mentions("m", "no such text\0")
    assert not lazy.mentions("missing", "")


def read(manifest):
    """As it arrives from Crossplane."""
    return wire.decode(shuffled.request(manifest, {}, {}, tag="tag")).request.xr


def typed(value):
    """To Python, True is 1, and 0.0 is -0.0."""
    if isinstance(value, dict):
        return {key: typed(child) for key, child in value.items()}
    if isinstance(value, list):
        return [typed(child) for child in value]
    return repr(float(value)) if type(value) in (int, float) else repr(value)


def texts(value):
    if isinstance(value, dict):
        return [text for key, child in value.items() for text in (key, *texts(child))]
    if isinstance(value, list):
        return [text for child in value for text in texts(child)]
    return [value] if isinstance(value, str) else []


@given(objects)
def test_the_bench_writes_requests_as_the_sdk_reads_them(manifest):
    data = shuffled.request(manifest, {"k": manifest}, {"all": [manifest]}, tag="tag")
    want = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="tag"))
    composed, found = want.observed.resources["k"], want.required_resources["all"].items.add()
    for resource in (want.observed.composite, composed, found):
        resource.resource.SetInParent()
        resource.resource.update(manifest)
    assert fnv1.RunFunctionRequest.FromString(data) == want


def test_a_long_text_and_a_large_number_survive():
    manifest = {"text": "é" * 5000, "max": 2**53 - 1, "over": float(2**60), "half": 0.5}
    assert plain(wire.decode(request(manifest)).request.xr) == manifest


def test_whole_numbers_are_ints():
    lazy = wire.decode(request({"replicas": 3})).request.xr
    assert repr(lazy["replicas"]) == "3"


def test_not_answered_is_not_answered_with_nothing():
    decoded = wire.decode(request({}, none=[], one=[{"kind": "A"}])).request
    assert plain(dict(decoded.required)) == {"none": [], "one": [{"kind": "A"}]}
    assert "other" not in decoded.required


def test_bytes_that_are_no_request_are_refused():
    with pytest.raises(wire.MalformedRequest, match="not a RunFunctionRequest"):
        wire.decode(b"\xff\xff\xff")


def test_an_answer_is_said_whole():
    call = wire.decode(request({}))
    result = Result(
        ready=False,
        conditions=(Condition("A", "True", "Because", "so it is"),),
        resources={"x": ComposedResource({"kind": "X", "spec": {"n": 3}}, ready=True)},
        status={"n": 1},
        events=(Event("Placed", "there", warning=True),),
        requirements=(
            Requirement("named", "v1", "Secret", match_name="s", namespace="ml"),
            Requirement("labelled", "v1", "Pod", match_labels={"a": "b"}),
            Requirement("all", "v1", "Node"),
        ),
        ttl=60,
    )
    want = {
        "meta": {"tag": "tag", "ttl": "60s"},
        "desired": {
            "composite": {"resource": {"status": {"n": 1.0}}, "ready": "READY_FALSE"},
            "resources": {"x": {"resource": {"kind": "X", "spec": {"n": 3.0}}, "ready": "READY_TRUE"}},
        },
        "results": [{"severity": "SEVERITY_WARNING", "message": "there", "reason": "Placed"}],
        "conditions": [{"type": "A", "status": "STATUS_CONDITION_TRUE", "reason": "Because", "message": "so it is"}],
        "requirements": {
            "resources": {
                "named": {"apiVersion": "v1", "kind": "Secret", "matchName": "s", "namespace": "ml"},
                "labelled": {"apiVersion": "v1", "kind": "Pod", "matchLabels": {"labels": {"a": "b"}}},
                "all": {"apiVersion": "v1", "kind": "Node"},
            }
        },
    }
    assert json_format.MessageToDict(wire.encode(call, result)) == want


def test_what_other_functions_desired_and_said_passes_through():
    req = fnv1.RunFunctionRequest()
    req.desired.resources["theirs"].resource.update({"kind": "Other"})
    req.context.update({"key": "value"})
    rsp = wire.encode(wire.decode(req.SerializeToString()), Result(ready=True, conditions=()))
    assert json_format.MessageToDict(rsp.desired.resources["theirs"].resource) == {"kind": "Other"}
    assert json_format.MessageToDict(rsp.context) == {"key": "value"}


def test_an_answer_that_would_never_arrive_is_refused():
    huge = {"x": ComposedResource({"data": "x" * wire.LARGEST_RESPONSE})}
    with pytest.raises(wire.TooLarge, match=r"3\.5 MiB, and Crossplane takes 3\.5 MiB at most"):
        wire.encode(wire.decode(request({})), Result(ready=True, conditions=(), resources=huge))


def test_no_resource_of_a_quiet_result_is_reported_as_unready() -> None:
    """Crossplane would record an event for each on each pass, and Kubernetes would drop those that tell something."""
    result = Result(ready=False, conditions=(), resources={"x": ComposedResource({"kind": "X"})}, quiet=True)
    desired = wire.encode(wire.decode(request({})), result).desired

    assert fnv1.Ready.Name(desired.resources["x"].ready) == "READY_TRUE"
    assert fnv1.Ready.Name(desired.composite.ready) == "READY_FALSE"
