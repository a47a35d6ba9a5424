"""Every component can be switched off at any time: it goes, with what stands on it, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function.api.servingstack import Components, Stack, is_empty
from function.core import Result, plain
from function.kinds.servingstack import observer
from tests.support.stacks import READY, answer

GATEWAY = {"namespace", "envoy-proxy", "gateway-class", "gateway", "backend-policy", "client-policy"}
ALL_DRIVERS = ["dra.net", "gpu.amd.com", "gpu.nvidia.com"]
ORDER = (
    ("envoy-gateway", "gateway-class"),
    ("envoy-gateway", "gateway"),
    ("ai-gateway", "gateway"),
    ("gateway-class", "gateway"),
    ("envoy-proxy", "gateway"),
)
"""The first is needed by the second."""
GOES = {
    "certManager": {"cert-manager"},
    "inferenceExtension": {"inferencepools", "inferencepoolimports"},
    "envoyGateway": {
        "envoy-gateway",
        *(GATEWAY - {"namespace"}),  # the observer needs it, too
        "usage-envoy-gateway-gateway-class",
        "usage-envoy-gateway-gateway",
        "usage-ai-gateway-gateway",
        "usage-gateway-class-gateway",
        "usage-envoy-proxy-gateway",
    },
    "aiGateway": {"ai-gateway-crds", "ai-gateway", "usage-ai-gateway-gateway"},
    "leaderWorkerSet": {"leaderworkerset"},
    "nodeFeatureDiscovery": {"node-feature-discovery"},
    "nvidiaDraDriver": {"nvidia-dra-driver"},
    "amdDraDriver": {"amd-dra-driver"},
    "dranet": {"dranet"},
    "prometheus": {"prometheus"},
    "observer": set(observer.KEYS),
}


def asked(before: Result | None, *off: str) -> Result:
    """The next answer, once everything that was composed is ready."""
    observed: dict[str, Any] = {}
    if before:
        observed = {key: {**plain(r.manifest), **READY} for key, r in before.resources.items()}
    components = {switch: {"enabled": False} for switch in off}
    return answer(components, observed, drivers=ALL_DRIVERS, observer={"enabled": True})


def installed(*off: str) -> tuple[Result, list[set[str]]]:
    """At rest, and what came in each step before it."""
    result, steps = asked(None, *off), []
    while not steps or steps[-1]:
        grown = asked(result, *off)
        steps.append(grown.resources.keys() - result.resources.keys())
        result = grown
    return result, steps


def test_every_switch_is_looked_at() -> None:
    assert GOES.keys() == Components.model_fields.keys()


@pytest.mark.parametrize("switch", GOES)
def test_what_is_switched_off_goes_alone(switch: str) -> None:
    everything, _ = installed()

    steps = list(left_by(everything, switch))

    assert everything.resources.keys() - steps[-1].resources.keys() == GOES[switch]


def left_by(before: Result, *off: str) -> Iterator[Result]:
    """The answers after components were switched off, until no more goes."""
    while True:
        after = asked(before, *off)
        yield after
        if after.resources.keys() == before.resources.keys():
            return
        before = after


@pytest.mark.parametrize("switch", GOES)
def test_nothing_is_left_out_while_a_usage_protects_it(switch: str) -> None:
    """Crossplane stops at the first delete that is refused."""
    before, _ = installed()
    for after in left_by(before, switch):
        gone = before.resources.keys() - after.resources.keys()
        assert not gone & {of for of, by in ORDER if f"usage-{of}-{by}" in before.resources}
        before = after


@pytest.mark.parametrize("switch", GOES)
def test_without_a_component_the_others_are_all_installed(switch: str) -> None:
    everything, _ = installed()

    without, _ = installed(switch)

    assert without.resources.keys() == everything.resources.keys() - GOES[switch]


def test_each_comes_when_that_on_which_it_stands_is_ready() -> None:
    first, (*later, _) = asked(None), installed()[1]

    free = {"cert-manager", "leaderworkerset", "node-feature-discovery", "prometheus", "ai-gateway-crds", "namespace"}
    free |= {"dranet"}
    assert first.resources.keys() == {*free, "inferencepools", "inferencepoolimports"}
    assert later[0] == {"envoy-gateway", "nvidia-dra-driver", "amd-dra-driver", *observer.ACCESS}
    assert later[1] == {"ai-gateway", observer.DEPLOYMENT}
    assert {key for key in later[2] if not key.startswith("usage-")} == GATEWAY - {"namespace"}


@pytest.mark.parametrize("named", ["amdDraDriver", "dranet", "observer"])
def test_with_all_that_an_earlier_release_had_disabled_nothing_is_asked_for(named: str) -> None:
    """Such a stack needs no Helm provider. A component that came later counts once it is named."""
    earlier = {switch: {"enabled": False} for switch in GOES if switch not in ("amdDraDriver", "dranet", "observer")}

    assert is_empty(Stack.model_validate({"components": earlier}))
    assert is_empty(Stack.model_validate({"components": {**earlier, named: {"enabled": False}}}))
    assert not is_empty(Stack.model_validate({"components": {**earlier, named: {}}}))


def test_what_others_may_have_come_to_need_is_never_deleted_on_the_cluster() -> None:
    everything, _ = installed()

    kept = {
        key
        for key, r in everything.resources.items()
        if "managementPolicies" in r.manifest["spec"] and "Delete" not in r.manifest["spec"]["managementPolicies"]
    }
    assert kept == {"inferencepools", "inferencepoolimports", "ai-gateway-crds", "namespace"}
