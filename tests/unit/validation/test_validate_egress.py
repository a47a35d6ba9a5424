"""What is said against the platform team's lists, and against endpoints by them."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation import validate
from tests.support.samples import controller, of


def gateway(**lists: Any) -> dict[str, Any]:
    return of("InferenceGateway", {"egress": lists}, "default", namespace=None)


def endpoint(url: str, **more: Any) -> dict[str, Any]:
    return of("ModelEndpoint", {"url": url}, **more)


def refused(*objects: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [(one.index, one.field, one.message) for one in validate(objects) if one.is_error]


def test_a_denied_host_is_refused_by_the_gateway_among_the_objects() -> None:
    [(index, field, message)] = refused(endpoint("http://10.1.2.3/v1"), gateway(deny=["10.0.0.0/8"]))
    assert (index, field) == (0, "spec.url")
    assert message == (
        "no endpoint may lead to 10.1.2.3: spec.egress.deny of the InferenceGateway has 10.0.0.0/8; use another host,"
        " or ask the platform team to add it to spec.egress.allow of the InferenceGateway"
    )


@pytest.mark.parametrize(
    "objects",
    [
        [endpoint("http://10.1.2.3/v1")],
        [endpoint("http://10.1.2.3/v1"), gateway()],
        [endpoint("http://10.1.2.3/v1"), gateway(deny=["10.0.0.0/8"], allow=["10.1.2.3"])],
        [endpoint("http://vllm.other.svc/v1"), gateway(allow=["*.other.svc"])],
        [endpoint("http://10.1.2.3/v1", owner=controller("ModelDeployment", "a")), gateway(deny=["10.0.0.0/8"])],
    ],
)
def test_what_is_allowed_is_not(objects: list[dict[str, Any]]) -> None:
    assert refused(*objects) == []


def test_a_service_of_another_namespace_is_refused_without_a_gateway() -> None:
    [(_, field, message)] = refused(endpoint("http://vllm.other.svc/v1"))
    assert field == "spec.url"
    assert "it is in namespace other of the control cluster" in message


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("127.0.0.0/8", "it is the calling machine itself"),
        ("169.254.169.254", "it is link-local to the calling machine"),
        ("metadata.google.internal", "it is a cloud's metadata service"),
    ],
)
def test_an_exception_that_nobody_can_make_is_refused(entry: str, why: str) -> None:
    want = (0, "spec.egress.allow.1", f"{entry} can never be allowed: {why}; remove it")
    [(index, field, message)] = refused(gateway(allow=["10.0.0.0/8", entry]))
    assert (index, field.replace("[", ".").replace("]", ""), message) == want


@pytest.mark.parametrize(
    "entry", ["10.0.0.1/8", "10.0.0.0/33", "Example.com", "a_b.example.com", "*.*.com", "a.*", "1.2.3"]
)
def test_an_entry_that_means_nothing_is_refused(entry: str) -> None:
    [(_, field, message)] = refused(gateway(deny=[entry]))
    assert field.startswith("spec.egress.deny")
    assert f'not "{entry}"' in message


def test_a_list_has_an_end() -> None:
    assert refused(gateway(deny=[f"10.{number}.0.0/16" for number in range(64)])) == []
    assert refused(gateway(deny=[f"10.{number}.0.0/16" for number in range(65)])) != []
