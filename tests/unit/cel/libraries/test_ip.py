"""Addresses and blocks of them are what Kubernetes takes them for (net/netip of Go 1.26)."""

import pytest

from tests.unit.cel.evaluating import fails, holds, outcome

SPELLED = {
    "1.2.3.4": "1.2.3.4",
    "::": "::",
    "2001:DB8::0:1": "2001:db8::1",
    "2001:db8:0:0:1:0:0:1": "2001:db8::1:0:0:1",
    "1:2:3:4:5:6:1.2.3.4": "1:2:3:4:5:6:102:304",
    "::1.2.3.4": "::102:304",
    "1:2:3:4:5:6:7::": "1:2:3:4:5:6:7:0",
}
NO_ADDRESSES = [
    *("", "1", "%", "01.2.3.4", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.٤"),
    *(":::", "::%", "1:", ":1", "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7"),
    *("fe80::1%eth0", "::ffff:1.2.3.4", "::ffff:102:304", "1:2:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3"),
    *("1.2.3.4%a", "1.2.3.4 "),
]  # fmt: skip
KINDS = ("isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast")
OF_KIND = {
    "isUnspecified": ["0.0.0.0", "::"],
    "isLoopback": ["127.0.0.1", "127.255.0.1", "::1"],
    "isLinkLocalMulticast": ["224.0.0.7", "ff02::1", "ff12::5"],
    "isLinkLocalUnicast": ["169.254.1.2", "fe80::1", "febf::1"],
    "isGlobalUnicast": ["10.0.0.1", "128.0.0.1", "fec0::1", "fd00::1", "::2"],
    None: ["255.255.255.255", "224.0.1.1", "239.0.0.1", "ff01::1", "ff05::2"],
}
BLOCKS = {
    "10.1.2.3/16": ["10.1.2.3", 16, "10.1.0.0/16"],
    "10.1.2.3/0": ["10.1.2.3", 0, "0.0.0.0/0"],
    "10.1.2.3/32": ["10.1.2.3", 32, "10.1.2.3/32"],
    "2001:DB8:FFFF::1/33": ["2001:db8:ffff::1", 33, "2001:db8:8000::/33"],
    "::/128": ["::", 128, "::/128"],
}
NO_BLOCKS = [
    *("", "/", "10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "::/129", "10.0.0.1/08", "10.0.0.1/+8", "10.0.0.1/-1"),
    *("10.0.0.1/8/9", "10.0.0.1/٣", "10.0.0.1/ 8", "10.0.0/8", "fe80::1%e/8", "::ffff:1.2.3.4/100"),
    *("10.0.0.1/99999999999", "10.0.0.1/999"),
]  # fmt: skip
INSIDE = [
    ("10.0.0.0/8", "10.255.0.1", True),
    ("10.0.0.0/8", "11.0.0.1", False),
    ("10.1.2.3/8", "10.255.0.1", True),
    ("0.0.0.0/0", "1.2.3.4", True),
    ("0.0.0.0/0", "::1", False),
    ("::/0", "1.2.3.4", False),
    ("2001:db8::/33", "2001:db8:8000::", False),
]
NESTED = [
    ("10.0.0.0/8", "10.1.0.0/16", True),
    ("10.0.0.0/8", "10.1.0.0/8", True),
    ("10.1.0.0/16", "10.0.0.0/8", False),
    ("10.0.0.0/9", "10.128.0.0/9", False),
    ("0.0.0.0/0", "1.2.3.4/0", True),
    ("0.0.0.0/0", "::/0", False),
]


@pytest.mark.parametrize(("text", "want"), SPELLED.items())
def test_an_address_has_one_spelling_that_is_canonical(text, want):
    assert holds("isIP({}) && string(ip({})) == {}", text, text, want)
    assert holds("ip.isCanonical({})", text) == (text == want)
    assert holds("ip({}) == ip({})", text, want)


def test_what_is_no_address_is_refused():
    got = [text for text in NO_ADDRESSES if holds("isIP({})", text)]
    assert got == []
    assert all(fails("ip({}).family() == 4", text) and fails("ip.isCanonical({})", text) for text in NO_ADDRESSES)


def test_an_address_is_of_one_kind_at_most():
    addresses = [address for of_kind in OF_KIND.values() for address in of_kind]
    got = {kind: [a for a in addresses if holds(f"ip({{}}).{kind}()", a)] for kind in KINDS}
    assert got == {kind: of_kind for kind, of_kind in OF_KIND.items() if kind}


def test_an_address_is_of_four_bytes_or_of_sixteen():
    assert holds("ip({}).family() == 4 && ip({}).family() == 6", "1.2.3.4", "::1")


@pytest.mark.parametrize(("text", "want"), BLOCKS.items())
def test_a_block_is_an_address_and_a_length(text, want):
    ip, length, masked = want
    assert holds(f"string(cidr({{}}).ip()) == {{}} && cidr({{}}).prefixLength() == {length}", text, ip, text)
    assert holds("string(cidr({})) == {}", text, f"{ip}/{length}")
    assert holds("string(cidr({}).masked()) == {} && cidr({}).masked() == cidr({})", text, masked, text, masked)


def test_what_is_no_block_is_refused():
    got = [text for text in NO_BLOCKS if holds("isCIDR({})", text)]
    assert got == []
    assert all(fails("cidr({}).prefixLength() >= 0", text) for text in NO_BLOCKS)


@pytest.mark.parametrize(("block", "address", "want"), INSIDE)
def test_a_block_contains_addresses_of_its_family(block, address, want):
    got = [holds(f"cidr({{}}).containsIP({what})", block, address) for what in ("{}", "ip({})", "dyn({})")]
    assert got == [want] * 3


@pytest.mark.parametrize(("block", "other", "want"), NESTED)
def test_a_block_contains_blocks_that_are_no_larger(block, other, want):
    got = [holds(f"cidr({{}}).containsCIDR({what})", block, other) for what in ("{}", "cidr({})", "dyn({})")]
    assert got == [want] * 3


def test_a_block_is_asked_for_what_is_an_address_or_a_block():
    assert fails("cidr({}).containsIP({})", "10.0.0.0/8", "10.0.0.0/8")
    assert fails("cidr({}).containsCIDR({})", "10.0.0.0/8", "10.0.0.1")


def test_addresses_are_equal_to_addresses_and_are_asked_about_nothing_else():
    """A text on the left is simply not equal."""
    assert holds("cidr({}) != cidr({})", "10.0.0.1/8", "10.0.0.0/8")
    assert fails("dyn(ip({})) == {}", "1.2.3.4", "1.2.3.4")
    assert holds("!({} == dyn(ip({})))", "1.2.3.4", "1.2.3.4")
    assert holds("dyn(ip({})) != {}", "1.2.3.4", "1.2.3.4")


def test_addresses_are_keys_by_what_they_are():
    assert holds("ip({}) in {ip({}): 1} && !(ip({}) in {ip({}): 1})", "::1", "0::1", "::1", "::2")


def test_types_of_addresses_have_names():
    assert holds("type(ip({})) == net.IP && type(cidr({})) == .net.CIDR && net.IP != net.CIDR", "::1", "::/0")


def test_an_address_in_an_optional_that_a_variable_holds_cannot_be_read():
    assert str(outcome("optional.of(ip({})).value() == ip({})", "::1", "::1")) == "match"
    assert fails("cel.bind(o, optional.of(ip({})), o.value() == ip({}))", "::1", "::1")
