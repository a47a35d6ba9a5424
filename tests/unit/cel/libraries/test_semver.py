"""Versions are parsed and ordered as Kubernetes does it (github.com/blang/semver v4)."""

import pytest

from function.cel.libraries import semver

RISING = ["1.2.3-1", "1.2.3-B", "1.2.3-a", "1.2.3-a.1", "1.2.3-rc.2", "1.2.3-rc.10", "1.2.3", "1.10.0", "550.54.15"]
REFUSED = ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3.4", "18446744073709551616.0.0"]
NORMAL = {"v1.2": "1.2.0", "1": "1.0.0", "00": "0.0.0", "01.02.03": "1.2.3", "v1.2.3-rc.1+b": "1.2.3-rc.1+b"}


def test_versions_are_in_one_order():
    assert sorted(set(RISING), key=semver.parse) == RISING


def test_build_metadata_does_not_count():
    assert semver.parse("1.2.3+a") == semver.parse("1.2.3+b")


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_strict_version_is_refused(text):
    with pytest.raises(ValueError, match=r"version|number|letters"):
        semver.parse(text)


@pytest.mark.parametrize(("text", "want"), NORMAL.items())
def test_a_version_may_be_made_regular_first(text, want):
    assert str(semver.parse(text, normalize=True)) == want


@pytest.mark.parametrize("text", ["1.2-rc1", "V1.2.3", "vv1.2.3", "", "v", " 1.2.3"])
def test_not_everything_can_be_made_regular(text):
    with pytest.raises(ValueError, match=r"version|number|short|letters"):
        semver.parse(text, normalize=True)
