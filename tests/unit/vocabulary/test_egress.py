"""What the platform team's lists mean, by name and by address."""

from __future__ import annotations

import ipaddress
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.vocabulary import egress, hosts
from function.vocabulary.egress import Policy
from function.vocabulary.hosts import Address

LISTS = Policy(
    allow=("10.1.0.0/16", "*.ml-shared.svc", "fd00:1::/32", "models.corp.example.com"),
    deny=("10.0.0.0/8", "192.0.2.7", "fd00::/8", "*.corp.example.com", "vllm.ml-team.svc"),
)


@pytest.mark.parametrize(
    ("host", "entry"),
    [
        ("10.2.3.4", "10.0.0.0/8"),
        ("64:ff9b::a02:304", "10.0.0.0/8"),
        ("2002:a02:304::1", "10.0.0.0/8"),
        ("192.0.2.7", "192.0.2.7"),
        ("fd00:2::1", "fd00::/8"),
        ("git.corp.example.com", "*.corp.example.com"),
        ("a.b.corp.example.com", "*.corp.example.com"),
        ("vllm", "vllm.ml-team.svc"),
        ("vllm.ml-team.svc", "vllm.ml-team.svc"),
        ("vllm.ml-team.svc.cluster.local", "vllm.ml-team.svc"),
    ],
)
def test_what_is_denied_names_the_entry(host: str, entry: str) -> None:
    denial = LISTS.denial(host, "ml-team")
    assert denial is not None
    assert denial.why == f"spec.egress.deny of the InferenceGateway has {entry}"


@pytest.mark.parametrize(
    "host",
    [
        "10.1.2.3",
        "64:ff9b::a01:203",
        "fd00:1::1",
        "192.0.2.8",
        "models.corp.example.com",
        "corp.example.com",
        "notcorp.example.com",
        "git.corp.example.com.example.org",
        "other",
        "other.ml-team.svc",
        "any.ml-shared.svc",
        "any.ml-shared.svc.cluster.local",
    ],
)
def test_what_is_not_denied_or_is_an_exception_passes(host: str) -> None:
    assert LISTS.denial(host, "ml-team") is None


def test_services_of_other_namespaces_are_denied_without_any_list() -> None:
    denial = Policy().denial("vllm.other.svc.cluster.local", "ml-team")
    assert denial is not None
    assert denial.why == "it is in namespace other of the control cluster"
    assert Policy(allow=("*.svc",)).denial("vllm.other.svc.cluster.local", "ml-team") is None


def test_every_name_can_be_denied_but_some() -> None:
    lists = Policy(allow=("*.openai.azure.com",), deny=("*",))
    assert lists.denial("contoso.openai.azure.com", "ml-team") is None
    assert lists.denial("api.example.com", "ml-team") is not None
    assert lists.denial("192.0.2.1", "ml-team") is None


@pytest.mark.parametrize(
    "entry",
    [
        "127.0.0.0/8",
        "127.1.0.0/16",
        "169.254.169.254",
        "::1",
        "fe80::/64",
        "64:ff9b::7f00:1",
        "localhost",
        "*.localhost",
        "metadata.google.internal",
        "kubernetes.default.svc",
        "100.100.100.200",
        "fd00:ec2::254",
    ],
)
def test_what_nobody_may_ask_can_never_be_allowed(entry: str) -> None:
    assert egress.never(entry)


@pytest.mark.parametrize(
    "entry", ["10.0.0.0/8", "0.0.0.0/0", "100.64.0.0/10", "*.svc", "*", "api.example.com", "fd00::/8"]
)
def test_an_entry_with_something_else_in_it_can(entry: str) -> None:
    """The rest of it stays denied all the same."""
    assert egress.never(entry) is None


def test_an_exception_for_everything_opens_nothing_that_nobody_may_ask() -> None:
    lists = Policy(allow=("0.0.0.0/0", "::/0", "*"), deny=("10.0.0.0/8",))
    for is_vouched in (False, True):
        for address in ("127.0.0.1", "169.254.169.254", "::1", "64:ff9b::a9fe:a9fe", "::ffff:127.0.0.1", "fe80::1"):
            assert denied(lists, ipaddress.ip_address(address), is_vouched=is_vouched), address


def test_a_name_that_is_allowed_may_have_denied_addresses() -> None:
    address = ipaddress.ip_address("10.2.3.4")
    assert (denied(LISTS, address), denied(LISTS, address, is_vouched=True)) == (True, False)
    assert LISTS.vouches("models.corp.example.com", "ml-team")
    assert not LISTS.vouches("git.corp.example.com", "ml-team")


# Addresses, one by one


def denied(lists: Policy, address: Address, *, is_vouched: bool = False) -> bool:
    return any(rule.has(address) for rule in lists.rules(is_vouched=is_vouched))


@st.composite
def networks(draw: st.DrawFn) -> str:
    """Networks that meet each other often: all within 10.0.0.0/8 or fd00::/16."""
    length = draw(st.integers(8, 32))
    number = 10 << 24 | draw(st.integers(0, 2**24 - 1))
    if draw(st.booleans()):
        return str(ipaddress.ip_network((number, length), strict=False))
    return str(ipaddress.ip_network((0xFD00 << 112 | (number & 0xFFFFFF) << 88, length + 8), strict=False))


LISTED = st.lists(networks(), max_size=6).map(tuple)


@given(LISTED, LISTED, st.integers(0, 2**32))
def test_the_rules_of_a_proxy_decide_as_the_lists_do(allow: tuple[str, ...], deny: tuple[str, ...], seed: int) -> None:
    """At the ends of every network, beside them, and at random: as themselves, and behind a NAT64."""
    lists = Policy(allow, deny)
    for address in tried((*allow, *deny), random.Random(seed)):
        want = hosts.fault(str(address)) is not None or lists.denial(str(address), "ml-team") is not None
        forms = [address, *([translated(address)] if isinstance(address, ipaddress.IPv4Address) else [])]
        assert {form: denied(lists, form) for form in forms} == dict.fromkeys(forms, want)


def tried(listed: tuple[str, ...], chosen: random.Random) -> list[Address]:
    found = [ipaddress.ip_network(network) for network in listed]
    ends = [address + step for one in found for address in (one[0], one[-1]) for step in (-1, 0, 1)]
    return [*ends, *(one[chosen.randrange(min(one.num_addresses, 2**62))] for one in found)]


def translated(address: ipaddress.IPv4Address) -> ipaddress.IPv6Address:
    return ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) | int(address))


@given(st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address))
def test_what_nobody_may_ask_is_denied_in_every_form_that_a_prefix_can_tell(address: ipaddress.IPv4Address) -> None:
    if hosts.fault(str(address)):
        number = int(address)
        mapped = ipaddress.IPv6Address(0xFFFF << 32 | number)
        six_to_four = ipaddress.IPv6Address(0x2002 << 112 | number << 80)
        forms = [address, translated(address), mapped, six_to_four]
        assert {form: denied(Policy(), form) for form in forms} == dict.fromkeys(forms, True)
