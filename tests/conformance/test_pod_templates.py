"""Fresh pod templates at random, read by us and validated by the API server's own code (`pods/`, Kubernetes 1.34).

What we accept Kubernetes accepts, in the form in which we pass it on; and it refuses what we refuse. Differences on
purpose are in `template_differences`. A difference is made small, then shown.

CONFORMANCE_SEED repeats a run, CONFORMANCE_CASES says how many templates each of the parts compares.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any

import pytest

from function import podspec
from function.podspec import definitions
from function.schema import format_path
from tests.conformance import oracle, programs
from tests.conformance.seeds import seed
from tests.conformance.template_differences import COARSE, OURS, RESERVED, Difference, explains
from tests.support import random_templates, template_cases

pytestmark = pytest.mark.slow

_CASES = int(os.environ.get("CONFORMANCE_CASES", "1000"))
_MADE: Mapping[str, Callable[[Random], Any]] = {
    "sound": random_templates.template,
    "faulty": random_templates.faulty,
}
_PARTS = [f"{kind}-{part}" for kind in _MADE for part in range(2)]
_STEPS = 60
_SHOWN = 5
_CONSEQUENCES = ("volumeMounts", "volumeDevices")
"""Where Kubernetes misses a volume that it refused."""


@pytest.mark.parametrize("part", _PARTS)
def test_fresh_random_templates_are_judged_as_kubernetes_judges_them(part: str, record_property: Any) -> None:
    oracle.wanted()
    chosen = seed(part)
    random, made = Random(chosen), _MADE[part.partition("-")[0]]
    templates = [made(random) for _ in range(_CASES)]
    differences = [_smallest(one) for one in _differing(templates)[:_SHOWN]]
    record_property("fresh random pod templates compared", len(templates))
    record_property("of those, accepted by both", sum(not podspec.read(one).faults for one in templates))
    assert not differences, "\n".join(f"seed {chosen}: {_shown(one)}" for one in differences)


def test_most_random_templates_are_sound() -> None:
    """Otherwise little would be compared."""
    random = Random(seed("sound"))
    accepted = [not podspec.read(random_templates.template(random)).faults for _ in range(200)]
    assert sum(accepted) > len(accepted) / 2


@pytest.mark.parametrize("template", template_cases.GOOD.values(), ids=template_cases.GOOD)
def test_a_case_that_we_accept_is_accepted_by_kubernetes_as_we_pass_it_on(template: Any) -> None:
    oracle.wanted()
    given = _without_nulls(template)
    original, passed_on = _verdicts([given, podspec.read(given).template])
    assert (original["errors"], passed_on["errors"]) == ([], [])
    assert original["defaulted"] == passed_on["defaulted"]


def test_a_case_that_we_refuse_is_refused_by_kubernetes_or_on_purpose() -> None:
    oracle.wanted()
    cases = {name: template for name, (template, _) in template_cases.BAD.items()}
    verdicts = dict(zip(cases, _verdicts(cases.values()), strict=True))
    alone = {name: template for name, template in cases.items() if not refusals(verdicts[name])}
    unmet = {
        name: said for name, template in alone.items() if (said := list(unexplained(OURS.values(), _ours(template))))
    }
    assert unmet == {}


@pytest.mark.parametrize("difference", COARSE.values(), ids=COARSE)
def test_where_we_are_coarse_kubernetes_refuses_more(difference: Difference) -> None:
    """Where that has gone, the list must lose it."""
    oracle.wanted()
    [verdict] = _verdicts([difference.example])
    assert _ours(difference.example) == []
    assert [one for one in refusals(verdict) if explains([difference], *one)]
    assert list(unexplained(COARSE.values(), refusals(verdict))) == []


@pytest.mark.parametrize("difference", OURS.values(), ids=OURS)
def test_where_we_refuse_more_kubernetes_accepts(difference: Difference) -> None:
    """Where that has gone, the list must lose it."""
    oracle.wanted()
    [verdict] = _verdicts([difference.example])
    assert refusals(verdict) == []
    assert [one for one in _ours(difference.example) if explains([difference], *one)]
    assert list(unexplained([difference], _ours(difference.example))) == []


def _differing(templates: Iterable[Any]) -> list[Any]:
    templates = list(templates)
    readings = [podspec.read(one) for one in templates]
    verdicts = _verdicts(templates)
    passed_on = _verdicts([reading.template for reading in readings])
    return [
        template
        for template, reading, verdict, as_passed in zip(templates, readings, verdicts, passed_on, strict=True)
        if list(_differences(reading, verdict, as_passed))
    ]


def _differences(reading: podspec.Reading, verdict: Mapping[str, Any], as_passed: Mapping[str, Any]) -> Iterator[str]:
    ours = _told(reading.faults)
    if ours and not refusals(verdict):
        yield from (f"only we refuse {field}: {message}" for field, message in unexplained(OURS.values(), ours))
    if ours:
        return
    wrong = unexplained(COARSE.values(), refusals(as_passed))
    yield from (f"only Kubernetes refuses {field}: {message}" for field, message in wrong)
    if not refusals(verdict) and verdict["defaulted"] != as_passed.get("defaulted"):
        yield "what we pass on is another template"
    if sorted(verdict["unknown"]) != sorted(_unknown(reading)):
        yield f"Kubernetes does not know {verdict['unknown']}, and we do not know {_unknown(reading)}"


def _verdicts(templates: Iterable[Any]) -> list[dict[str, Any]]:
    return programs.answers("pods", (_composed(one) for one in templates))


def _composed(template: Any) -> Any:
    """A template with the grace period that it gets from us."""
    spec = template.get("spec") if isinstance(template, dict) else None
    if not isinstance(spec, dict):
        return template
    return {**template, "spec": {"terminationGracePeriodSeconds": podspec.GRACE_SECONDS, **spec}}


def _ours(template: Any) -> list[tuple[str, str]]:
    return _told(podspec.read(template).faults)


def _told(faults: Iterable[podspec.Fault]) -> list[tuple[str, str]]:
    begin = {"reserved": RESERVED}
    return [(format_path(fault.path), begin.get(fault.code, "") + fault.message) for fault in faults]


def _unknown(reading: podspec.Reading) -> list[str]:
    return [f'unknown field "{format_path(fault.path)}"' for fault in reading.unknown]


def refusals(verdict: Mapping[str, Any]) -> list[tuple[str, str]]:
    if "malformed" in verdict:
        return [("", verdict["malformed"])]
    return [(one["field"].removeprefix("template."), one["detail"]) for one in verdict["errors"]]


def unexplained(known: Iterable[Difference], said: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    said, known = list(said), list(known)
    refuses_volume = any(field.startswith("spec.volumes[") for field, _ in said)
    for field, message in said:
        is_consequence = refuses_volume and any(f".{part}[" in field for part in _CONSEQUENCES)
        if not is_consequence and not explains(known, field, message):
            yield field, message


def _smallest(template: Any) -> Any:
    """The template with ever fewer fields, as long as the verdicts differ."""
    for _ in range(_STEPS):
        smaller = [less for less in _smaller(template) if less]
        differing = _differing(smaller) if smaller else []
        if not differing:
            break
        template = min(differing, key=lambda one: len(json.dumps(one)))
    return template


def _smaller(template: Any) -> Iterator[Any]:
    """The template without one of its fields or items, each in turn."""
    for index in range(len(list(random_templates.places(definitions.TEMPLATE, template)))):
        less = copy.deepcopy(template)
        _, holder, key = list(random_templates.places(definitions.TEMPLATE, less))[index]
        del holder[key]
        yield less


def _shown(template: Any) -> str:
    reading = podspec.read(template)
    verdict, as_passed = _verdicts([template, reading.template])
    said = "; ".join(_differences(reading, verdict, as_passed))
    return f"{said}\n  {json.dumps(template)}"


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(child) for key, child in value.items() if child is not None}
    return [_without_nulls(child) for child in value] if isinstance(value, list) else value
