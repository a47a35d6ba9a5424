"""A gateway is installed in a namespace that must exist."""

from __future__ import annotations

from function.core import Request, Result
from function.kinds.inferencegateway.composer import COMPOSER
from function.vocabulary import names

XR = {
    "apiVersion": COMPOSER.api_version,
    "kind": COMPOSER.kind,
    "metadata": {"name": "default"},
    "spec": {"backend": "Traefik"},
}
THERE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": names.SYSTEM_NAMESPACE}}


def composed(*namespaces: dict[str, object]) -> Result:
    definitions = {r.name: () for r in COMPOSER(Request(xr=XR)).requirements}
    return COMPOSER(Request(xr=XR, required={**definitions, "namespace": namespaces}))


def test_nothing_is_composed_without_it_and_the_condition_says_how_to_make_it() -> None:
    got = composed()

    [ready] = got.conditions
    assert (got.ready, dict(got.resources), ready.status) == (False, {}, "False")
    assert "Namespace modelplane-system does not exist" in ready.message
    assert "kubectl apply -f package/namespace.yaml" in ready.message


def test_it_is_installed_once_the_namespace_is_there() -> None:
    assert "provider-config" in composed(THERE).resources


def test_an_answer_that_is_late_is_waited_for() -> None:
    [ready] = COMPOSER(Request(xr=XR)).conditions

    assert "to look up namespace modelplane-system" in ready.message
