"""Helm installs the CRDs of Envoy Gateway once and never upgrades them: they go before their chart, and only then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from function.core import Result, dig
from function.kinds.servingstack import components
from function.vocabulary import charts
from tests.support import stacks
from tests.support.stacks import READY

BUNDLE = Path(components.__file__).parent / "envoygateway" / "crds"
NAMES = sorted(path.name.partition(".")[0] for path in BUNDLE.glob("*.json"))
CRDS = {f"envoy-gateway-crd-{name}" for name in NAMES}


def answer(*, installed: str | None, asked: str | None = None, ready: set[str] = frozenset()) -> Result:
    """Of a stack whose Envoy Gateway has a version already, with these CRDs written."""
    observed: dict[str, Any] = {"inferencepools": READY, **dict.fromkeys(ready, READY)}
    if installed:
        release = {"spec": {"forProvider": {"chart": {"version": installed}}}}
        observed["envoy-gateway"] = {**READY, **release}
    return stacks.answer({"envoyGateway": {"version": asked}} if asked else {}, observed)


def outcome(result: Result) -> tuple[str, set[str]]:
    """The version that Envoy Gateway gets, and the CRDs that are written."""
    release = result.resources["envoy-gateway"].manifest
    return dig(release, "spec", "forProvider", "chart", "version"), CRDS & result.resources.keys()


def test_a_first_install_brings_its_crds_along() -> None:
    assert outcome(answer(installed=None)) == (charts.ENVOY_GATEWAY.version, set())


def test_the_crds_are_written_before_the_chart_is_upgraded() -> None:
    assert outcome(answer(installed="v1.8.1")) == ("v1.8.1", CRDS)


def test_a_chart_waits_for_every_crd() -> None:
    assert outcome(answer(installed="v1.8.1", ready=CRDS - {min(CRDS)})) == ("v1.8.1", CRDS)


def test_the_chart_follows_when_all_are_there() -> None:
    assert outcome(answer(installed="v1.8.1", ready=CRDS)) == (charts.ENVOY_GATEWAY.version, CRDS)


def test_the_objects_leave_after_that_and_the_crds_stay() -> None:
    after = outcome(answer(installed=charts.ENVOY_GATEWAY.version, ready=CRDS))
    during = answer(installed="v1.8.1").resources

    assert after == (charts.ENVOY_GATEWAY.version, set())
    assert all("Delete" not in dig(during[key].manifest, "spec", "managementPolicies") for key in CRDS)


def test_a_version_of_the_users_choice_has_no_crds_of_ours() -> None:
    assert outcome(answer(installed="v1.8.1", asked="v1.8.2")) == ("v1.8.2", set())


def test_what_is_waited_for_is_told() -> None:
    (condition,) = answer(installed="v1.8.1").conditions

    assert "envoy-gateway-crd-envoyproxies" in condition.message


def test_the_whole_answer_has_room_in_a_response() -> None:
    """Crossplane takes 4 MiB."""
    written = json.dumps([r.manifest for r in answer(installed="v1.8.1").resources.values()])

    assert len(written) < 2**20
