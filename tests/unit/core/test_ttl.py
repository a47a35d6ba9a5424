"""How soon to ask again."""

import pytest

from function.core import Request
from function.core.ttl import LONGEST, SETTLED, WAITING, ttl


@pytest.mark.parametrize(
    ("read", "waiting", "want"),
    [
        (0, True, WAITING),
        (5000, True, WAITING),
        (0, False, SETTLED),
        (100, False, SETTLED),
        (500, False, 300),
        (9000, False, LONGEST),
    ],
)
def test_it_grows_with_what_is_read(read, waiting, want):
    request = Request(xr={}, required={"half": ({},) * (read // 2), "other": ({},) * (read - read // 2)})
    assert ttl(request, waiting=waiting) == want
