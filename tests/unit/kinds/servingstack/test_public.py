"""When the gateway of a cluster is called public."""

from __future__ import annotations

from typing import Any

import pytest

from function.api.servingstack import Stack, is_public

OPEN: dict[str, tuple[str, ...]] = {
    "nothing is said": (),
    "all of IPv4": ("0.0.0.0/0",),
    "all of IPv6": ("::/0",),
    "all of it, and more": ("10.0.0.0/8", "0.0.0.0/0"),
    "two halves": ("0.0.0.0/1", "128.0.0.0/1"),
    "quarters in any order": ("192.0.0.0/2", "0.0.0.0/2", "128.0.0.0/2", "64.0.0.0/2"),
    "all but multicast": ("0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/3"),
    "all of IPv6 that is given out": ("2000::/3",),
    "the same in halves": ("2000::/4", "3000::/4"),
    "one family of two": ("2001:db8::/32", "0.0.0.0/0"),
}
NARROW: dict[str, tuple[str, ...]] = {
    "one network": ("198.51.100.0/24",),
    "one half": ("128.0.0.0/1",),
    "private networks": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "all but one": ("0.0.0.0/1", "192.0.0.0/2", "128.0.0.0/3"),
    "half of IPv6": ("2000::/4",),
}


def stack(*sources: str, **more: Any) -> Stack:
    return Stack.model_validate({"gateway": {"allowedSources": list(sources), **more}})


@pytest.mark.parametrize("sources", OPEN.values(), ids=OPEN)
def test_networks_that_let_everybody_in_are_public(sources: tuple[str, ...]) -> None:
    assert is_public(stack(*sources))


@pytest.mark.parametrize("sources", NARROW.values(), ids=NARROW)
def test_networks_that_keep_somebody_out_are_not(sources: tuple[str, ...]) -> None:
    assert not is_public(stack(*sources))


def test_what_stays_inside_is_not_public_whoever_may_reach_it() -> None:
    assert not is_public(stack("0.0.0.0/0", internal=True))
