"""Every rule between fields, and every form of a field: what is accepted, what is refused, and in which words."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from function.core import InvalidSpec
from function.publish.catalog import BY_KIND, KINDS
from tests.support.api_cases import BAD, GOOD
from tests.support.platform_cases import DEVICE, POOL, URLS
from tests.support.samples import ALL, CLASS, CLUSTER, ENDPOINT, edited


def parse(xr: dict[str, Any]) -> Any:
    folder = BY_KIND[xr["apiVersion"], xr["kind"]].kind.lower()
    return importlib.import_module(f"function.api.{folder}").parse(xr)


@pytest.mark.parametrize("xr", ALL, ids=lambda xr: xr["kind"])
def test_a_full_object_of_every_kind_is_accepted(xr: dict[str, Any]) -> None:
    parse(xr)


def test_every_kind_has_a_sample() -> None:
    assert {xr["kind"] for xr in ALL} >= {kind.kind for kind in KINDS if kind.group == "modelplane.ai"}


@pytest.mark.parametrize("xr", GOOD.values(), ids=GOOD)
def test_what_makes_sense_is_accepted(xr: dict[str, Any]) -> None:
    parse(xr)


@pytest.mark.parametrize(("xr", "want"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_with_field_value_and_what_is_accepted(xr: dict[str, Any], want: str) -> None:
    with pytest.raises(InvalidSpec) as raised:
        parse(xr)

    got = raised.value.condition.message.removesuffix("; what runs stays as it is")
    assert got == want


@pytest.mark.parametrize("url", sorted(URLS))
def test_a_url_that_no_gateway_could_reach_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(InvalidSpec) as raised:
        parse(edited(ENDPOINT, "spec.url", url))

    said = raised.value.condition
    want = (
        "an http or https URL with a host, in ASCII, without user, password, query (see spec.query) or fragment,"
        " without a dot after the host, and without empty, . or .. parts in its path"
    )
    assert (said.reason, said.message) == ("InvalidURL", f"spec.url: must be {want} (1 to 2048 characters)")


REASONS = {
    "devices": (edited(CLASS, f"{DEVICE}.count", 0), "InvalidDevice"),
    "provisioning": (edited(CLASS, "spec.provisioning.provider", "GKE"), "InvalidProvisioning"),
    "description": (edited(CLASS, "spec.description", 1), "InvalidSpec"),
    "node pools": (edited(CLUSTER, f"{POOL}.name", "system"), "InvalidNodePool"),
    "source": (edited(CLUSTER, "spec.cluster.source", "Vultr"), "InvalidSpec"),
    "rewritePath": (edited(ENDPOINT, "spec.rewritePath", "v1"), "InvalidSpec"),
}


@pytest.mark.parametrize(("xr", "want"), REASONS.values(), ids=REASONS)
def test_the_reason_is_that_of_the_field_that_is_wrong(xr: dict[str, Any], want: str) -> None:
    with pytest.raises(InvalidSpec) as raised:
        parse(xr)

    assert raised.value.condition.reason == want
