"""Plans of networks."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.contracts.cloud.addresses import network, overlaps, part, prefix_for

bases = st.builds(
    lambda prefix, bits: IPv4Network((bits << (32 - prefix) if prefix else 0, prefix)),
    prefix := st.shared(st.integers(0, 30), key="prefix"),
    prefix.flatmap(lambda length: st.integers(0, 2**length - 1)),
)


@given(base=bases, data=st.data())
def test_parts_of_one_length_divide_the_base(base: IPv4Network, data: st.DataObject) -> None:
    prefix = data.draw(st.integers(base.prefixlen, min(32, base.prefixlen + 8)))
    parts = [part(base, prefix, index) for index in range(2 ** (prefix - base.prefixlen))]

    assert parts == list(base.subnets(new_prefix=prefix))
    assert list(overlaps({str(index): each for index, each in enumerate(parts[:40])})) == []


@pytest.mark.parametrize(("prefix", "index"), [(15, 0), (33, 0), (24, 256), (24, -1), (16, 1)])
def test_a_part_that_is_not_there_is_no_part(prefix: int, index: int) -> None:
    with pytest.raises(ValueError, match=rf"10\.0\.0\.0/16 has no part {index} of prefix length {prefix}"):
        part(IPv4Network("10.0.0.0/16"), prefix, index)


@given(addresses=st.integers(1, 2**32))
def test_a_prefix_has_room_and_none_to_spare(addresses: int) -> None:
    prefix = prefix_for(addresses)

    assert 2 ** (32 - prefix) >= addresses
    assert prefix == 32 or 2 ** (31 - prefix) < addresses


def test_each_pair_that_overlaps_is_told_once_in_order() -> None:
    texts = {"pods": "10.0.0.0/8", "nodes": "10.1.0.0/16", "services": "192.168.0.0/16", "all": "0.0.0.0/0"}
    found = list(overlaps({name: network(text) for name, text in texts.items()}))

    assert found == [("pods", "nodes"), ("pods", "all"), ("nodes", "all"), ("services", "all")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.1/16", "has host bits set"),
        ("fd00::/8", "Expected 4 octets"),
        ("x", "Expected 4 octets"),
        ("10.0.0.0/33", "'33' is not a valid netmask"),
    ],
)
def test_what_is_no_network_is_told(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        network(text)
