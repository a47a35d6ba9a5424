"""What is said of ModelCallers that are valid each, and do not go together with others or with their Secrets."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation import validate
from tests.support.samples import Object, of

REF = "spec.keys"
VALUE = "bm90LXRvLWJlLXNlZW4="


def caller(name: str, *keys: str, namespace: str | None = "ml-team") -> Object:
    refs = [dict(zip(("name", "key"), key.split("/"), strict=False)) for key in keys]
    return of("ModelCaller", {"keys": [{"secretRef": ref} for ref in refs]}, name=name, namespace=namespace)


def secret(name: str, *keys: str, namespace: str | None = "ml-team", field: str = "data", **more: Any) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, field: dict.fromkeys(keys, VALUE), **more}


def said(*objects: Object) -> list[str]:
    found = validate(objects)
    assert not any(f.is_error for f in found)
    assert not any(VALUE in f.message for f in found)
    return [f"{f.index} {f.code}: {f.field} {f.message}" for f in found]


def shared(index: int, at: int, key: str, name: str, owner: str) -> str:
    problem = f"names key {key} of Secret {name}, as ModelCaller {owner} does; only one of them is accepted"
    return f"{index} shared-key: {REF}[{at}].secretRef {problem}"


def test_two_callers_with_one_key_are_told_at_the_second() -> None:
    got = said(caller("eval", "a", "b/next"), caller("nightly", "c", "a/api-key", "b/next"))
    assert got == [shared(1, 1, "api-key", "a", "eval"), shared(1, 2, "next", "b", "eval")]


def test_the_other_caller_is_a_part_of_the_finding() -> None:
    [found] = validate([secret("a", "api-key"), caller("eval", "a"), caller("nightly", "a")])
    assert (found.index, found.other) == (2, 1)


@pytest.mark.parametrize(
    "objects",
    [
        (caller("eval", "a"), caller("nightly", "b")),
        (caller("eval", "a"), caller("nightly", "a/next")),
        (caller("eval", "a"), caller("eval", "a", namespace="other-team")),
        (caller("eval", "a"), caller("nightly", "a", namespace=None)),
    ],
    ids=["other Secrets", "other keys", "other namespaces", "an unstated namespace"],
)
def test_nothing_is_told_of_keys_that_differ(objects: tuple[Object, ...]) -> None:
    assert said(*objects) == []


def test_callers_without_a_namespace_go_to_the_same() -> None:
    assert len(said(caller("eval", "a", namespace=None), caller("nightly", "a", namespace=None))) == 1


def test_a_caller_that_appears_twice_shares_no_key_with_itself() -> None:
    assert [f.code for f in validate([caller("eval", "a"), caller("eval", "a")])] == ["duplicate"]


@pytest.mark.parametrize(
    ("given", "rest"),
    [
        (secret("a", "api-kex"), "did you mean api-kex?"),
        (secret("a", "token", "more"), "it has more, token"),
        (secret("a", "token", field="stringData"), "it has token"),
        (secret("a"), "it has no key"),
        (secret("a") | {"data": None}, "it has no key"),
    ],
)
def test_a_secret_that_lacks_the_key_is_told_without_its_values(given: Object, rest: str) -> None:
    want = f"0 missing-key: {REF}[0].secretRef names key api-key, which Secret a lacks; {rest}"
    assert said(caller("eval", "a"), given) == [want]


@pytest.mark.parametrize(
    "given",
    [
        secret("a", "api-key"),
        secret("a", "api-key", field="stringData"),
        secret("a", "x", stringData={"api-key": VALUE}),
        secret("b", "x", namespace="other-team"),
        secret("a", "x", namespace=None),
        secret("a", "x") | {"kind": "ConfigMap"},
        secret("a", "x") | {"apiVersion": "example.org/v1"},
    ],
)
def test_nothing_is_told_of_a_key_that_is_there_or_of_a_secret_that_is_not(given: Object) -> None:
    assert said(caller("eval", "a"), given) == []


def test_a_secret_without_a_namespace_goes_where_its_caller_goes() -> None:
    assert len(said(caller("eval", "a", namespace=None), secret("a", "x", namespace=None))) == 1
