"""Selectors may ask for an authorization, as far as Kubernetes' compiler goes: no value here can be asked."""

import pytest

from function import cel
from tests.unit.cel.evaluating import fails

DEVICE = cel.Device("gpu.nvidia.com")
COSTS = {
    'dyn(1).path("x") == dyn(1)': (4, 2),
    'dyn(1).path("x").check("a").allowed()': (350_003, 350_002),
    'dyn(1).fieldSelector("a=b") == dyn(1)': (114, 112),
    'null.path("x") == null': (2, 2),
}
"""At most, and paid: what the library of Kubernetes 1.36 says."""


@pytest.mark.parametrize(("text", "want"), COSTS.items())
def test_what_asks_for_an_authorization_fails_at_its_price(text, want):
    assert fails(text)
    assert (cel.compiled(text).cost, cel.actual_cost(text, DEVICE)) == want


def test_a_text_cannot_be_asked():
    with pytest.raises(cel.InvalidSelector, match="a method of an authorizer, not of a string"):
        cel.compiled('device.driver.path("/healthz").check("get").allowed()')
