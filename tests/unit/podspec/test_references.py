"""The Secrets, ConfigMaps and claims that a template names, wherever Kubernetes lets it name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function import podspec
from function.podspec import definitions
from function.podspec.definitions import Type
from tests.support.samples import TEMPLATE, edited

Path = tuple[str | int, ...]

NOT_ABOUT_SECRETS = {("CephFSVolumeSource", "secretFile"): "the path of a file of the node"}
"""Texts whose names speak of secrets, and which name none."""


def is_reference(type_: Type) -> bool:
    """Whether an object refers to a Secret or a ConfigMap, as its name or the names of its fields tell."""
    name = type_.definition
    texts = [field for field, of in type_.fields.items() if of.kind == "string" and "secret" in field.lower()]
    has_secret = any((name, field) not in NOT_ABOUT_SECRETS for field in texts)
    return has_secret or "Secret" in name or "ConfigMap" in name or name == "LocalObjectReference"


def places(type_: Type, path: Path = ()) -> Iterator[tuple[Path, Type]]:
    """Every place of a template that can hold a reference."""
    if type_.kind == "object" and is_reference(type_):
        yield path, type_
    for name, field in type_.fields.items():
        yield from places(field, (*path, name))
    if type_.kind == "list" and type_.items:
        yield from places(type_.items, (*path, 0))


PLACES = dict(places(definitions.TEMPLATE))


def holding(path: Path, value: Any) -> Any:
    """A template, or what is below it, with nothing but a value at a path."""
    for step in reversed(path):
        value = [value] if step == 0 else {step: value}
    return value


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_a_reference_is_found_and_renamed_wherever_it_can_be(path: Path) -> None:
    type_ = PLACES[path]
    field = "secretName" if "secretName" in type_.fields else "name"
    kind = "ConfigMap" if "ConfigMap" in type_.definition else "Secret"
    template = holding(path, {field: "a"})

    [found] = podspec.references(template)
    assert (found.path, found.kind, found.name, found.optional) == ((*path, field), kind, "a", False)
    assert podspec.renamed(template, lambda kind, name: f"{kind}-{name}") == holding(path, {field: f"{kind}-a"})
    assert template == holding(path, {field: "a"}), "the given template stays as it is"


def test_there_are_as_many_places_as_kubernetes_has() -> None:
    """Of variables, envFrom, volumes and pull secrets, in containers of three kinds."""
    assert {type_.definition for type_ in PLACES.values()} >= {"SecretKeySelector", "ConfigMapEnvSource"}
    assert {path[1] for path in PLACES} == {
        *("containers", "initContainers", "ephemeralContainers", "imagePullSecrets", "volumes"),
    }


KEYS = [
    ({"name": "a", "valueFrom": {"secretKeyRef": {"name": "b", "key": "c", "optional": True}}}, {"c"}, True),
    ({"name": "a", "valueFrom": {"configMapKeyRef": {"name": "b", "key": "c"}}}, {"c"}, False),
    ({"name": "a", "valueFrom": {"secretKeyRef": {"name": "b"}}}, set(), False),
]


@pytest.mark.parametrize(("variable", "keys", "is_optional"), KEYS)
def test_a_variable_uses_one_key(variable: Any, keys: set[str], *, is_optional: bool) -> None:
    [found] = podspec.references(holding(("spec", "containers", 0, "env", 0), variable))

    assert (found.keys, found.optional) == (keys, is_optional)


ITEMS = [
    ([{"key": "a", "path": "x"}, {"key": "b", "path": "y"}], {"a", "b"}),
    ([], None),
    (None, None),
    ([{"path": "x"}, 1], set()),
]


@pytest.mark.parametrize(("items", "keys"), ITEMS)
@pytest.mark.parametrize("source", ["secret", "configMap"])
def test_a_volume_uses_its_items_or_all(source: str, items: Any, keys: set[str] | None) -> None:
    name = {"secret": "secretName", "configMap": "name"}[source]
    [found] = podspec.references(holding(("spec", "volumes", 0, source), {name: "a", "items": items}))

    assert found.keys == keys


def test_the_sample_names_what_it_names() -> None:
    template = edited(TEMPLATE, "spec.volumes", [{"name": "m", "persistentVolumeClaim": {"claimName": "models"}}])

    assert [(one.kind, one.name) for one in podspec.references(template)] == [
        ("Secret", "hub"),
        ("ConfigMap", "conf"),
        ("Secret", "registry.example.org"),
    ]
    assert list(podspec.claims(template)) == [
        (("spec", "volumes", 0, "persistentVolumeClaim", "claimName"), "models"),
    ]


@pytest.mark.parametrize("path", [path for path in PLACES if path[1] == "volumes"][:2])
@pytest.mark.parametrize("value", [None, 1, "a", [], {}, {"name": 1}, {"name": ""}, {"secretName": ["a"]}])
def test_what_cannot_be_read_names_nothing(path: Path, value: Any) -> None:
    assert list(podspec.references(holding(path, value))) == []
