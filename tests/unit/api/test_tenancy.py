"""Namespaces of the infrastructure: which they are, how operators change the list, and who says no."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from function import clouds, gateways
from function.api import tenancy
from function.core import dig
from function.kinds.servingstack.components import RELEASES
from function.publish.catalog import KINDS
from function.schema import Audience
from function.vocabulary import charts, settings, versions
from tests.support.cases import CASES, answer

INFRASTRUCTURE = ("servingstack", "inferencecluster", "inferencegateway")


def test_every_component_of_the_serving_stack_is_in_a_reserved_namespace() -> None:
    assert [r.chart.name for r in RELEASES if not tenancy.is_reserved(r.chart.namespace)] == []


def test_every_chart_is_in_a_reserved_namespace() -> None:
    every = [chart for chart in vars(charts).values() if isinstance(chart, charts.Chart)]
    every += [chart for implementation in gateways.IMPLEMENTATIONS for chart in implementation.charts]

    assert [chart.name for chart in every if not tenancy.is_reserved(chart.namespace)] == []


def test_whatever_the_infrastructure_composes_is_in_a_reserved_namespace() -> None:
    used = {n for case in CASES if case.parent.name in INFRASTRUCTURE for n in _used(answer(case))}

    assert {name for name in used if not tenancy.is_reserved(name)} == set()
    assert "cert-manager" in used


def _used(result: Any) -> Iterator[str]:
    """Here, and on inference clusters."""
    for composed in result.resources.values():
        manifest = composed.manifest
        yield from filter(
            None,
            (
                dig(manifest, "metadata", "namespace"),
                dig(manifest, "spec", "forProvider", "namespace"),
                dig(manifest, "spec", "forProvider", "manifest", "metadata", "namespace"),
            ),
        )


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-anything", "modelplane-system", "crossplane-system"])
def test_namespaces_of_kubernetes_crossplane_and_ours_are_reserved(name: str) -> None:
    assert tenancy.is_reserved(name)


@pytest.mark.parametrize("name", ["", "ml-team", "kubeflow", "default-2", "monitoring-of-team-a"])
def test_other_namespaces_are_not(name: str) -> None:
    assert not tenancy.is_reserved(name)


@pytest.mark.parametrize(
    ("setting", "more", "fewer"),
    [
        ("", set(), set()),
        (" , ", set(), set()),
        ("+team-infra", {"team-infra"}, set()),
        ("+team-infra,-monitoring", {"team-infra"}, {"monitoring"}),
        (" +infra-* , -default,", {"infra-*"}, {"default"}),
        ("-kube-*", set(), {"kube-*"}),
        ("+monitoring", set(), set()),
    ],
)
def test_operators_extend_and_shorten_the_list(setting: str, more: set[str], fewer: set[str]) -> None:
    got = set(tenancy.reserved(setting))

    built_in = set(tenancy.built_in())
    assert (got - built_in, built_in - got) == (more, fewer)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("monitoring", "it has 'monitoring'"),
        ("+", "it has '+'"),
        ("+Team", "it has '+Team'"),
        ("+a*b", "it has '+a*b'"),
        ("+*", "it has '+*'"),
        ("+a b", "it has '+a b'"),
        ("-team-infra", "removes team-infra, which is not reserved; reserved are: cert-manager,"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_accepted(setting: str, said: str) -> None:
    with pytest.raises(settings.Invalid) as refused:
        tenancy.reserved(setting)

    assert str(refused.value).startswith("MODELPLANE_RESERVED_NAMESPACES: ")
    assert said in str(refused.value)


@pytest.mark.slow
def test_a_wrong_setting_stops_the_server_before_it_serves() -> None:
    command = [sys.executable, "-m", "function", "serve", "--insecure", "--address=127.0.0.1:0"]
    wrong = os.environ | {settings.RESERVED_NAMESPACES_VARIABLE: "monitoring"}

    got = subprocess.run(command, env=wrong, capture_output=True, text=True, check=False, timeout=120)

    assert got.returncode == 1
    assert "Error: MODELPLANE_RESERVED_NAMESPACES: must be a list of +NAME or -NAME" in got.stderr
    assert "Traceback" not in got.stderr


def test_every_kind_says_who_writes_it_and_whether_it_runs_anything() -> None:
    """ModelServices run nothing, and must be able to take traffic away from what leaves a reserved namespace."""
    internal = {kind.kind for kind in KINDS if kind.audience is Audience.INTERNAL}
    running = {kind.kind for kind in KINDS if kind.runs_in_namespace}

    assert internal == {"ModelReplica", "ServingStack"} | {model.KIND for model in clouds.kinds()}
    assert running == {"ModelCache", "ModelDeployment", "ModelEndpoint", "ModelReplica"}
    assert {kind.scope for kind in KINDS if kind.audience is Audience.PLATFORM} == {"Cluster"}
    assert versions.MODELPLANE.partition("/")[0] in {kind.group for kind in KINDS}
