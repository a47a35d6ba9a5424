"""Pod templates at random, along Kubernetes' schema: they are read to one form, and never crash what reads them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from function import podspec
from function.podspec import definitions
from function.podspec.definitions import Type
from function.schema import format_path
from tests.support import kubernetes_schema, random_templates
from tests.support.admission import doubles

randoms = st.integers(0, 2**32).map(Random)
templates = randoms.map(random_templates.template)
faulty = randoms.map(random_templates.faulty)
junk = randoms.map(random_templates.junk)

CANARY = "hunter2"
SECRETS = ("value", "args", "command", "annotations", "httpHeaders")
WRONG: dict[str, tuple[Any, ...]] = {
    "string": (1, True, [], {}),
    "int32": ("a", True, 0.5, []),
    "int64": ("a", True, 0.5, {}),
    "boolean": ("true", 0, []),
    "Quantity": (True, [], {}),
    "IntOrString": (True, 0.5, []),
    "Time": (1, True, {}),
    "list": ("a", 1, {"a": 1}),
    "map": ("a", 1, ["a"]),
    "object": ("a", 1, ["a"]),
}
"""Values of wrong types."""
_KUBERNETES = {"$ref": "#/$defs/io.k8s.api.core.v1.PodTemplateSpec", "$defs": kubernetes_schema.strict()}
KUBERNETES = jsonschema.Draft202012Validator(_KUBERNETES)
DECLARED = podspec.declared()


@given(junk)
def test_nothing_crashes_what_reads_templates(template: Any) -> None:
    reading = podspec.read(template)

    for fault in (*reading.faults, *reading.unknown):
        assert format_path(fault.path) + fault.message
    list(podspec.references(template))
    list(podspec.claims(template))
    if isinstance(template, dict):
        podspec.renamed(template, lambda _, name: name)


@given(templates | faulty)
def test_what_was_read_is_read_again_as_it_is(template: Any) -> None:
    reading = podspec.read(template)

    if not reading.faults:
        assert podspec.read(reading.template) == reading


@given(templates, randoms)
def test_a_template_is_read_to_one_form_however_it_is_spelled(template: Any, random: Random) -> None:
    """As protobuf's numbers, with nulls, and with lists and maps that are empty."""
    respelled = spelled(definitions.TEMPLATE, json.loads(json.dumps(template)), random)

    assert podspec.read(respelled) == podspec.read(template)


def spelled(type_: Type, value: Any, random: Random) -> Any:
    """A value in another spelling that means the same."""
    match type_.kind:
        case "object" if isinstance(value, dict):
            missing = [name for name in type_.fields if name not in value and name not in type_.required]
            nulls = dict.fromkeys(random.sample(missing, min(2, len(missing))))
            kinds = {"list": [], "map": {}}
            empty = {
                n: kinds[type_.fields[n].kind]
                for n in missing
                if type_.fields[n].kind in kinds and random.random() < 0.1
            }
            given = {name: spelled(type_.fields[name], child, random) for name, child in value.items()}
            return {**given, **nulls, **empty}
        case "list" | "map" if type_.items is not None and isinstance(value, list | dict):
            if isinstance(value, list):
                return [spelled(type_.items, child, random) for child in value]
            return {key: spelled(type_.items, child, random) for key, child in value.items()}
        case "int32" | "int64" | "IntOrString" if isinstance(value, int):
            return float(value)
        case "Quantity":
            return random.choice((float(value), int(value), str(value))) if str(value).isdigit() else value
        case _:
            return value


@given(faulty)
def test_what_kubernetes_own_schema_refuses_is_refused_or_unknown(template: Any) -> None:
    reading = podspec.read(template)

    if not KUBERNETES.is_valid(template):
        assert reading.faults or reading.unknown


@given(templates, randoms)
def test_a_wrong_type_is_refused_as_kubernetes_own_schema_refuses_it(template: Any, random: Random) -> None:
    template = json.loads(json.dumps(template))
    of, holder, key = random.choice(list(random_templates.places(definitions.TEMPLATE, template)))
    type_ = of.fields[key] if isinstance(key, str) and of.kind == "object" else of.items
    assert type_ is not None
    holder[key] = random.choice(WRONG.get(type_.kind, (1,)))

    assert bool(podspec.read(template).faults) or type_.kind == "any"
    assert not KUBERNETES.is_valid(template)


@given(templates, randoms)
def test_a_field_that_is_required_is_missed(template: Any, random: Random) -> None:
    template = json.loads(json.dumps(template))
    places = random_templates.places(definitions.TEMPLATE, template)
    _of, holder, key = random.choice([place for place in places if place[2] in place[0].required])
    del holder[key]

    assert any(fault.code == "required" and fault.path[-1] == key for fault in podspec.read(template).faults)
    assert not KUBERNETES.is_valid(template)


@given(templates, randoms)
def test_a_field_that_kubernetes_does_not_know_is_told_and_kept(template: Any, random: Random) -> None:
    template = json.loads(json.dumps(template))
    objects = [p for p in random_templates.places(definitions.TEMPLATE, template) if p[0].kind == "object"]
    _, holder, _ = random.choice(objects)
    holder["later"] = {"a": 5.0}
    reading = podspec.read(template)

    assert [fault.path[-1] for fault in reading.unknown] == ["later"]
    assert json.dumps(reading.template).count('"later": {"a": 5}') == 1
    assert not KUBERNETES.is_valid(template)


@given(templates, randoms)
def test_no_message_repeats_what_may_be_a_secret(template: Any, random: Random) -> None:
    template = json.loads(json.dumps(template))
    places = list(random_templates.places(definitions.TEMPLATE, template))
    secrets = [place for place in places if place[2] in SECRETS]
    for _, holder, key in secrets:
        holder[key] = random.choice((CANARY, [CANARY], {"a": CANARY}, [{"name": "a", "value": CANARY}], [[CANARY]]))
    reading = podspec.read(template)

    assert [fault for fault in (*reading.faults, *reading.unknown) if CANARY in fault.message] == []


@given(templates | faulty)
def test_a_definition_accepts_every_template_that_the_model_accepts(template: Any) -> None:
    if not podspec.read(template).faults:
        assert jsonschema.Draft202012Validator(DECLARED).is_valid(template)
        assert list(doubles(template, DECLARED)) == []


@pytest.mark.parametrize("made", [random_templates.template, random_templates.faulty])
def test_random_templates_are_of_both_kinds(made: Any) -> None:
    """Otherwise the checks above would show nothing."""
    random = Random(0)
    accepted = [not podspec.read(made(random)).faults for _ in range(100)]

    assert 10 < sum(accepted) < 100
