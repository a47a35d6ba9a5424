"""The laws of the protocol, over every golden case and every kind."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from function import clouds, registry
from function.core import (
    ComposedResource,
    Composer,
    Concern,
    EventReason,
    Manifest,
    Reason,
    Request,
    Requirement,
    Result,
    dig,
    plain,
    restate,
    transitions,
)
from function.kinds.modeldeployment.stages import CLUSTERS
from function.sandbox.conditions import conditions_after, conditions_after_failure
from function.sandbox.settle import MOST_CALLS, resolve, settle, settle_with
from function.vocabulary import conditions, events
from tests.support.cases import CASES, answer, compute, each_case, load

DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PROTECTION = {"Usage", "ClusterUsage"}


def test_there_are_cases_of_every_composer() -> None:
    assert {case.parent.name for case in CASES} == {kind.lower() for _, kind in registry.COMPOSERS}


# The same request, the same answer


@each_case
def test_same_request_same_answer(case: Path) -> None:
    assert compute(case) == answer(case)


@each_case
def test_the_order_of_inputs_is_irrelevant(case: Path) -> None:
    request, objects = load(case)
    backwards = replace(request, observed=dict(reversed(request.observed.items())))
    settled = settle(registry.compose, request, objects)
    required = {name: found[::-1] for name, found in resolve(settled.requirements, objects).items()}
    assert registry.compose(replace(backwards, required=required)) == settled


@each_case
def test_requirements_only_grow_within_a_reconcile(case: Path) -> None:
    """But for all InferenceClusters, which a placement reads once, to choose from. What was left is asked no more."""
    stages = [set(map(str, stage)) for stage in _stages(case)]
    for before, after in itertools.pairwise(stages):
        assert before - after <= {str(CLUSTERS)}
    assert all(one != other for one, other in itertools.combinations(stages, 2))
    assert len(stages) < MOST_CALLS


@each_case
def test_requirements_end_alike_whatever_was_answered_before(case: Path) -> None:
    """An earlier reconcile may have read less or more, and what it asked for is answered on the first call."""
    request, objects = load(case)
    stages = _stages(case)
    assert all(_settled(request, objects, asked) == answer(case) for asked in stages)


@each_case
def test_requirements_end_when_nothing_is_found(case: Path) -> None:
    request, _ = load(case)
    found_nothing = settle(registry.compose, request, [])
    composer, said = registry.of(request), {c.type for c in found_nothing.conditions}
    assert {c.type for c in composer.conditions} <= said <= {c.type for c in (*composer.conditions, *composer.optional)}


def _stages(case: Path) -> list[tuple[Requirement, ...]]:
    """What is required in each call of a first reconcile."""
    request, objects = load(case)
    stages: list[tuple[Requirement, ...]] = []

    def compose(called: Request) -> Result:
        result = registry.compose(called)
        stages.append(result.requirements)
        return result

    settle(compose, request, objects)
    return [stage for stage, before in zip(stages, [None, *stages], strict=False) if stage and stage != before]


def _settled(request: Request, objects: list[Manifest], asked: tuple[Requirement, ...]) -> Result:
    """The answer of a reconcile whose first call has the answers to what the last one asked for."""
    return settle_with(registry.compose, request, lambda wanted: resolve(wanted, objects), asked)


@each_case
def test_nothing_that_was_read_is_changed(case: Path) -> None:
    request, objects = load(case)
    before = plain(request.xr), plain(request.observed), plain(list(objects))
    settle(registry.compose, request, objects)
    assert (plain(request.xr), plain(request.observed), plain(list(objects))) == before


# Silence deletes


def _wants_nothing(request: Request) -> bool:
    return dig(request.xr, "spec", "replicas") == 0


@each_case
def test_nothing_is_lost_before_everything_was_read(case: Path) -> None:
    request, _ = load(case)
    result = registry.compose(request)
    if result.requirements:
        assert result.resources.keys() >= request.observed.keys()


@each_case
def test_nothing_is_lost_while_one_requirement_is_unanswered(case: Path) -> None:
    """But for what goes when all is answered: then its going was decided by what is known already."""
    request, objects = load(case)
    required = resolve(answer(case).requirements, objects)
    kept = request.observed.keys() & answer(case).resources.keys()
    for name in required:
        partial = replace(request, required={k: v for k, v in required.items() if k != name})
        assert registry.compose(partial).resources.keys() >= kept, name


@each_case
def test_nothing_is_lost_when_the_spec_does_not_parse(case: Path) -> None:
    """What was observed stays, but for who must give way on an overcommitted pool: it goes as it would otherwise. What
    protects others comes and goes as if nothing were wrong."""
    request, objects = load(case)
    broken = replace(request, xr={**request.xr, "spec": 7})
    kept = settle(registry.compose, broken, objects).resources
    gone, new = request.observed.keys() - kept.keys(), kept.keys() - request.observed.keys()
    assert {request.observed[key]["kind"] for key in gone} <= {"ModelReplica", *_PROTECTION}
    assert {kept[key].manifest["kind"] for key in new} <= _PROTECTION
    assert gone <= request.observed.keys() - answer(case).resources.keys()


@each_case
def test_nothing_is_lost_and_nothing_gets_better_when_one_requirement_finds_nothing(case: Path) -> None:
    """For one pass. What was found before may be back on the next, and the XR has said what came of it."""
    request, objects = load(case)
    request = _said(request, settle(registry.compose, request, objects))
    decided = settle(registry.compose, request, objects)
    required = resolve(decided.requirements, objects)
    for name in (name for name, found in required.items() if found and not _is_believed(request, name)):
        emptied = settle_with(registry.compose, request, partial(_without, objects, name))
        assert emptied.resources.keys() >= request.observed.keys() & decided.resources.keys(), name
        assert emptied.ready <= decided.ready, name
        good = {c.type for c in emptied.conditions if c.status == "True"} - _READ_FROM_WHAT_IS_OBSERVED
        assert good <= {c.type for c in decided.conditions if c.status == "True"}, name


def _without(objects: list[Manifest], name: str, asked: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
    found = resolve(asked, objects)
    return {**found, name: ()} if name in found else found


def _is_believed(request: Request, name: str) -> bool:
    """Nothing speaks against an empty answer. Whose a provider config is, nobody else tells, and Crossplane refuses to
    take over another's."""
    return (request.xr["kind"], name) == ("InferenceCluster", "provider-config")


@each_case
def test_a_refused_edit_changes_nothing_that_others_decide_by(case: Path) -> None:
    """The XR is not Ready, and says why on the condition of refusals. All else is as the pass before left it."""
    request, objects = load(case)
    composer, decided = registry.of(request), settle(registry.compose, request, objects)
    observed = {key: m for key, m in request.observed.items() if key in decided.resources}
    before = replace(_said(request, decided), observed=observed)
    spec = {**(before.xr.get("spec") or {}), **_REFUSED[before.xr["kind"]]}
    refused = settle(registry.compose, replace(before, xr={**before.xr, "spec": spec}), objects)
    assert not refused.ready
    assert refused.resources.keys() >= observed.keys()
    assert {refused.resources[key].manifest["kind"] for key in refused.resources.keys() - observed} <= _PROTECTION
    assert next(c.status for c in refused.conditions if c.type == composer.invalid.type) == "False"
    was, now = ({c.type: c.status for c in r.conditions if c.type != composer.invalid.type} for r in (decided, refused))
    for type_ in was.keys() - _READ_FROM_WHAT_IS_OBSERVED:
        assert now[type_] == was[type_], type_
    for type_ in was.keys() & _READ_FROM_WHAT_IS_OBSERVED:
        assert now[type_] == "True" or was[type_] != "True", type_
    facts, before_facts = ({k: v for k, v in plain(r.status).items() if k not in _WHY} for r in (refused, decided))
    assert facts.pop("serving", False) >= before_facts.pop("serving", False)
    assert facts == before_facts


_READ_FROM_WHAT_IS_OBSERVED = {"ModelReady", "BackendReady"}
"""Conditions that tell on every pass what is observed. What recovers meanwhile is told of, whatever the spec says."""

_REFUSED: dict[str, dict[str, Any]] = {
    "InferenceClass": {"devices": 7},
    "InferenceCluster": {"nodePools": 7},
    "InferenceGateway": {"backend": "None", "tls": {"hostname": "other.example.com"}},
    "ModelCache": {"source": "None"},
    "ModelCaller": {"keys": [{"secretRef": {"name": "other"}}], "limits": 7},
    "ModelDeployment": {"engines": 7},
    "ModelEndpoint": {"url": "nowhere", "rewritePath": "/other/"},
    "ModelReplica": {"engines": 7},
    "ModelService": {"endpoints": 7},
    "ServingStack": {"source": "None"},
    **{model.KIND: {"nodePools": 7, "region": "elsewhere"} for model in clouds.kinds()},
}
"""An edit of each kind that its model refuses, with one beside it that others might read."""


def _said(request: Request, result: Result) -> Request:
    """The XR as it is after a pass."""
    conditions = conditions_after([], result, (), None, later=None)
    return replace(request, xr={**request.xr, "status": {**plain(result.status), "conditions": conditions}})


# Silence deletes status, and goes stale


@each_case
def test_every_condition_is_said_on_every_pass(case: Path) -> None:
    request, objects = load(case)
    composer = registry.of(request)
    had = {c["type"] for c in dig(request.xr, "status", "conditions") or ()}
    optional = {c.type for c in composer.optional}
    always = {c.type for c in composer.conditions} | (optional & had)
    empty = [composer(replace(request, required=r)) for r in ({}, {r.name: () for r in composer(request).requirements})]
    for result in (*empty, settle(registry.compose, request, objects)):
        assert always <= {c.type for c in result.conditions} <= always | optional


@each_case
def test_status_is_not_lost_before_everything_was_read(case: Path) -> None:
    request, _ = load(case)
    result = registry.compose(request)
    if result.requirements:
        there = request.xr.get("status") or {}
        had = {key: plain(value) for key, value in there.items() if key not in ("conditions", *_WHY)}
        has = plain(result.status)
        assert had.keys() <= has.keys()
        assert all(has[key] == value for key, value in had.items() if key not in _COUNTED)


_WHY = {"reason", "message"}
"""Fields of a status that tell why the XR is not as its spec asks."""
_COUNTED = {"replicas", "serving", "capacity", *_WHY}
"""Fields of a status that are read from what is observed on every pass."""


# What kubectl shows


@each_case
def test_what_is_not_ready_tells_why(case: Path) -> None:
    """On every call: also while nothing was answered, and while the XR is held."""
    request, objects = load(case)
    composer = registry.of(request)
    nothing = composer(replace(request, required={r.name: () for r in composer(request).requirements}))
    for result in (composer(request), nothing, settle(registry.compose, request, objects)):
        told = result.status.get("reason"), result.status.get("message", "")
        assert told in {(None, ""), *((c.reason, c.message) for c in result.conditions)}
        assert result.ready or told[0]


@each_case
def test_a_reason_is_that_of_a_condition_that_is_not_as_it_should_be(case: Path) -> None:
    result, composer = answer(case), registry.of(load(case)[0])
    types = {t.type: t for t in (*composer.conditions, *composer.optional)}
    concerns = {types[c.type].concern(c) for c in result.conditions if c.type in {t.type for t in composer.conditions}}
    if result.ready and concerns == {Concern.NONE} and not composer.optional:
        assert "reason" not in result.status
    if concerns & {Concern.WAIT, Concern.FAULT}:
        assert result.status["reason"]


@each_case
def test_what_was_told_is_not_told_again(case: Path) -> None:
    """The XR holds what the pass reported, and what it composed may not be observed yet."""
    told, objects = _settled_xr(case)
    assert settle(registry.compose, told, objects).events == ()


def _settled_xr(case: Path) -> tuple[Request, list[Manifest]]:
    """A case's request once its XR holds what a pass reports. A pass may depend on the status of the last one."""
    request, objects = load(case)
    for _ in range(3):
        result = settle(registry.compose, request, objects)
        before, request = request, _said(request, result)
        if result.conditions == settle(registry.compose, request, objects).conditions:
            return request, objects
    raise AssertionError(f"{case} reports something else on each pass: {before.xr['status']}")


@each_case
def test_a_message_that_counts_on_is_no_event(case: Path) -> None:
    told, objects = _settled_xr(case)
    counted = [
        {**c, "message": f"{c.get('message', '').partition(';')[0]}; another remark"}
        if c["type"] == registry.of(told).invalid.type
        else {**c, "message": "another"}
        for c in told.xr["status"]["conditions"]
    ]
    xr = {**told.xr, "status": {**told.xr["status"], "conditions": counted}}
    assert settle(registry.compose, replace(told, xr=xr), objects).events == ()


@each_case
def test_a_failed_reconcile_is_no_news(case: Path) -> None:
    """Crossplane overwrites every condition with Unknown when it fails. Once it works again, nothing has happened."""
    request, objects = load(case)
    result = settle(registry.compose, request, objects)
    told = _said(request, result)
    failed = conditions_after_failure(told.xr["status"]["conditions"], "cannot call the function", None)
    xr = {**told.xr, "status": {**told.xr["status"], "conditions": failed}}
    again = settle(registry.compose, replace(told, xr=xr), objects)
    faults = {c.reason for c in result.conditions if c.status == "False"} - {result.status.get("reason")}
    assert {event.reason for event in again.events} <= faults


@each_case
def test_events_are_few_and_have_a_declared_reason(case: Path) -> None:
    request, _ = load(case)
    empty = {r.name: () for r in registry.compose(request).requirements}
    for found in (answer(case), registry.compose(request), registry.compose(replace(request, required=empty))):
        assert {event.reason for event in found.events} <= _EVENT_REASONS
        assert len(found.events) <= _MOST_EVENTS
        assert all(0 < len(event.message) <= 1000 for event in found.events)


_MOST_EVENTS = 8
"""Of one call. Kubernetes takes 25 events of an object at once, and one more in five minutes (client-go v0.36,
tools/record), and Crossplane's own count, too."""
_EVENT_REASONS = {
    value.reason
    for module in (conditions, events, transitions)
    for value in vars(module).values()
    if isinstance(value, Reason | EventReason)
}


# Readiness


@each_case
def test_nothing_is_ready_before_it_is_observed(case: Path) -> None:
    request, objects = load(case)
    bare = replace(request, observed={}, xr={k: v for k, v in request.xr.items() if k != "status"})
    result = settle(registry.compose, bare, [m for m in objects if m not in request.observed.values()])
    assert not any(composed.ready for composed in result.resources.values())
    assert not result.ready or not result.resources


@each_case
def test_it_is_asked_again(case: Path) -> None:
    assert answer(case).ttl > 0


# Names, nulls, numbers


@each_case
def test_names_and_labels_are_legal(case: Path) -> None:
    for key, composed in answer(case).resources.items():
        for manifest in (composed.manifest, dig(composed.manifest, "spec", "forProvider", "manifest") or {}):
            metadata = manifest.get("metadata") or {}
            name = metadata.get("name", "x")
            assert len(name) <= 253, key
            assert DNS_SUBDOMAIN.fullmatch(name), f"{key}: {name}"
            for label, value in (metadata.get("labels") or {}).items():
                assert LABEL_NAME.fullmatch(label.rpartition("/")[2]), f"{key}: {label}"
                assert LABEL_VALUE.fullmatch(value), f"{key}: {label}={value}"


@each_case
def test_no_null_and_no_number_that_is_not_whole(case: Path) -> None:
    """Server-side apply would own a null; a float would be written as 3.0."""
    found = [
        f"{key}{path} = {value!r}"
        for key, composed in answer(case).resources.items()
        for path, value in _leaves(composed.manifest)
        if value is None or (isinstance(value, float) and not value.is_integer())
    ]
    assert found == []


@each_case
def test_restating_what_was_written_changes_nothing(case: Path) -> None:
    """Finalizers are left out: only `managedFields` tell which are ours."""
    for composed in answer(case).resources.values():
        written = plain(composed.manifest)
        written["metadata"].pop("finalizers", None)
        assert restate(written) == written


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(child, f"{path}.{key}")
    elif isinstance(value, list):
        for i, child in enumerate(value):
            yield from _leaves(child, f"{path}[{i}]")
    else:
        yield path, value


# The law keeper itself


def test_a_condition_left_unsaid_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="RoutingReady"):
        _composer(Result(ready=False, conditions=()))(Request(xr={}))


def test_ready_before_observed_is_a_bug() -> None:
    new = {"new": ComposedResource({}, ready=True)}
    result = Result(ready=True, conditions=(conditions.WAITING_FOR_BACKEND(why="it"),), resources=new)
    with pytest.raises(AssertionError, match="before they were observed"):
        _composer(result)(Request(xr={}))


def test_every_reason_is_unique_and_of_a_declared_condition() -> None:
    reasons = [r for r in vars(conditions).values() if isinstance(r, Reason)]
    types = {t.type for t in vars(conditions).values() if isinstance(t, conditions.ConditionType)}
    assert {r.type for r in reasons} == types
    assert {c.type for kind in registry.COMPOSERS.values() for c in (*kind.conditions, *kind.optional)} <= types


def _composer(result: Result) -> Composer:
    """A composer that always answers the same."""
    return Composer(
        api_version="v1",
        kind="Any",
        conditions=(conditions.ROUTING_READY,),
        invalid=conditions.INVALID_ENDPOINT,
        requirements=lambda _: (),
        compose=lambda _: result,
    )
