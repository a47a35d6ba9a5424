"""A gateway is a folder and a line: a toy gateway is added to a copy of the tree, and nothing else is edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import trees

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = trees.SUPPORT / "toygateway/toy"
    return trees.extended(tmp_path_factory.mktemp("tree"), "function/gateways", folder)


@pytest.fixture(scope="module")
def told(tree: Path) -> dict[str, Any]:
    return trees.told(tree, "tests.support.toygateway.story")


def test_its_block_is_published(tree: Path) -> None:
    assert trees.generated(tree) == [
        "docs/reference/inferencegateway.md",
        "package/admission.yaml",
        "xrds/inferencegateways.yaml",
    ]
    reference = (tree / "docs/reference/inferencegateway.md").read_text()
    assert "| `toy.replicas` | integer" in reference
    assert "traefik is only for backend Traefik" in reference


def test_it_is_installed_in_its_own_version_and_nothing_of_traefik_is(told: dict[str, Any]) -> None:
    assert told["releases"] == [["toy", "0.1.0"]]
    assert told["values"] == {"replicas": 3, "https": False}
    assert told["controller"] == "example.org/toy"
    assert told["usages"] == [["Release", "Gateway"]]
    assert told["state"] == "Toy answers at 198.18.0.1 (unauthenticated)"


def test_the_version_of_traefiks_chart_is_refused_beside_it(told: dict[str, Any]) -> None:
    assert told["beside"] == ["traefik is only for backend Traefik"]


def test_its_limit_of_backends_is_the_one_that_counts_where_it_is_in_use(told: dict[str, Any]) -> None:
    """With more endpoints, a service gets a proxy, which tells their model names apart."""
    assert (told["with gateway"], told["without"]) == ([], ["model-names"])
    assert (told["routed"], told["default"]) == (2, "Traefik")


def test_no_tenant_may_run_anything_beside_it(told: dict[str, Any]) -> None:
    assert told["reserved"] is True
