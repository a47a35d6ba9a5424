"""Amounts are parsed, ordered, added and spelled as Kubernetes does it (k8s.io/apimachinery v0.36)."""

import pytest

from function.cel.libraries import quantity

SAME = [
    ("1024Mi", "1Gi"), ("1e3", "1k"), ("0.1", "100m"), ("1.5Gi", "1536Mi"), ("1E", "1e18"), ("-0", "0"),
    ("0.1n", "1n"), ("-0.1n", "-1n"), ("1.1n", "2n"), ("8Ei", "10Ei"), ("10Ei", "100Ei"), ("5.", "5"), ("+1", "1"),
]  # fmt: skip
RISING = ["-1", "0", "1n", "500m", "1", "80G", "80Gi", "7Ei", "8Ei", "256E", "1e30", "1e31"]
REFUSED = ["", " 5Gi", "200K", "1,3G", "1Zi", "1e", "1.2.3", "NaN", "٣", "80GB", "1_0", "0x1", "Ei"]
SPELLED = {"80Gi": "80Gi", "1536Mi": "1536Mi", "2048": "2048", "0.5": "500m", "1e3": "1k", "1.5Gi": "1536Mi", "0": "0"}


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_amount_has_many_spellings(one, other):
    assert quantity.parse(one) == quantity.parse(other)
    assert hash(quantity.parse(one)) == hash(quantity.parse(other))


def test_amounts_are_in_one_order():
    got = sorted(set(RISING), key=quantity.parse)
    assert [text for text in got if text != "8Ei"] == [text for text in RISING if text != "8Ei"]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(ValueError, match="quantity"):
        quantity.parse(text)


@pytest.mark.parametrize(("text", "want"), SPELLED.items())
def test_an_amount_is_spelled_as_kubernetes_prints_it(text, want):
    assert str(quantity.parse(text)) == want


def test_only_a_form_without_fraction_is_an_integer():
    got = {text: quantity.parse(text).integer for text in ("7", "1e18", "80Gi", "500m", "1000m", "1.0", "1.5Gi")}
    assert got == {"7": 7, "1e18": 10**18, "80Gi": 80 * 2**30, "500m": None, "1000m": None, "1.0": None, "1.5Gi": None}


def test_an_absurd_exponent_takes_no_time():
    assert quantity.parse("1e999999999") > quantity.parse("1e999999998") > quantity.parse("9e-999999999")
