"""Kubernetes versions as clouds write them."""

from __future__ import annotations

import re

import pytest

from function.contracts.cloud.kubernetes import minor, version_faults

LEGAL = re.compile(r"v?[0-9]+\.[0-9]+(\.[0-9]+)?")


def test_the_minor_version_of_any_form() -> None:
    forms = ("1.36", "v1.36", "1.36.4-gke.10", "v1.36.1+3", "1")

    assert [minor(form) for form in forms] == [36, 36, 36, 36, 0]


@pytest.mark.parametrize("given", [None, "1.34", "v1.34.0", "1.100", "2.0"])
def test_a_version_that_has_dra_is_taken(given: str | None) -> None:
    assert list(version_faults(given, LEGAL, "1.36")) == []


@pytest.mark.parametrize("given", ["1.33", "v1.33.9", "1.9.34", "0.40"])
def test_an_older_one_is_refused(given: str) -> None:
    problem = f"must be 1.34 or newer, not {given}: devices are claimed by resource.k8s.io/v1"
    assert list(version_faults(given, LEGAL, "1.36")) == [("kubernetesVersion", problem)]


def test_what_the_cloud_does_not_take_is_refused_with_an_example() -> None:
    problem = "must be a version such as 1.36, not 1.30-gke.1"
    assert list(version_faults("1.30-gke.1", LEGAL, "1.36")) == [("kubernetesVersion", problem)]
